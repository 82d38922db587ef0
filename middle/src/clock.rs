//! Conversion of ticks of the recording clock to nanoseconds.

/// Converts ticks (48 bits) of a clock of a known frequency.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Clock {
    Nanoseconds,
    /// Nanoseconds per tick times 2^64, for clocks faster than 1 GHz.
    Fast(u64),
    Slow(u64),
}

const GIGA: u64 = 1_000_000_000;

impl Clock {
    /// A clock of `hz` ticks per second; 0 means that ticks are nanoseconds.
    pub(crate) fn new(hz: u64) -> Self {
        match hz {
            0 | GIGA => Clock::Nanoseconds,
            1..GIGA => Clock::Slow(hz),
            _ => {
                let scaled = (u128::from(GIGA) << 64) / u128::from(hz);
                Clock::Fast(u64::try_from(scaled).unwrap_or(u64::MAX))
            }
        }
    }

    /// Nanoseconds since the start of the run, rounded down; never decreasing in `ticks`.
    pub(crate) fn ns(self, ticks: u64) -> u64 {
        match self {
            Clock::Nanoseconds => ticks,
            Clock::Fast(scale) => {
                u64::try_from((u128::from(ticks) * u128::from(scale)) >> 64).unwrap_or(u64::MAX)
            }
            Clock::Slow(hz) => u64::try_from(u128::from(ticks) * u128::from(GIGA) / u128::from(hz))
                .unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds_within_one() {
        for hz in [100_000, 10_000_000, 999_999_999, GIGA, 2_000_000_000, 2_893_211_000, 5 * GIGA] {
            let clock = Clock::new(hz);
            for ticks in [0, 1, 2, 1000, 123_456_789, 1 << 40, (1 << 48) - 1] {
                let exact = u128::from(ticks) * u128::from(GIGA) / u128::from(hz);
                let got = u128::from(clock.ns(ticks));
                assert!(got <= exact && got + 1 >= exact, "{ticks} at {hz}: {got}, {exact}");
            }
        }
        assert_eq!(Clock::new(0).ns(17), 17);
        assert_eq!(Clock::new(2 * GIGA).ns(2000), 1000);
    }
}

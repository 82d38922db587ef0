//! Numbers for people: thousands separators, binary units, fitting units of time.

/// `1234567` as `1,234,567`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 wait`, `3,808 waits`, `2 accesses`.
#[must_use]
pub fn plural(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", count(number))
}

/// Nanoseconds with three significant digits: `17 ns`, `4.20 us`, `1.34 s`.
#[must_use]
pub fn time(ns: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = ns as f64;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", three_digits(value / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", three_digits(value / 1e6)),
        _ => format!("{} s", three_digits(value / 1e9)),
    }
}

/// The whole number that a float is shown as; 0 for negative numbers and NaN.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and NaN becomes 0")]
pub fn whole(value: f64) -> u64 {
    value as u64
}

/// Bytes with a binary unit: `96 B`, `3.50 KiB`, `2.00 GiB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    let (unit, shift) = match number {
        0..0x400 => return format!("{number} B"),
        0x400..0x10_0000 => ("KiB", 10),
        0x10_0000..0x4000_0000 => ("MiB", 20),
        0x4000_0000..0x100_0000_0000 => ("GiB", 30),
        _ => ("TiB", 40),
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = number as f64 / (1u64 << shift) as f64;
    format!("{} {unit}", three_digits(value))
}

/// A share of one in percent: `24%`, `3.1%`, `0.02%`.
#[must_use]
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0%".to_owned(),
        p if p < 0.01 => "<0.01%".to_owned(),
        p if p < 1.0 => format!("{p:.2}%"),
        p if p < 10.0 => format!("{p:.1}%"),
        p => format!("{p:.0}%"),
    }
}

fn three_digits(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$}")
}

/// Part of a whole; 0 if the whole is 0.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people needs no more than 53 bits")]
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 12_345_678].map(count), ["0", "999", "1,000", "12,345,678"]);
    }

    #[test]
    fn times_and_bytes_use_a_fitting_unit() {
        assert_eq!(
            [17, 4_200, 33_000_000, 1_340_000_000].map(time),
            ["17 ns", "4.20 us", "33.0 ms", "1.34 s"]
        );
        assert_eq!([96, 3584, 2 << 30].map(bytes), ["96 B", "3.50 KiB", "2.00 GiB"]);
    }

    #[test]
    fn shares_keep_small_values_visible() {
        assert_eq!(
            [0.0, 0.00001, 0.0031, 0.031, 0.24, 1.0].map(share),
            ["0%", "<0.01%", "0.31%", "3.1%", "24%", "100%"]
        );
    }

    #[test]
    fn a_ratio_to_nothing_is_zero() {
        assert_eq!((ratio(3, 0), ratio(3, 4)), (0.0, 0.75));
    }
}

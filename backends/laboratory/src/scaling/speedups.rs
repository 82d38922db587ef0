//! Factored speedups (work inflation, section 2.3) from T_s, T_1, T_P and I_P.

use serde::Serialize;

use super::ratio::over;

/// The curves of a factored speedup plot at one number of processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Speedups {
    /// P.
    pub linear: f64,
    /// P T_s / T_elision, which is above the maximal one by the cost of scheduling on one processor
    /// (section 2.8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elision: Option<f64>,
    /// P T_s / T_1: no idle time, no inflation.
    pub maximal: f64,
    /// P T_s / (T_1 + I_P): no inflation.
    pub idle: f64,
    /// P T_s / (P T_P - I_P): no idle time.
    pub inflation: f64,
    /// T_s / T_P.
    pub actual: f64,
}

impl Speedups {
    /// The speedups from times in one unit.
    #[must_use]
    pub fn of(p: f64, t_s: f64, t_1: f64, t_p: f64, i_p: f64, elision: Option<f64>) -> Self {
        Self {
            linear: p,
            elision: elision.map(|t| over(p * t_s, t)),
            maximal: over(p * t_s, t_1),
            idle: over(p * t_s, t_1 + i_p),
            inflation: over(p * t_s, p * t_p - i_p),
            actual: over(t_s, t_p),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_curve_leaves_out_what_it_is_named_for() {
        // Two processors for 8 units: 16 = 10 of work on one, 4 idle, 2 of inflation; the baseline
        // takes 9.
        let speedups = Speedups::of(2.0, 9.0, 10.0, 8.0, 4.0, None);
        assert_eq!(speedups.maximal, 18.0 / 10.0);
        assert_eq!(speedups.idle, 18.0 / 14.0);
        assert_eq!(speedups.inflation, 18.0 / 12.0);
        assert_eq!(speedups.actual, 9.0 / 8.0);
    }

    proptest! {
        /// Fact 2.5: T_s / T_P = P T_s / (T_1 + I_P + F_P); and the order of the curves when
        /// nothing is negative.
        #[test]
        fn the_facts_of_section_2_hold(
            p in 1u32..64, t_s in 1.0f64..100.0, overhead in 0.0f64..50.0, idle in 0.0f64..50.0, inflation in 0.0f64..50.0,
        ) {
            let (p, t_1) = (f64::from(p), t_s + overhead);
            let t_p = (t_1 + idle + inflation) / p;
            let s = Speedups::of(p, t_s, t_1, t_p, idle, None);
            let f_p = p * t_p - idle - t_1;
            prop_assert!((s.actual - p * t_s / (t_1 + idle + f_p)).abs() < 1e-9);
            prop_assert!(s.linear + 1e-9 >= s.maximal && s.maximal + 1e-9 >= s.idle && s.idle + 1e-9 >= s.actual);
            prop_assert!(s.maximal + 1e-9 >= s.inflation && s.inflation + 1e-9 >= s.actual);
        }
    }
}

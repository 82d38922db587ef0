//! Partition refinement (deconstructing overhead, section VII): the size of the parts of a loop
//! that what a run lost by scheduling and by imbalance asks for.

/// The largest load imbalance that P workers can have, as a fraction of P T: one works and the
/// others wait.
fn largest_imbalance(workers: u32) -> f64 {
    1.0 - 1.0 / f64::from(workers.max(1))
}

/// The factor by which the size of partitions is to be multiplied (equation 9):
/// (P^2 scheduling + P - 1) / (P^2 imbalance + P - 1), where both are fractions of P T.
///
/// Fractions are clamped to 0 and 1, and imbalance to its maximum, so that the ratio is between 1 /
/// (P + 1) and 1 + P^2 / (P - 1). With one worker the equation is not defined, and the ratio is 1.
pub(super) fn ratio(workers: u32, scheduling: f64, imbalance: f64) -> f64 {
    if workers < 2 {
        return 1.0;
    }
    let p = f64::from(workers);
    let scheduling = fraction(scheduling, 1.0);
    let imbalance = fraction(imbalance, largest_imbalance(workers));
    (p * p * scheduling + p - 1.0) / (p * p * imbalance + p - 1.0)
}

/// A measured fraction, which may be NaN, clamped to 0 and `most`.
fn fraction(value: f64, most: f64) -> f64 {
    if value > 0.0 { value.min(most) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn the_most_imbalance_divides_by_p_plus_one() {
        for workers in [2, 3, 24] {
            let p = f64::from(workers);
            let worst = ratio(workers, 0.0, largest_imbalance(workers));
            assert!(near(worst, 1.0 / (p + 1.0)), "{workers}: {worst}");
        }
    }

    #[test]
    fn it_is_the_papers_equation_8() {
        let (p, s, l) = (6.0, 0.12, 0.3);
        let most = 1.0 - 1.0 / p;
        let eight = (1.0 + p * s / most) / (1.0 + p * l / most);
        assert!(near(ratio(6, s, l), eight));
    }

    #[test]
    fn one_worker_and_what_is_no_number_are_harmless() {
        assert!(near(ratio(1, 0.9, 0.0), 1.0));
        assert!(near(ratio(0, 0.9, 0.9), 1.0));
        assert!(near(ratio(4, f64::NAN, -3.0), 1.0));
        assert!(near(ratio(2, f64::INFINITY, 9.0), 5.0 / 3.0));
    }
}

//! Minimum, median and geometric mean.

/// The smallest value; infinity if there is none.
pub(crate) fn minimum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The middle one of the sorted values; NaN if there is none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Largest minus smallest value over the median; NaN if there is none.
pub(crate) fn spread(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most - minimum(values)) / median(values)
}

/// The geometric mean; NaN if there are no values.
pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    let (sum, count) = values.iter().fold((0.0, 0.0), |(s, n), v| (s + v.ln(), n + 1.0));
    (sum / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_of_a_small_sample() {
        let sample = [4.0, 1.0, 2.0];
        assert!((minimum(&sample) - 1.0).abs() < 1e-12);
        assert!((median(&sample) - 2.0).abs() < 1e-12);
        assert!((median(&[1.0, 2.0, 3.0, 10.0]) - 2.5).abs() < 1e-12);
        assert!((spread(&sample) - 1.5).abs() < 1e-12);
        assert!((geometric_mean(&sample) - 2.0).abs() < 1e-12);
        assert!(geometric_mean(&[]).is_nan());
    }
}

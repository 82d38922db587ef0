//! How many tasks run at once in a schedule that starts every strand as soon as those before it
//! have finished, with enough processors, where waiting takes no time.

use super::timeline::bins;
use crate::critpath::Strands;

/// The most stretches that the schedule is divided into.
const BUCKETS: u64 = 2048;

/// The schedule over time: `(start, average tasks at once)` for stretches of equal length.
pub(super) fn curve(strands: &Strands) -> Vec<(u64, f64)> {
    points(strands.schedule(), strands.span_ns())
}

/// The average number of intervals that overlap, for each stretch of the span that they are in. The
/// length of a stretch is a power of two.
fn points(intervals: impl Iterator<Item = (u64, u64)>, span: u64) -> Vec<(u64, f64)> {
    let width = span.div_ceil(BUCKETS).max(1).next_power_of_two();
    let mut buckets = vec![0; usize::try_from(span.div_ceil(width)).unwrap_or(0)];
    for (bucket, ns) in intervals.flat_map(|(from, to)| bins(from..to, width)) {
        buckets[bucket] += ns;
    }
    let point = |(at, sum): (u64, u64)| {
        let start = at * width;
        (start, crate::view::units::ratio(sum, width.min(span - start)))
    };
    (0..).zip(buckets).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_in_any_order_add_up_at_every_width() {
        let span = 10_000;
        let points = points([(5000, span), (0, 8192), (0, 5000)].into_iter(), span);
        assert_eq!(points.len(), 1250);
        assert_eq!(points[0], (0, 2.0));
        assert_eq!(points[1249], (9992, 1.0));
        let area: f64 = points.iter().map(|(_, average)| average * 8.0).sum();
        assert!((area - 18_192.0).abs() < 1e-6, "{area}");
    }
}

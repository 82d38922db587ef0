//! How many tasks run at once in a schedule that starts every strand as soon as those before it
//! have finished, with enough processors, where waiting takes no time.

use crate::critpath::Strands;

/// Number of stretches of the schedule that are kept.
const BUCKETS: usize = 2048;

/// The schedule over time: `(start, average tasks at once)` for stretches of equal length.
pub(super) fn curve(strands: &Strands) -> Vec<(u64, f64)> {
    let mut curve = Curve::default();
    strands.schedule().for_each(|(from, to)| curve.add(from, to));
    curve.points(strands.span_ns())
}

/// Integral of overlapping intervals for each bucket. The buckets double in width as time grows, so
/// intervals may come in any order and the span need not be known.
#[derive(Debug)]
struct Curve {
    shift: u32,
    buckets: Vec<u64>,
}

impl Default for Curve {
    fn default() -> Self {
        Self { shift: 0, buckets: vec![0; BUCKETS] }
    }
}

impl Curve {
    fn add(&mut self, from: u64, to: u64) {
        while to > (BUCKETS as u64) << self.shift {
            self.double();
        }
        let mut at = from;
        while at < to {
            let bucket = at >> self.shift;
            let stop = ((bucket + 1) << self.shift).min(to);
            self.buckets[usize::try_from(bucket).expect("below BUCKETS")] += stop - at;
            at = stop;
        }
    }

    fn double(&mut self) {
        for at in 0..BUCKETS {
            let pair = self.buckets.get(at * 2..at * 2 + 2).map_or(0, |pair| pair.iter().sum());
            self.buckets[at] = pair;
        }
        self.shift += 1;
    }

    fn points(&self, span: u64) -> Vec<(u64, f64)> {
        let width = 1u64 << self.shift;
        let used = usize::try_from(span.div_ceil(width)).unwrap_or(BUCKETS).min(BUCKETS);
        let point = |(at, &sum): (usize, &u64)| {
            let start = (at as u64) << self.shift;
            (start, crate::view::units::ratio(sum, width.min(span - start)))
        };
        self.buckets[..used].iter().enumerate().map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_in_any_order_add_up_at_every_width() {
        let mut curve = Curve::default();
        let span = 10_000;
        curve.add(5000, span);
        curve.add(0, 8192);
        curve.add(0, 5000);
        let points = curve.points(span);
        assert_eq!(points.len(), 1250);
        assert_eq!(points[0], (0, 2.0));
        assert_eq!(points[1249], (9992, 1.0));
        let area: f64 = points.iter().map(|(_, average)| average * 8.0).sum();
        assert!((area - 18_192.0).abs() < 1e-6, "{area}");
    }
}

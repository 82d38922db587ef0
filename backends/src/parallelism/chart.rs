//! The parallelism of a run as a picture of characters.

use super::timeline::Bucket;
use crate::view::units;

/// Characters across.
const WIDTH: usize = 72;
/// Most lines up.
const HEIGHT: usize = 8;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Lines of a bar chart of average running contexts over time, with both axes; empty when there is nothing to draw.
#[must_use]
pub(super) fn lines(buckets: &[Bucket]) -> Vec<String> {
    let bars = bars(buckets);
    let (Some(last), Some(peak)) = (
        buckets.last(),
        buckets.iter().map(|bucket| bucket.max).max(),
    ) else {
        return Vec::new();
    };
    let top = peak.max(1);
    let height = usize::try_from(top).map_or(HEIGHT, |top| top.min(HEIGHT));
    let margin = top.to_string().len();
    #[expect(clippy::cast_precision_loss, reason = "a few lines")]
    let unit = f64::from(top) / height as f64;
    let mut lines: Vec<String> = (0..height)
        .rev()
        .map(|line| {
            #[expect(clippy::cast_precision_loss, reason = "a few lines")]
            let (floor, label) = (line as f64 * unit, (line + 1) as f64 * unit);
            let row: String = bars
                .iter()
                .map(|&bar| block((bar - floor) / unit))
                .collect();
            format!("{label:>margin$.0} ┤{row}").trim_end().to_owned()
        })
        .collect();
    lines.push(format!("{:>margin$} └{}", 0, "─".repeat(bars.len())));
    let end = units::time(last.t_ns + last.length_ns);
    lines.push(format!(
        "{:margin$}  0{:>width$}",
        "",
        end,
        width = bars.len().saturating_sub(1)
    ));
    lines
}

fn block(share: f64) -> char {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 0..=8"
    )]
    let eighths = (share.clamp(0.0, 1.0) * 8.0).round() as usize;
    EIGHTHS[eighths]
}

/// The average of each of at most [`WIDTH`] equal parts of the buckets.
fn bars(buckets: &[Bucket]) -> Vec<f64> {
    let part = |at: usize| {
        let wide = WIDTH.min(buckets.len());
        let range = at * buckets.len() / wide..(at + 1) * buckets.len() / wide;
        let (running, length) = buckets[range]
            .iter()
            .fold((0, 0), |(r, l), b| (r + b.running_ns, l + b.length_ns));
        units::ratio(running, length)
    };
    (0..WIDTH.min(buckets.len())).map(part).collect()
}

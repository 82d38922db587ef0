//! The parallelism of a run as a picture of characters.

use super::timeline::Bucket;
use crate::view::units;

/// The largest number of lines.
const HEIGHT: usize = 8;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Lines of a bar chart of average running contexts over time, `columns` characters across, with
/// both axes; empty if there is nothing to draw.
pub(super) fn lines(stretches: &[Bucket], columns: usize) -> Vec<String> {
    let bars = bars(stretches, columns as u128);
    let (Some(last), Some(peak)) =
        (stretches.last(), stretches.iter().map(|stretch| stretch.max).max())
    else {
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
            let row: String = bars.iter().map(|&bar| block((bar - floor) / unit)).collect();
            format!("{label:>margin$.0} ┤{row}").trim_end().to_owned()
        })
        .collect();
    lines.push(format!("{:>margin$} └{}", 0, "─".repeat(bars.len())));
    let end = units::time(last.t_ns + last.length_ns);
    lines.push(format!("{:margin$}  0{:>width$}", "", end, width = bars.len().saturating_sub(1)));
    lines
}

fn block(share: f64) -> char {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=8")]
    let eighths = (share.clamp(0.0, 1.0) * 8.0).round() as usize;
    EIGHTHS[eighths]
}

/// The average over each of so many equal parts of the run; stretches count by their overlap.
fn bars(stretches: &[Bucket], columns: u128) -> Vec<f64> {
    let end = stretches.last().map_or(0, |last| last.t_ns + last.length_ns);
    let mut at = 0;
    let mut bar = |column: u128| {
        let cut = |column: u128| u64::try_from(column * u128::from(end) / columns).unwrap_or(end);
        let (from, to) = (cut(column), cut(column + 1));
        let mut sum = 0.0;
        while let Some(stretch) = stretches.get(at).filter(|stretch| stretch.t_ns < to) {
            let stop = stretch.t_ns + stretch.length_ns;
            sum +=
                stretch.average() * units::ratio(stop.min(to) - stretch.t_ns.max(from), to - from);
            if stop > to {
                break;
            }
            at += 1;
        }
        sum
    };
    (0..columns).map(&mut bar).collect()
}

#[cfg(test)]
mod tests {
    use super::super::timeline::Counts;
    use super::*;

    fn stretch(t_ns: u64, length_ns: u64, running: u32) -> Bucket {
        Bucket::of(t_ns, length_ns, &Counts { running, ..Counts::default() })
    }

    #[test]
    fn bars_follow_the_steps() {
        let stretches = [stretch(0, 500, 1), stretch(500, 250, 2), stretch(750, 250, 0)];
        let lines = lines(&stretches, 72);
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], format!("2 ┤{}{}", " ".repeat(36), "█".repeat(18)));
        assert_eq!(lines[1], format!("1 ┤{}", "█".repeat(54)));
        assert!(lines[3].ends_with("1.00 us"), "{}", lines[3]);
    }

    #[test]
    fn nothing_to_draw_draws_nothing() {
        assert!(lines(&[], 72).is_empty());
    }
}

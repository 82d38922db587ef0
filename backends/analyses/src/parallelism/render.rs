//! How `parallelism` looks in a terminal and in CSV.

use super::{LevelTime, Report, chart};
use crate::view::units::{plural, time};
use crate::view::{Render, Table, View};

/// The most rows of the table of levels.
const MOST_LEVELS: usize = 20;

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.steps_table())
            .heading("Parallelism over time")
            .drawing(vec![chart::lines(&self.stretches, 72), chart::lines(&self.stretches, 30)]);
        view = view.line("").line(self.sentence()).line(format!(
            "Potential: {:.2} on average (work {} / span {}).",
            self.potential_average,
            time(self.work_ns),
            time(self.span_ns)
        ));
        if !self.levels.is_empty() {
            view = view.heading("Time by running contexts").table(self.levels_table());
        }
        if !self.waits.is_empty() {
            view = view.heading("Waiting, by cause").table(self.waits_table());
        }
        if !self.places.is_empty() {
            view = view.heading("Waiting, by place").table(self.places_table());
        }
        if !self.outside.is_empty() {
            view =
                view.heading("Running in code that was not recorded").table(self.outside_table());
        }
        view
    }
}

impl Report {
    /// The run in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "{} over {}: on average {:.2} running, at most {}.",
            plural(self.contexts, "context"),
            time(self.duration_ns),
            self.average,
            self.peak
        )
    }

    fn steps_table(&self) -> Table {
        Table::of(&self.steps)
            .count("time", "t_ns", |step| step.t_ns)
            .count("running", "running", |step| step.running)
            .table()
    }

    fn levels_table(&self) -> Table {
        let groups = self.level_groups();
        let widest = groups.iter().map(|group| group.2).fold(f64::MIN_POSITIVE, f64::max);
        Table::of(groups)
            .text("running", "running", |group| group.0.clone())
            .time("time", "ns", |group| group.1)
            .share("share", "share", |group| group.2)
            .text("", "bar", |group| bar(group.2 / widest))
            .table()
    }

    /// Time and share by number of running contexts, or by ranges of numbers if there are many.
    fn level_groups(&self) -> Vec<(String, u64, f64)> {
        let width = self.levels.last().map_or(0, |last| last.running).div_ceil(MOST_LEVELS).max(1);
        // 0 stays a group of its own, because nothing ran then.
        let group = |level: &LevelTime| level.running.div_ceil(width);
        let same = self.levels.chunk_by(|a, b| group(a) == group(b));
        let sum = |levels: &[LevelTime]| {
            let last = group(&levels[0]) * width;
            let name = if width == 1 || last == 0 {
                last.to_string()
            } else {
                format!("{}-{last}", last - width + 1)
            };
            (
                name,
                levels.iter().map(|level| level.ns).sum(),
                levels.iter().map(|level| level.share).sum(),
            )
        };
        same.map(sum).collect()
    }

    fn waits_table(&self) -> Table {
        Table::of(&self.waits)
            .text("cause", "cause", |wait| wait.cause.name())
            .time("context time", "ns", |wait| wait.ns)
            .share("of all", "share", |wait| wait.share)
            .table()
    }

    fn places_table(&self) -> Table {
        Table::of(&self.places)
            .text("cause", "cause", |at| at.cause.name())
            .text("place", "place", |at| at.place.short())
            .function("function", "function", |at| at.place.function.clone())
            .text("call", "callee", |at| at.callee.clone())
            .count("waits", "waits", |at| at.waits)
            .time("context time", "ns", |at| at.ns)
            .table()
            .text_rows(16)
    }

    fn outside_table(&self) -> Table {
        Table::of(&self.outside)
            .text("place", "place", |at| at.place.short())
            .function("function", "function", |at| at.place.function.clone())
            .text("call", "callee", |at| match at.others {
                true => format!("{} and later calls", at.callee),
                false => at.callee.clone(),
            })
            .count("tasks", "tasks", |at| at.tasks)
            .time("context time", "ns", |at| at.ns)
            .table()
            .text_rows(16)
    }
}

/// A horizontal bar of up to 40 characters.
fn bar(part: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 40")]
    let length = (part.clamp(0.0, 1.0) * 40.0).round() as usize;
    "█".repeat(length)
}

//! How `parallelism` looks in a terminal and in CSV.

use super::{LevelTime, Report, chart};
use crate::view::units::{plural, time};
use crate::view::{Cell, Render, Table, View};

/// The most rows of the table of levels.
const MOST_LEVELS: usize = 20;

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.steps_table())
            .heading("Parallelism over time");
        for line in chart::lines(&self.stretches) {
            view = view.line(line);
        }
        view = view.line("").line(self.sentence()).line(format!(
            "Potential: {:.2} on average (work {} / span {}).",
            self.potential_average,
            time(self.work_ns),
            time(self.span_ns)
        ));
        if !self.levels.is_empty() {
            view = view
                .heading("Time by running contexts")
                .table(self.levels_table());
        }
        if !self.waits.is_empty() {
            view = view.heading("Waiting, by cause").table(self.waits_table());
        }
        if !self.places.is_empty() {
            view = view.heading("Waiting, by place").table(self.places_table());
        }
        if !self.outside.is_empty() {
            view = view
                .heading("Running in code that was not recorded")
                .table(self.outside_table());
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
        let rows = self
            .steps
            .iter()
            .map(|step| [Cell::Count(step.t_ns), Cell::Count(step.running.into())]);
        Table::new(&[("time", "t_ns"), ("running", "running")]).rows(rows)
    }

    fn levels_table(&self) -> Table {
        let groups = self.level_groups();
        let widest = groups
            .iter()
            .map(|group| group.2)
            .fold(f64::MIN_POSITIVE, f64::max);
        let rows = groups.into_iter().map(|(running, ns, share)| {
            [
                Cell::Text(running),
                Cell::Time(ns),
                Cell::Share(share),
                Cell::Text(bar(share / widest)),
            ]
        });
        Table::new(&[
            ("running", "running"),
            ("time", "ns"),
            ("share", "share"),
            ("", "bar"),
        ])
        .rows(rows)
    }

    /// Time and share by number of running contexts, or by ranges of numbers if there are many.
    fn level_groups(&self) -> Vec<(String, u64, f64)> {
        let width = self
            .levels
            .last()
            .map_or(0, |last| last.running)
            .div_ceil(MOST_LEVELS)
            .max(1);
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
        let rows = self.waits.iter().map(|wait| {
            [
                Cell::from(wait.cause.name()),
                Cell::Time(wait.ns),
                Cell::Share(wait.share),
            ]
        });
        Table::new(&[
            ("cause", "cause"),
            ("context time", "ns"),
            ("of all", "share"),
        ])
        .rows(rows)
    }

    fn places_table(&self) -> Table {
        let rows = self.places.iter().map(|at| {
            [
                Cell::from(at.cause.name()),
                Cell::Text(at.place.short()),
                Cell::Function(at.place.function.clone()),
                Cell::Text(at.callee.clone()),
                Cell::Count(at.waits),
                Cell::Time(at.ns),
            ]
        });
        let columns = [
            ("cause", "cause"),
            ("place", "place"),
            ("function", "function"),
            ("call", "callee"),
            ("waits", "waits"),
            ("context time", "ns"),
        ];
        Table::new(&columns).text_rows(16).rows(rows)
    }
}

impl Report {
    fn outside_table(&self) -> Table {
        let rows = self.outside.iter().map(|at| {
            [
                Cell::Text(at.place.short()),
                Cell::Function(at.place.function.clone()),
                Cell::Text(match at.others {
                    true => format!("{} and later calls", at.callee),
                    false => at.callee.clone(),
                }),
                Cell::Count(at.tasks),
                Cell::Time(at.ns),
            ]
        });
        let columns = [
            ("place", "place"),
            ("function", "function"),
            ("call", "callee"),
            ("tasks", "tasks"),
            ("context time", "ns"),
        ];
        Table::new(&columns).text_rows(16).rows(rows)
    }
}

/// A horizontal bar of up to 40 characters.
fn bar(part: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to 40"
    )]
    let length = (part.clamp(0.0, 1.0) * 40.0).round() as usize;
    "█".repeat(length)
}

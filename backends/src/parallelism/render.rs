//! How `parallelism` looks in a terminal and in CSV.

use super::{Report, chart};
use crate::view::units::{count, time};
use crate::view::{Cell, Render, Table, View};

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.steps_table())
            .heading("Parallelism over time");
        for line in chart::lines(&self.buckets) {
            view = view.line(line);
        }
        view = view.line("").line(self.sentence()).line(format!(
            "Potential: {:.2} on average (work {} / span {}).",
            self.potential_average,
            time(self.work_ns),
            time(self.span_ns)
        ));
        view = view
            .heading("Time by running contexts")
            .table(self.levels_table());
        if !self.waits.is_empty() {
            view = view.heading("Waiting, by cause").table(self.waits_table());
        }
        if !self.places.is_empty() {
            view = view
                .heading("Longest waits, by place")
                .table(self.places_table());
        }
        view
    }
}

impl Report {
    /// The run in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let contexts = if self.contexts == 1 {
            "1 context".to_owned()
        } else {
            format!("{} contexts", count(self.contexts))
        };
        format!(
            "{contexts}, {}: {:.2} run on average, at most {}.",
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
        let widest = self
            .levels
            .iter()
            .map(|level| level.share)
            .fold(f64::MIN_POSITIVE, f64::max);
        let rows = self.levels.iter().map(|level| {
            [
                Cell::Count(level.running as u64),
                Cell::Time(level.ns),
                Cell::Share(level.share),
                Cell::Text(bar(level.share / widest)),
            ]
        });
        Table::new(&[
            ("running", "running"),
            ("time", "ns"),
            ("share", "share"),
            ("", "bar"),
        ])
        .text_rows(64)
        .rows(rows)
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
                Cell::Text(at.place.function.clone()),
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

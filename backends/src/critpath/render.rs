//! How `critpath` looks in a terminal and in CSV.

use super::{FunctionRow, Report, WhatIf};
use crate::view::units::{count, share, time};
use crate::view::{Axis, Cell, Chart, Render, Series, Table, Unit, View};

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.functions_table())
            .heading("Critical path")
            .line(self.sentence());
        if let Some(what_if) = &self.what_if {
            view = view.line(in_words(what_if, self.span_ns));
        }
        view = view
            .chart(self.way())
            .line("")
            .table(self.functions_table().text_rows(15));
        if !self.overhead.is_empty() {
            view = view
                .heading("On the path, but no code of the program")
                .table(self.overhead_table());
        }
        if !self.crossings.is_empty() {
            view = view
                .heading("Why the path changes context")
                .table(self.crossings_table());
            view = view
                .heading("Longest parts of the path")
                .table(self.stretches_table());
        }
        view = view
            .heading("What held up this run")
            .table(self.observed_table());
        view = view.heading("Work by slack").table(self.slack_table());
        if !self.near.is_empty() {
            view = view.heading("Near-critical paths").table(self.near_table());
        }
        if !self.halved.is_empty() {
            view = view
                .heading("What if one function took half its time")
                .table(self.halved_table());
        }
        view
    }
}

impl Report {
    /// The result in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let top = self
            .functions
            .first()
            .filter(|top| top.critical_ns > 0)
            .map_or_else(String::new, |top| {
                format!(" {} of it is {}.", share(top.share), top.place.located())
            });
        format!(
            "Span {} of {} work: {:.2} tasks at once at best; the run took {}. {} tasks are on the path.{top}",
            time(self.span_ns),
            time(self.work_ns),
            self.parallelism,
            time(self.duration_ns),
            count(self.tasks)
        )
    }

    /// A chart of the context that the path is in, along the path.
    fn way(&self) -> Chart {
        let mut at = 0;
        let mut points = Vec::with_capacity(self.stretches.len() + 1);
        for stretch in &self.stretches {
            #[expect(clippy::cast_precision_loss, reason = "to be drawn")]
            points.push((at as f64, f64::from(stretch.context)));
            at += stretch.ns;
        }
        if let Some(&(_, context)) = points.last() {
            #[expect(clippy::cast_precision_loss, reason = "to be drawn")]
            points.push((at as f64, context));
        }
        Chart::Lines {
            title: "The context the critical path runs in".to_owned(),
            x: Axis::new("work along the path", Unit::Time),
            y: Axis::new("context", Unit::Count),
            steps: true,
            series: vec![Series {
                name: "critical path".to_owned(),
                points,
            }],
        }
    }

    fn functions_table(&self) -> Table {
        let row = |row: &FunctionRow| {
            [
                Cell::Function(row.place.function.clone()),
                Cell::Text(row.place.short()),
                Cell::Time(row.critical_ns),
                Cell::Share(row.share),
                Cell::Share(row.observed_share),
                Cell::Time(row.work_ns),
                Cell::Time(row.min_slack_ns),
                Cell::Time(row.mean_slack_ns),
            ]
        };
        Table::new(&[
            ("function", "function"),
            ("place", "place"),
            ("on the path", "critical_ns"),
            ("of span", "share"),
            ("of the run's chain", "observed_share"),
            ("all work", "work_ns"),
            ("least slack", "min_slack_ns"),
            ("mean slack", "mean_slack_ns"),
        ])
        .rows(self.functions.iter().map(row))
    }

    fn overhead_table(&self) -> Table {
        let rows = self.overhead.iter().map(|row| {
            [
                Cell::Text(row.kind.clone()),
                Cell::Count(row.tasks),
                Cell::Time(row.ns),
                Cell::Share(row.share),
            ]
        });
        Table::new(&[
            ("kind", "kind"),
            ("tasks", "tasks"),
            ("time", "ns"),
            ("of span", "share"),
        ])
        .rows(rows)
    }

    fn crossings_table(&self) -> Table {
        let rows = self.crossings.iter().map(|row| {
            [
                Cell::from(row.cause.name()),
                Cell::Count(row.count),
                Cell::Time(row.waited_ns),
            ]
        });
        Table::new(&[
            ("cause", "cause"),
            ("times", "count"),
            ("waited there", "waited_ns"),
        ])
        .rows(rows)
    }

    fn stretches_table(&self) -> Table {
        let mut longest: Vec<_> = self.stretches.iter().collect();
        longest.sort_by_key(|stretch| std::cmp::Reverse(stretch.ns));
        let rows = longest.into_iter().map(|stretch| {
            [
                Cell::Count(stretch.context.into()),
                Cell::Text(stretch.first.clone()),
                Cell::Text(stretch.last.clone()),
                Cell::Time(stretch.ns),
                Cell::Time(stretch.start_ns),
                Cell::from(stretch.entered_by.map_or("start", super::Crossing::name)),
            ]
        });
        Table::new(&[
            ("context", "context"),
            ("from task", "first"),
            ("to task", "last"),
            ("work", "ns"),
            ("starts at", "start_ns"),
            ("entered by", "entered_by"),
        ])
        .text_rows(10)
        .rows(rows)
    }

    fn observed_table(&self) -> Table {
        let rows = self.observed.parts.iter().map(|part| {
            [
                Cell::Text(part.what.clone()),
                Cell::Time(part.ns),
                Cell::Share(part.share),
            ]
        });
        Table::new(&[("part", "what"), ("time", "ns"), ("of run", "share")]).rows(rows)
    }

    fn slack_table(&self) -> Table {
        let rows = self.slack.iter().map(|band| {
            let name = if band.up_to == 0.0 {
                "none".to_owned()
            } else {
                format!("up to {}", share(band.up_to))
            };
            [
                Cell::Text(name),
                Cell::Count(band.tasks),
                Cell::Time(band.ns),
                Cell::Share(band.share),
            ]
        });
        Table::new(&[
            ("slack, of span", "up_to"),
            ("tasks", "tasks"),
            ("work", "ns"),
            ("of work", "share"),
        ])
        .rows(rows)
    }

    fn near_table(&self) -> Table {
        let rows = self.near.iter().map(|detour| {
            [
                Cell::Time(detour.length_ns),
                Cell::Time(detour.slack_ns),
                Cell::Text(detour.first.clone()),
                Cell::Text(detour.last.clone()),
                Cell::from(detour.joins_by.map_or("end", super::Crossing::name)),
                Cell::Time(detour.ns),
                Cell::Function(detour.function.clone()),
            ]
        });
        Table::new(&[
            ("length", "length_ns"),
            ("slack", "slack_ns"),
            ("from task", "first"),
            ("to task", "last"),
            ("joins by", "joins_by"),
            ("own work", "ns"),
            ("mostly", "function"),
        ])
        .rows(rows)
    }

    fn halved_table(&self) -> Table {
        let rows = self.halved.iter().map(|row| {
            [
                Cell::Text(row.change.clone()),
                Cell::Time(row.span_ns),
                Cell::Number(row.speedup),
            ]
        });
        Table::new(&[
            ("change", "change"),
            ("span then", "span_ns"),
            ("times shorter", "speedup"),
        ])
        .rows(rows)
    }
}

fn in_words(what_if: &WhatIf, span_ns: u64) -> String {
    format!(
        "What if {}: span {} instead of {} ({:.2} times shorter), work {}.",
        what_if.change,
        time(what_if.span_ns),
        time(span_ns),
        what_if.speedup,
        time(what_if.work_ns)
    )
}

//! How `critpath` looks in a terminal and in CSV.

use super::{FunctionRow, Report};
use crate::view::units::{count, share, time};
use crate::view::{Cell, Render, Table, View};

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.functions_table())
            .heading("Critical path")
            .line(self.sentence());
        view = view.line("").table(self.functions_table().text_rows(15));
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

    fn functions_table(&self) -> Table {
        let row = |row: &FunctionRow| {
            [
                Cell::Function(row.place.function.clone()),
                Cell::Text(row.place.short()),
                Cell::Time(row.critical_ns),
                Cell::Share(row.share),
                Cell::Time(row.work_ns),
                Cell::Time(row.min_slack_ns),
            ]
        };
        Table::new(&[
            ("function", "function"),
            ("place", "place"),
            ("on the path", "critical_ns"),
            ("of span", "share"),
            ("all work", "work_ns"),
            ("least slack", "min_slack_ns"),
        ])
        .rows(self.functions.iter().map(row))
    }

    fn overhead_table(&self) -> Table {
        let rows = self.overhead.iter().map(|row| {
            [
                Cell::from(row.kind),
                Cell::Time(row.ns),
                Cell::Share(row.share),
            ]
        });
        Table::new(&[("kind", "kind"), ("time", "ns"), ("of span", "share")]).rows(rows)
    }

    fn crossings_table(&self) -> Table {
        let rows = self.crossings.iter().map(|row| {
            [
                Cell::from(row.cause),
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
                Cell::from(stretch.entered_by.unwrap_or("start")),
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

    fn halved_table(&self) -> Table {
        let rows = self.halved.iter().map(|row| {
            [
                Cell::Function(row.function.clone()),
                Cell::Time(row.span_ns),
                Cell::Number(row.speedup),
            ]
        });
        Table::new(&[
            ("function", "function"),
            ("span then", "span_ns"),
            ("times shorter", "speedup"),
        ])
        .rows(rows)
    }
}

//! How `critpath` looks in a terminal and in CSV.

use super::Report;
use crate::view::units::{count, share, time};
use crate::view::{Render, Table, View};

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
            view = view.heading("Why the path changes context").table(self.crossings_table());
            view = view.heading("Longest parts of the path").table(self.stretches_table());
        }
        if !self.halved.is_empty() {
            view =
                view.heading("What if one function took half its time").table(self.halved_table());
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
        Table::of(&self.functions)
            .function("function", "function", |row| row.place.function.clone())
            .text("place", "place", |row| row.place.short())
            .time("on the path", "critical_ns", |row| row.critical_ns)
            .share("of span", "share", |row| row.share)
            .time("all work", "work_ns", |row| row.work_ns)
            .time("least slack", "min_slack_ns", |row| row.min_slack_ns)
            .table()
    }

    fn overhead_table(&self) -> Table {
        Table::of(&self.overhead)
            .text("kind", "kind", |row| row.kind)
            .time("time", "ns", |row| row.ns)
            .share("of span", "share", |row| row.share)
            .table()
    }

    fn crossings_table(&self) -> Table {
        Table::of(&self.crossings)
            .text("cause", "cause", |row| row.cause)
            .count("times", "count", |row| row.count)
            .time("waited there", "waited_ns", |row| row.waited_ns)
            .table()
    }

    fn stretches_table(&self) -> Table {
        let mut longest: Vec<_> = self.stretches.iter().collect();
        longest.sort_by_key(|stretch| std::cmp::Reverse(stretch.ns));
        Table::of(longest)
            .count("context", "context", |stretch| stretch.context)
            .text("from task", "first", |stretch| stretch.first.clone())
            .text("to task", "last", |stretch| stretch.last.clone())
            .time("work", "ns", |stretch| stretch.ns)
            .time("starts at", "start_ns", |stretch| stretch.start_ns)
            .text("entered by", "entered_by", |stretch| stretch.entered_by.unwrap_or("start"))
            .table()
            .text_rows(10)
    }

    fn halved_table(&self) -> Table {
        Table::of(&self.halved)
            .function("function", "function", |row| row.function.clone())
            .time("span then", "span_ns", |row| row.span_ns)
            .number("times shorter", "speedup", |row| row.speedup)
            .table()
    }
}

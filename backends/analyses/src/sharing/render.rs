//! How `sharing` looks in a terminal and in CSV.

use super::{LineRow, Report, Source};
use crate::analysis::Windows;
use crate::view::units::count;
use crate::view::{Cell, Chart, Render, Table, Unit, View};

/// Number of executors whose matrix fits into a terminal.
const SHOWN: usize = 16;
/// Number of executors in the picture.
const DRAWN: usize = 128;

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default().csv(self.lines_table()).heading("Sharing between executors");
        if let Some(every) = self.windows {
            let said = Windows::sentence(every, "Sharing was looked for in");
            view = view.line(format!("{said} The numbers are estimates."));
        }
        for total in &self.totals {
            let Some(cold) = total.cold else {
                return view.line("The run has one executor, which shares nothing.");
            };
            view = view.line(format!(
                "{}-byte lines: {} misses on lines taken by another executor, {} of them for nothing (false sharing); {} cold misses.",
                total.line,
                count(total.misses()),
                count(total.false_misses),
                count(cold)
            ));
        }
        if self.matrix.iter().flatten().all(|&bytes| bytes == 0) {
            view = view.line("No executor read what another one wrote.");
        } else if self.executors.len() <= SHOWN {
            view = view
                .heading("Bytes read (column) that another executor wrote (row)")
                .chart(self.matrix_chart())
                .table(self.matrix_table());
        } else {
            view = view.chart(self.matrix_chart());
            let communicating = count(self.executors.len() as u64);
            view =
                view.line(format!("The matrix of {communicating} executors is in --format json."));
        }
        if !self.lines.is_empty() {
            view = view
                .heading("Lines that go back and forth")
                .table(self.lines_table().text_rows(self.top))
                .heading("By source")
                .table(self.sources_table().text_rows(self.top))
                .heading("By allocation site")
                .table(self.sites_table().text_rows(self.top));
        }
        view
    }
}

impl Report {
    /// The first [`DRAWN`] executors, which communicate most if there are more.
    fn matrix_chart(&self) -> Chart {
        let row = |row: &Vec<u64>| row.iter().take(DRAWN).copied().collect();
        Chart::Matrix {
            title: "Bytes read that another executor wrote".to_owned(),
            axes: ("writer".to_owned(), "reader".to_owned()),
            names: self.executors.iter().take(DRAWN).map(ToString::to_string).collect(),
            unit: Unit::Bytes,
            values: self.matrix.iter().take(DRAWN).map(row).collect(),
        }
    }

    fn matrix_table(&self) -> Table {
        let name = |executor: &dyn std::fmt::Display| format!("executor {executor}");
        let rows = self.executors.iter().zip(&self.matrix);
        let mut columns = Table::of(rows).text("writer", "writer", |row| name(row.0));
        for (at, reader) in self.executors.iter().enumerate() {
            let reader = name(reader);
            columns = columns.count(&reader, &reader, |row| row.1[at]);
        }
        columns.table()
    }

    fn lines_table(&self) -> Table {
        let source = |row: &LineRow, pick: fn(&Source) -> String| {
            let source = row.sources.first();
            source.map_or(Cell::Empty, |source| Cell::Text(pick(source)))
        };
        Table::of(&self.lines)
            .text("line", "line", |row| format!("{:#x}", row.line))
            .count("size", "size", |row| row.size)
            .count("misses", "misses", |row| row.misses)
            .count("for nothing", "false_misses", |row| row.false_misses)
            .count("executors", "executors", |row| row.executors)
            .text("sharing", "sharing", |row| if row.is_false { "false" } else { "true" })
            .text("allocated at", "allocation", |row| row.allocation.clone().unwrap_or_default())
            .cell("written at", "a", |row| source(row, |source| source.a.short()))
            .cell("missed at", "b", |row| source(row, |source| source.b.short()))
            .table()
    }

    fn sources_table(&self) -> Table {
        Table::of(&self.sources)
            .text("written at", "a", |row| row.a.short())
            .function("function", "a_function", |row| row.a.function.clone())
            .text("missed at", "b", |row| row.b.short())
            .function("function", "b_function", |row| row.b.function.clone())
            .count("line size", "size", |row| row.size)
            .count("misses", "misses", |row| row.misses)
            .count("for nothing", "false_misses", |row| row.false_misses)
            .table()
    }

    fn sites_table(&self) -> Table {
        let unknown = || "(static data, stacks, unrecorded)".to_owned();
        Table::of(&self.sites)
            .text("allocated at", "allocation", |row| {
                let site = row.site.as_ref();
                site.map_or_else(unknown, |site| site.place.short())
            })
            .text("function", "function", |row| {
                let site = row.site.as_ref();
                site.map_or_else(String::new, |site| site.place.function.clone())
            })
            .count("line size", "size", |row| row.size)
            .count("misses", "misses", |row| row.misses)
            .count("for nothing", "false_misses", |row| row.false_misses)
            .table()
    }
}

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
        let mut view = View::default()
            .csv(self.lines_table())
            .heading("Sharing between executors");
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
            view = view.line(format!(
                "The matrix of {communicating} executors is in --format json."
            ));
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
            names: self
                .executors
                .iter()
                .take(DRAWN)
                .map(ToString::to_string)
                .collect(),
            unit: Unit::Bytes,
            values: self.matrix.iter().take(DRAWN).map(row).collect(),
        }
    }

    fn matrix_table(&self) -> Table {
        let columns = std::iter::once("writer".to_owned()).chain(
            self.executors
                .iter()
                .map(|executor| format!("executor {executor}")),
        );
        let rows = self
            .executors
            .iter()
            .zip(&self.matrix)
            .map(|(executor, row)| {
                std::iter::once(Cell::Text(format!("executor {executor}")))
                    .chain(row.iter().map(|&bytes| Cell::Count(bytes)))
            });
        Table::titled(columns).rows(rows)
    }

    fn lines_table(&self) -> Table {
        let row = |row: &LineRow| {
            let source = |pick: fn(&Source) -> String| {
                row.sources
                    .first()
                    .map_or(Cell::Empty, |source| Cell::Text(pick(source)))
            };
            [
                Cell::Text(format!("{:#x}", row.line)),
                Cell::Count(row.size),
                Cell::Count(row.misses),
                Cell::Count(row.false_misses),
                Cell::Count(row.executors),
                Cell::from(if row.is_false { "false" } else { "true" }),
                Cell::Text(row.allocation.clone().unwrap_or_default()),
                source(|source| source.a.short()),
                source(|source| source.b.short()),
            ]
        };
        Table::new(&[
            ("line", "line"),
            ("size", "size"),
            ("misses", "misses"),
            ("for nothing", "false_misses"),
            ("executors", "executors"),
            ("sharing", "sharing"),
            ("allocated at", "allocation"),
            ("written at", "a"),
            ("missed at", "b"),
        ])
        .rows(self.lines.iter().map(row))
    }

    fn sources_table(&self) -> Table {
        let rows = self.sources.iter().map(|row| {
            [
                Cell::Text(row.a.short()),
                Cell::Function(row.a.function.clone()),
                Cell::Text(row.b.short()),
                Cell::Function(row.b.function.clone()),
                Cell::Count(row.size),
                Cell::Count(row.misses),
                Cell::Count(row.false_misses),
            ]
        });
        Table::new(&[
            ("written at", "a"),
            ("function", "a_function"),
            ("missed at", "b"),
            ("function", "b_function"),
            ("line size", "size"),
            ("misses", "misses"),
            ("for nothing", "false_misses"),
        ])
        .rows(rows)
    }

    fn sites_table(&self) -> Table {
        let rows = self.sites.iter().map(|row| {
            let place = row
                .site
                .as_ref()
                .map_or("(static data, stacks, unrecorded)".to_owned(), |site| {
                    site.place.short()
                });
            let function = row
                .site
                .as_ref()
                .map_or(String::new(), |site| site.place.function.clone());
            [
                Cell::Text(place),
                Cell::Text(function),
                Cell::Count(row.size),
                Cell::Count(row.misses),
                Cell::Count(row.false_misses),
            ]
        });
        Table::new(&[
            ("allocated at", "allocation"),
            ("function", "function"),
            ("line size", "size"),
            ("misses", "misses"),
            ("for nothing", "false_misses"),
        ])
        .rows(rows)
    }
}

//! How `memuse` looks in a terminal and in CSV.

use super::{LINE, PAGE, Report};
use crate::view::units::{bytes, count, time};
use crate::view::{Axis, Cell, Chart, Render, Series, Table, Unit, View};

/// Rows of the table over time in a terminal.
const SHOWN: usize = 20;
/// Length of the longest bar.
const BAR: u64 = 30;

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.stretches_table())
            .heading("Memory use")
            .line(self.sentence());
        if !self.stretches.is_empty() {
            view = view
                .heading("Over time")
                .chart(self.over_time())
                .table(self.summed_up());
        }
        if !self.sites.is_empty() {
            view = view
                .heading("Heap by allocation site")
                .table(self.sites_table().text_rows(self.top));
        }
        view
    }
}

impl Report {
    /// The result in words.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "At most {} of heap were live, at {}; {} allocations, {} frees, {} never freed. The program touched {}.",
            bytes(self.peak_bytes),
            time(self.peak_ns),
            count(self.allocations),
            count(self.frees),
            bytes(self.end_bytes),
            bytes(self.footprint_bytes)
        )
    }

    fn stretches_table(&self) -> Table {
        let rows = self.stretches.iter().map(|at| {
            [
                Cell::Time(at.t_ns),
                Cell::Bytes(at.heap_bytes),
                Cell::Bytes(at.mapped_bytes),
                Cell::Count(at.lines),
                Cell::Count(at.pages),
            ]
        });
        Table::new(&[
            ("from", "t_ns"),
            ("heap", "heap_bytes"),
            ("mapped", "mapped_bytes"),
            ("lines", "lines"),
            ("pages", "pages"),
        ])
        .rows(rows)
    }

    fn over_time(&self) -> Chart {
        #[expect(clippy::cast_precision_loss, reason = "to be drawn")]
        let series = |name: &str, pick: fn(&super::Stretch) -> u64| Series {
            name: name.to_owned(),
            points: self
                .stretches
                .iter()
                .map(|at| (at.t_ns as f64, pick(at) as f64))
                .collect(),
        };
        Chart::Lines {
            title: "Memory over time".to_owned(),
            x: Axis::new("time", Unit::Time),
            y: Axis::new("bytes", Unit::Bytes),
            steps: true,
            series: vec![
                series("live heap", |at| at.heap_bytes),
                series("mapped", |at| at.mapped_bytes),
                series("working set, in lines", |at| at.lines * LINE),
            ],
        }
    }

    /// The run in a few rows: the most of each.
    fn summed_up(&self) -> Table {
        let width = self.stretches.len().div_ceil(SHOWN);
        let rows = self.stretches.chunks(width).map(|group| {
            let most = |pick: fn(&super::Stretch) -> u64| group.iter().map(pick).max().unwrap_or(0);
            let heap = most(|at| at.heap_bytes);
            let length = (heap * BAR).checked_div(self.peak_bytes).unwrap_or(0);
            [
                Cell::Time(group[0].t_ns),
                Cell::Bytes(heap),
                Cell::Bytes(most(|at| at.mapped_bytes)),
                Cell::Bytes(most(|at| at.lines) * LINE),
                Cell::Bytes(most(|at| at.pages) * PAGE),
                Cell::Text("█".repeat(usize::try_from(length).unwrap_or(0))),
            ]
        });
        Table::new(&[
            ("from", "t_ns"),
            ("heap", "heap_bytes"),
            ("mapped", "mapped_bytes"),
            ("working set", "working_set_bytes"),
            ("in pages", "page_bytes"),
            ("heap", "bar"),
        ])
        .rows(rows)
    }

    fn sites_table(&self) -> Table {
        let rows = self.sites.iter().map(|row| {
            [
                Cell::Function(row.site.place.function.clone()),
                Cell::Text(row.site.place.short()),
                Cell::Text(row.site.callee.clone()),
                Cell::Bytes(row.peak_bytes),
                Cell::Bytes(row.most_bytes),
                Cell::Bytes(row.end_bytes),
                Cell::Count(row.site.allocations),
                Cell::Bytes(row.site.bytes),
                Cell::Time(row.mean_life_ns),
            ]
        });
        Table::new(&[
            ("function", "function"),
            ("place", "place"),
            ("call", "callee"),
            ("at the peak", "peak_bytes"),
            ("own most", "most_bytes"),
            ("never freed", "end_bytes"),
            ("allocations", "allocations"),
            ("in all", "bytes"),
            ("mean life", "mean_life_ns"),
        ])
        .rows(rows)
    }
}

//! How `memuse` looks in a terminal and in CSV.

use super::{LINE, PAGE, Report};
use crate::analysis::source::Place;
use crate::view::units::{bytes, count, time};
use crate::view::{Axis, Chart, Render, Series, Table, Unit, View};

/// Rows of the table over time in a terminal.
const SHOWN: usize = 20;
/// Length of the longest bar.
const BAR: u64 = 30;

impl Render for Report {
    fn view(&self) -> View {
        let mut view =
            View::default().csv(self.stretches_table()).heading("Memory use").line(self.sentence());
        if !self.stretches.is_empty() {
            view = view.heading("Over time").chart(self.over_time()).table(self.summed_up());
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
        Table::of(&self.stretches)
            .time("from", "t_ns", |at| at.t_ns)
            .bytes("heap", "heap_bytes", |at| at.heap_bytes)
            .bytes("mapped", "mapped_bytes", |at| at.mapped_bytes)
            .count("lines", "lines", |at| at.lines)
            .count("pages", "pages", |at| at.pages)
            .table()
    }

    fn over_time(&self) -> Chart {
        #[expect(clippy::cast_precision_loss, reason = "to be drawn")]
        let series = |name: &str, pick: fn(&super::Stretch) -> u64| Series {
            name: name.to_owned(),
            points: self.stretches.iter().map(|at| (at.t_ns as f64, pick(at) as f64)).collect(),
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
        type Group<'r> = &'r [super::Stretch];
        let most = |group: Group<'_>, pick: fn(&super::Stretch) -> u64| {
            group.iter().map(pick).max().unwrap_or(0)
        };
        let heap = |group: &Group<'_>| most(group, |at| at.heap_bytes);
        Table::of(self.stretches.chunks(self.stretches.len().div_ceil(SHOWN)))
            .time("from", "t_ns", |group| group[0].t_ns)
            .bytes("heap", "heap_bytes", heap)
            .bytes("mapped", "mapped_bytes", |group| most(group, |at| at.mapped_bytes))
            .bytes("working set", "working_set_bytes", |group| most(group, |at| at.lines) * LINE)
            .bytes("in pages", "page_bytes", |group| most(group, |at| at.pages) * PAGE)
            .text("heap", "bar", |group| {
                let length = (heap(group) * BAR).checked_div(self.peak_bytes);
                "█".repeat(usize::try_from(length.unwrap_or(0)).unwrap_or(0))
            })
            .table()
    }

    fn sites_table(&self) -> Table {
        Table::of(&self.sites)
            .function("function", "function", |row| row.site.place.function.clone())
            .text("place", "place", |row| row.site.place.short())
            .text("call", "callee", |row| row.site.callee.clone())
            .text("called from", "callers", |row| {
                let callers: Vec<String> = row.site.callers.iter().map(Place::short).collect();
                callers.join(", ")
            })
            .bytes("at the peak", "peak_bytes", |row| row.peak_bytes)
            .bytes("own most", "most_bytes", |row| row.most_bytes)
            .bytes("never freed", "end_bytes", |row| row.end_bytes)
            .count("allocations", "allocations", |row| row.site.allocations)
            .bytes("in all", "bytes", |row| row.site.bytes)
            .time("mean life", "mean_life_ns", |row| row.mean_life_ns)
            .table()
    }
}

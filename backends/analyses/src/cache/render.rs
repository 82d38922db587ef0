//! How `cache` looks in a terminal: sizes down, ways across, miss rates inside.

use std::collections::{BTreeMap, BTreeSet};

use super::{Point, Report, Sample, Split, Ways};
use crate::view::units::{bytes, count, ratio, share, whole};
use crate::view::{Cell, Render, Table, View};

impl Render for Report {
    fn view(&self) -> View {
        let kind = if self.private { "a cache per context" } else { "one shared cache" };
        let accesses = self.points.first().map_or(0, |point| point.accesses);
        let split = self.points.iter().find_map(|point| point.split);
        let cold = split.map_or_else(String::new, |split| {
            format!(", {} for the first time", count(split.cold))
        });
        let preview = self.sample.map_or_else(String::new, |rate| {
            format!(
                "Estimated from {} of the lines; rough for sizes below {}, which hold fewer than 16 of those. Of the other sizes, at the one that is least certain, the miss rate may be off by {} of the accesses.",
                share(rate),
                bytes(Sample::new(rate).rough() * self.line),
                share(self.error.unwrap_or(0.0))
            )
        });
        View::default()
            .csv(self.points_table())
            .heading(format!("Cache misses: {kind}, {}-byte lines, least recently used", self.line))
            .line(preview)
            .line(format!("{} lines looked up{cold}. Miss rate by size and ways:", count(accesses)))
            .line("")
            .table(self.rates_table())
    }
}

impl Report {
    /// How the numbers of a report were estimated, if they were.
    #[must_use]
    pub fn estimated(&self) -> Option<String> {
        let rate = self.sample?;
        Some(format!(
            "Cache misses are estimated from one of {} cache lines, chosen by a hash. At the size where that is least certain, the miss rate may be off by {} of the accesses; --exact looks at all lines and takes longer.",
            whole(1.0 / rate),
            share(self.error.unwrap_or(0.0))
        ))
    }

    fn points_table(&self) -> Table {
        let split = |point: &Point, cell: fn(&Split) -> Cell| {
            point.split.as_ref().map_or(Cell::Empty, cell)
        };
        Table::of(&self.points)
            .bytes("size", "size", |point| point.size)
            .text("ways", "ways", |point| point.ways.to_string())
            .count("accesses", "accesses", |point| point.accesses)
            .count("misses", "misses", |point| point.misses)
            .share("rate", "miss_rate", |point| ratio(point.misses, point.accesses))
            .cell("cold", "cold", |point| split(point, |split| Cell::Count(split.cold)))
            .cell("capacity", "capacity", |point| split(point, |split| Cell::Count(split.capacity)))
            .cell("conflict", "conflict", |point| {
                split(point, |split| Cell::Text(split.conflict.to_string()))
            })
            .table()
    }

    fn rates_table(&self) -> Table {
        let ways: BTreeSet<Ways> = self.points.iter().map(|point| point.ways).collect();
        let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for point in &self.points {
            let rate = ratio(point.misses, point.accesses);
            by_size.entry(point.size).or_default().push(rate);
        }
        let mut columns = Table::of(by_size).bytes("size", "size", |row| row.0);
        for (at, ways) in ways.iter().enumerate() {
            let title = match ways {
                Ways::Set(1) => "1 way".to_owned(),
                Ways::Set(ways) => format!("{ways} ways"),
                Ways::Full => "full".to_owned(),
            };
            let rate = |row: &(u64, Vec<f64>)| row.1.get(at).copied();
            columns = columns.cell(&title, &title, |row| rate(row).map_or(Cell::Empty, Cell::Rate));
        }
        columns.table()
    }
}

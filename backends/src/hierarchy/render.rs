//! How `hierarchy` looks in a terminal and in CSV.

use super::{CoreRow, Report};
use crate::analysis::Windows;
use crate::view::units::{count, ratio, share};
use crate::view::{Axis, Cell, Chart, Render, Series, Table, Unit, View};

impl Render for Report {
    fn view(&self) -> View {
        let view = View::default().heading("Cache hierarchy");
        let view = match self.windows {
            Some(every) => view.line(format!(
                "{} The numbers are estimates. Each window begins with the caches of the one before, so large ones may miss less than is said.",
                Windows::sentence(every, "The caches saw")
            )),
            None => view,
        };
        view.line(self.sentence())
            .line("")
            .table(self.levels_table())
            .heading("By core")
            .chart(self.chart())
            .table(self.cores_table())
    }
}

impl Report {
    /// The result in words.
    #[must_use]
    pub fn sentence(&self) -> String {
        let sum = |pick: fn(&CoreRow) -> u64| self.cores.iter().map(pick).sum::<u64>();
        let (misses, coherence) = (sum(|core| core.l1_misses), sum(|core| core.l1_coherence));
        format!(
            "{} lines of {} bytes looked up by {} cores; {} missed the first level, {} of them because another core wrote; {} lines came from another core's cache.",
            count(sum(|core| core.accesses)),
            self.line,
            self.cores.len(),
            count(misses),
            share(ratio(coherence, misses)),
            count(sum(|core| core.transfers))
        )
    }

    fn levels_table(&self) -> Table {
        let some = |number: Option<u64>| number.map_or(Cell::Empty, Cell::Count);
        Table::of(&self.levels)
            .text("level", "level", |row| row.level)
            .count("looked up", "accesses", |row| row.accesses)
            .count("misses", "misses", |row| row.misses)
            .share("rate", "miss_rate", |row| ratio(row.misses, row.accesses))
            .cell("cold", "cold", |row| some(row.cold))
            .cell("coherence", "coherence", |row| some(row.coherence))
            .cell("capacity and conflict", "replaced", |row| {
                some(row.replaced)
            })
            .table()
    }

    fn cores_table(&self) -> Table {
        Table::of(&self.cores)
            .count("core", "core", |row| row.core as u64)
            .count("looked up", "accesses", |row| row.accesses)
            .count("L1 misses", "l1_misses", |row| row.l1_misses)
            .count("coherence", "l1_coherence", |row| row.l1_coherence)
            .count("private misses", "private_misses", |row| row.private_misses)
            .count("from another core", "transfers", |row| row.transfers)
            .count("upgrades", "upgrades", |row| row.upgrades)
            .count("lines lost", "invalidated", |row| row.invalidated)
            .count("written back", "write_backs", |row| row.write_backs)
            .count("L3 misses", "l3_misses", |row| row.l3_misses)
            .table()
    }

    fn chart(&self) -> Chart {
        #[expect(clippy::cast_precision_loss, reason = "to be drawn")]
        let series = |name: &str, pick: fn(&CoreRow) -> u64| Series {
            name: name.to_owned(),
            points: self
                .cores
                .iter()
                .map(|row| (row.core as f64, pick(row) as f64))
                .collect(),
        };
        Chart::Lines {
            title: "Misses of each core".to_owned(),
            x: Axis::new("core", Unit::Count),
            y: Axis::new("misses", Unit::Count),
            steps: false,
            series: vec![
                series("first level", |row| row.l1_misses),
                series("coherence", |row| row.l1_coherence),
                series("private", |row| row.private_misses),
            ],
        }
    }
}

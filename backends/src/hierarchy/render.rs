//! How `hierarchy` looks in a terminal and in CSV.

use super::{CoreRow, LevelRow, Report};
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
        let rows = self.levels.iter().map(|row: &LevelRow| {
            let optional = |number: Option<u64>| number.map_or(Cell::Empty, Cell::Count);
            [
                Cell::from(row.level),
                Cell::Count(row.accesses),
                Cell::Count(row.misses),
                Cell::Share(ratio(row.misses, row.accesses)),
                optional(row.cold),
                optional(row.coherence),
                optional(row.replaced),
            ]
        });
        Table::new(&[
            ("level", "level"),
            ("looked up", "accesses"),
            ("misses", "misses"),
            ("rate", "miss_rate"),
            ("cold", "cold"),
            ("coherence", "coherence"),
            ("capacity and conflict", "replaced"),
        ])
        .rows(rows)
    }

    fn cores_table(&self) -> Table {
        let rows = self.cores.iter().map(|row| {
            [
                Cell::Count(row.core as u64),
                Cell::Count(row.accesses),
                Cell::Count(row.l1_misses),
                Cell::Count(row.l1_coherence),
                Cell::Count(row.private_misses),
                Cell::Count(row.transfers),
                Cell::Count(row.upgrades),
                Cell::Count(row.invalidated),
                Cell::Count(row.write_backs),
                Cell::Count(row.l3_misses),
            ]
        });
        Table::new(&[
            ("core", "core"),
            ("looked up", "accesses"),
            ("L1 misses", "l1_misses"),
            ("coherence", "l1_coherence"),
            ("private misses", "private_misses"),
            ("from another core", "transfers"),
            ("upgrades", "upgrades"),
            ("lines lost", "invalidated"),
            ("written back", "write_backs"),
            ("L3 misses", "l3_misses"),
        ])
        .rows(rows)
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

//! The factors as a table and as stacked bars over the number of threads (deconstructing overhead,
//! figure 1).

use crate::scaling::report::Report;
use crate::scaling::{Blocking, Factors};
use crate::view::chart::Part;
use crate::view::{Axis, Chart, Table, Unit, View};

/// A factor: its name in tables and plots, its key, and the number.
type Factor = (&'static str, &'static str, fn(&Factors) -> f64);

const FACTORS: [Factor; 8] = [
    ("work", "work", |factors| factors.work),
    ("scheduling", "scheduling", |factors| factors.distribution.scheduling),
    ("serialization", "serialization", |factors| factors.distribution.serialization),
    ("load imbalance", "imbalance", |factors| factors.distribution.imbalance),
    ("software delay", "software", |factors| factors.delay.software),
    ("hardware delay", "hardware", |factors| factors.delay.hardware),
    ("overhead", "overhead", |factors| factors.delay.overhead),
    ("inflation", "inflation", |factors| factors.delay.inflation),
];

impl Report {
    pub(super) fn factors(&self, view: View) -> View {
        let mut table = Table::of(&self.points).count("threads", "threads", |point| point.threads);
        for (title, key, of) in FACTORS {
            table = table.share(title, key, |point| of(&point.factors));
        }
        let place = match self.blocking {
            Blocking::Imbalance => "load imbalance, as in the paper",
            Blocking::Delay => "software delay",
        };
        let mut view = view
            .heading("Work, distribution, delay")
            .line(format!(
                "Shares of the time of all processors. Distribution is scheduling, serialization and load imbalance; a \
                 thread that blocks for a lock counts as {place}. Hardware delay is inferred: what is left; it is the \
                 overhead of the parallel program on one processor and the inflation on more."
            ))
            .table(table.table());
        if let Some(point) = self.chosen().filter(|point| point.factors.superlinear()) {
            view = view.line(format!(
                "Delay is negative at {} threads: the parallel program executes less, or the caches of several processors \
                 hold more. Without its distribution the speedup would be superlinear.",
                point.threads
            ));
        }
        view.chart(self.factor_chart())
    }

    fn factor_chart(&self) -> Chart {
        // Hardware delay is the sum of the two that follow it.
        let parts = FACTORS.into_iter().filter(|(_, key, _)| *key != "hardware");
        let part = |(name, _, of): Factor| Part::of(name, &self.points, |point| of(&point.factors));
        Chart::Stacks {
            title: "Factors over the number of threads".to_owned(),
            x: "threads".to_owned(),
            y: Axis::new("share of processor time", Unit::Share),
            names: self.points.iter().map(|point| point.threads.to_string()).collect(),
            parts: parts.map(part).collect(),
        }
    }
}

//! The factors as a table and as stacked bars over the number of threads (deconstructing overhead, figure 1).

use crate::scaling::Blocking;
use crate::scaling::report::{Analysed, Report};
use crate::view::chart::Part;
use crate::view::{Axis, Cell, Chart, Table, Unit, View};

impl Report {
    pub(super) fn factors(&self, view: View) -> View {
        let columns = [
            ("threads", "threads"),
            ("work", "work"),
            ("scheduling", "scheduling"),
            ("serialization", "serialization"),
            ("load imbalance", "imbalance"),
            ("software delay", "software"),
            ("hardware delay", "hardware"),
            ("overhead", "overhead"),
            ("inflation", "inflation"),
        ];
        let table = Table::new(&columns).rows(self.points.iter().map(|point| {
            let (factors, delay) = (&point.factors, &point.factors.delay);
            let distribution = &factors.distribution;
            let shares = [
                factors.work,
                distribution.scheduling,
                distribution.serialization,
                distribution.imbalance,
                delay.software,
                delay.hardware,
                delay.overhead,
                delay.inflation,
            ];
            std::iter::once(Cell::Count(point.threads.into())).chain(shares.map(Cell::Share))
        }));
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
            .table(table);
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
        let part = |name: &str, color: &str, of: &dyn Fn(&Analysed) -> f64| Part {
            name: name.to_owned(),
            color: color.to_owned(),
            values: self.points.iter().map(of).collect(),
        };
        Chart::Stacks {
            title: "Factors over the number of threads".to_owned(),
            x: "threads".to_owned(),
            y: Axis::new("share of processor time", Unit::Share),
            names: self
                .points
                .iter()
                .map(|point| point.threads.to_string())
                .collect(),
            parts: vec![
                part("work", "running", &|p| p.factors.work),
                part("scheduling", "w4", &|p| p.factors.distribution.scheduling),
                part("serialization", "w5", &|p| {
                    p.factors.distribution.serialization
                }),
                part("load imbalance", "barrier", &|p| {
                    p.factors.distribution.imbalance
                }),
                part("software delay", "lock", &|p| p.factors.delay.software),
                part("overhead", "join", &|p| p.factors.delay.overhead),
                part("inflation", "message", &|p| p.factors.delay.inflation),
            ],
        }
    }
}

//! The factors as a table and as stacked bars over the number of threads (deconstructing overhead,
//! figure 1).

use crate::scaling::Blocking;
use crate::scaling::report::{Analysed, Report};
use crate::view::chart::Part;
use crate::view::{Axis, Chart, Table, Unit, View};

impl Report {
    pub(super) fn factors(&self, view: View) -> View {
        let table = Table::of(&self.points)
            .count("threads", "threads", |point| point.threads)
            .share("work", "work", |point| point.factors.work)
            .share("scheduling", "scheduling", |point| point.factors.distribution.scheduling)
            .share("serialization", "serialization", |point| {
                point.factors.distribution.serialization
            })
            .share("load imbalance", "imbalance", |point| point.factors.distribution.imbalance)
            .share("software delay", "software", |point| point.factors.delay.software)
            .share("hardware delay", "hardware", |point| point.factors.delay.hardware)
            .share("overhead", "overhead", |point| point.factors.delay.overhead)
            .share("inflation", "inflation", |point| point.factors.delay.inflation)
            .table();
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
        let part = |name: &str, of: &dyn Fn(&Analysed) -> f64| Part {
            name: name.to_owned(),
            values: self.points.iter().map(of).collect(),
        };
        Chart::Stacks {
            title: "Factors over the number of threads".to_owned(),
            x: "threads".to_owned(),
            y: Axis::new("share of processor time", Unit::Share),
            names: self.points.iter().map(|point| point.threads.to_string()).collect(),
            parts: vec![
                part("work", &|p| p.factors.work),
                part("scheduling", &|p| p.factors.distribution.scheduling),
                part("serialization", &|p| p.factors.distribution.serialization),
                part("load imbalance", &|p| p.factors.distribution.imbalance),
                part("software delay", &|p| p.factors.delay.software),
                part("overhead", &|p| p.factors.delay.overhead),
                part("inflation", &|p| p.factors.delay.inflation),
            ],
        }
    }
}

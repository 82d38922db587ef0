//! The factored speedup plot, its gaps and the shape of its curves in words (work inflation,
//! sections 2.3 to 2.5).

use crate::scaling::ratio::{nanoseconds, over, seconds};
use crate::scaling::report::{Analysed, Report};
use crate::view::{Axis, Cell, Chart, Series, Table, Unit, View};

impl Report {
    pub(super) fn speedups(&self, view: View) -> View {
        let mut columns = Table::of(&self.points)
            .count("threads", "threads", |point| point.threads)
            .time("time", "t_ns", |point| nanoseconds(point.t))
            .share("spread", "t_spread", |point| point.t_spread)
            .number("linear", "linear", |point| point.speedup.linear)
            .number("maximal", "maximal", |point| point.speedup.maximal)
            .number("idle-specific", "idle", |point| point.speedup.idle)
            .number("inflation-specific", "inflation", |point| point.speedup.inflation)
            .number("actual", "actual", |point| point.speedup.actual);
        if self.elision.is_some() {
            columns = columns.cell("elision", "elision", |point| {
                point.speedup.elision.map_or(Cell::Empty, Cell::Number)
            });
        }
        let against = if self.has_baseline {
            format!("against the baseline's {}", seconds(self.baseline))
        } else {
            format!(
                "against {} with one thread: no baseline was given, so that overhead of the algorithm is not seen",
                seconds(self.baseline)
            )
        };
        let mut view = view
            .heading("Factored speedups")
            .line(format!("Speedups {against}. {}", self.gaps()))
            .line(self.curvature())
            .table(columns.table());
        if self.points.iter().any(|point| point.oversubscribed) {
            view = view.line(format!(
                "More threads than the {} processors: those points show what sharing a processor does, not scaling.",
                self.cpus
            ));
        }
        view.chart(self.speedup_chart())
    }

    fn speedup_chart(&self) -> Chart {
        let curve = |name: &str, of: &dyn Fn(&Analysed) -> Option<f64>| Series {
            name: name.to_owned(),
            points: self
                .points
                .iter()
                .filter_map(|point| Some((f64::from(point.threads), of(point)?)))
                .collect(),
        };
        let mut series = vec![
            curve("linear", &|point| Some(point.speedup.linear)),
            curve("maximal", &|point| Some(point.speedup.maximal)),
            curve("idle-time-specific", &|point| Some(point.speedup.idle)),
            curve("inflation-specific", &|point| Some(point.speedup.inflation)),
            curve("actual", &|point| Some(point.speedup.actual)),
        ];
        if self.elision.is_some() {
            series.insert(1, curve("elision", &|point| point.speedup.elision));
        }
        Chart::Lines {
            title: "Factored speedups".to_owned(),
            x: Axis::new("threads", Unit::Count),
            y: Axis::new("speedup", Unit::Number),
            steps: false,
            series,
        }
    }

    /// The gaps A to D of work inflation, section 2.4, in words.
    fn gaps(&self) -> String {
        let Some(point) = self.chosen() else {
            return String::new();
        };
        let s = &point.speedup;
        let gap = |from: f64, to: f64| format!("{:.2}", from - to);
        format!(
            "At {} threads the gaps are: A, linear to maximal (overhead) {}; B, maximal to idle-specific (idle time) {}; \
             C, maximal to inflation-specific (work inflation) {}; D, maximal to actual (both) {}.",
            point.threads,
            gap(s.linear, s.maximal),
            gap(s.maximal, s.idle),
            gap(s.maximal, s.inflation),
            gap(s.maximal, s.actual)
        )
    }

    /// What the shape of the curves says: work inflation, section 2.5.
    fn curvature(&self) -> String {
        let points: Vec<&Analysed> =
            self.points.iter().filter(|point| !point.oversubscribed).collect();
        let [.., before, last] = points[..] else {
            return "One number of threads says nothing of the curves' shape.".to_owned();
        };
        // Slope of a curve between its last two points, over that of the linear curve.
        let slope = |of: fn(&Analysed) -> f64| {
            over(of(last) - of(before), f64::from(last.threads) - f64::from(before.threads))
        };
        let start = before.speedup.maximal / f64::from(before.threads);
        let mut said = Vec::new();
        if slope(|point| point.speedup.maximal) < 0.8 * start {
            said.push("the maximal curve flattens: overhead grows with the number of threads");
        }
        let maximal = slope(|point| point.speedup.maximal).max(1e-9);
        if slope(|point| point.speedup.idle) < 0.5 * maximal {
            said.push("the idle-specific curve flattens: added processors are mostly idle, parallelism is short");
        }
        let inflation = slope(|point| point.speedup.inflation);
        if inflation < 0.0 {
            said.push(
                "the inflation-specific curve slopes down: added processors slow the code, as atomic operations and \
                 false sharing do",
            );
        } else if inflation < 0.5 * maximal {
            said.push("the inflation-specific curve flattens: added processors become inflation, as a memory limit does");
        }
        if said.is_empty() {
            "No curve bends away from the linear one.".to_owned()
        } else {
            format!("Between {} and {} threads {}.", before.threads, last.threads, said.join("; "))
        }
    }
}

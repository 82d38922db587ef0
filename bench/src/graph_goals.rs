//! The goals of the middle layer and of graphs, compared with what was measured.

use std::fmt::Write as _;

use crate::graph::{Reading, Writing};
use crate::stored::Stored;
use crate::synthetic::Kind;

/// One synthetic trace.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub kind: Kind,
    /// Accesses, or synchronisation events, in millions.
    pub millions: f64,
    /// Bytes of trace, in millions.
    pub trace_mb: f64,
    /// Bytes of graph.
    pub graph_bytes: f64,
    /// Cost with one thread, bound to one core.
    pub one: Writing,
    /// Cost with two threads on all cores.
    pub two: Writing,
    /// Cost of reading the graph with the library.
    pub reading: Reading,
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
impl Row {
    /// Accesses or events per second of CPU time, in millions.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.millions / self.one.cpu
    }

    /// How many times faster two threads are.
    #[must_use]
    pub fn scaling(&self) -> f64 {
        self.one.wall / self.two.wall
    }

    /// Bytes of graph per access or event.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        self.graph_bytes / self.millions / 1e6
    }

    /// The trace's line of the table.
    #[must_use]
    pub fn line(&self) -> String {
        let r = &self.reading;
        format!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.2} | {:.0} | {:.4} | {:.2} | {:.2} | {:.3} | {:.0} | {:.0} |",
            self.kind.name(),
            self.millions,
            self.trace_mb,
            self.rate(),
            self.scaling(),
            self.two.peak_bytes as f64 / 1e6,
            self.bytes(),
            r.open_ms,
            r.cold_ms,
            r.warm_ms,
            r.scan,
            r.batches,
        )
    }
}

/// The rows of a kind, the smallest trace first.
fn of(rows: &[Row], kind: Kind) -> impl DoubleEndedIterator<Item = &Row> {
    rows.iter().filter(move |r| r.kind == kind)
}

fn largest(rows: &[Row], kind: Kind, f: impl Fn(&Row) -> f64) -> f64 {
    of(rows, kind).next_back().map_or(f64::NAN, f)
}

fn most(rows: &[Row], f: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(f).fold(f64::NAN, f64::max)
}

/// The value per access of the largest trace of a kind, over that of the next smaller one.
fn growth(rows: &[Row], kind: Kind, f: impl Fn(&Row) -> f64) -> f64 {
    let mut last = of(rows, kind).rev().take(2).map(f);
    let (large, small) = (last.next(), last.next());
    large.zip(small).map_or(f64::NAN, |(l, s)| l / s)
}

struct Goals(String);

impl Goals {
    fn line(&mut self, what: &str, least: Option<f64>, most: Option<f64>, is: f64) {
        if is.is_nan() {
            return;
        }
        let said = |bound: Option<f64>| bound.map_or(String::new(), |b| b.to_string());
        let met = least.is_none_or(|l| is >= l) && most.is_none_or(|m| is <= m);
        let verdict = if met { "met" } else { "**missed**" };
        let (least, most) = (said(least), said(most));
        let _ = writeln!(
            self.0,
            "| {what} | {least} | {most} | {is:.3} | {verdict} |"
        );
    }

    fn least(&mut self, what: &str, goal: f64, is: f64) {
        self.line(what, Some(goal), None, is);
    }

    fn most(&mut self, what: &str, goal: f64, is: f64) {
        self.line(what, None, Some(goal), is);
    }
}

#[must_use]
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub fn table(rows: &[Row], stored: &[Stored]) -> String {
    use Kind::{Affine, Barriers, Irregular, Locks, Naive};
    let head = "| goal | at least | at most | measured | |\n|---|---:|---:|---:|---|\n";
    let mut goals = Goals(head.to_owned());
    let rate = |kind| largest(rows, kind, Row::rate);
    goals.least("affine, M accesses/s per core", 300.0, rate(Affine));
    goals.least("irregular, M accesses/s per core", 100.0, rate(Irregular));
    goals.least("lock pairs, M events/s", 2.0, rate(Locks));
    goals.least("barriers, M events/s", 2.0, rate(Barriers));
    for kind in [Irregular, Naive, Locks, Barriers] {
        let what = format!("{}, two cores over one", kind.name());
        goals.least(&what, 1.7, largest(rows, kind, Row::scaling));
    }
    // Some programs call much and access little memory; the bytes of their blocks say nothing about bytes per access.
    let with_accesses = stored.iter().filter(|s| s.accesses >= 500_000);
    let bytes: Vec<f64> = with_accesses.map(Stored::bytes_per_access).collect();
    let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
    goals.most("programs, bytes of graph per access, mean", 0.25, mean);
    for kind in [Locks, Barriers] {
        let what = format!("{}, bytes of graph per event", kind.name());
        goals.most(&what, 16.0, largest(rows, kind, Row::bytes));
    }
    goals.most("open, ms, worst", 10.0, most(rows, |r| r.reading.open_ms));
    goals.most(
        "task by id, cold, ms, worst mean",
        10.0,
        most(rows, |r| r.reading.cold_ms),
    );
    goals.most(
        "task by id, warm, ms, worst mean",
        1.0,
        most(rows, |r| r.reading.warm_ms),
    );
    for kind in [Affine, Irregular, Naive] {
        let what = format!("{}, all accesses one by one, M/s", kind.name());
        goals.least(&what, 200.0, largest(rows, kind, |r| r.reading.scan));
    }
    let time = growth(rows, Irregular, |r| r.one.cpu / r.millions);
    let what = "irregular, time per access, largest over a tenth";
    goals.line(what, Some(0.9), Some(1.1), time);
    for kind in [Affine, Irregular, Naive] {
        let what = format!("{}, peak memory, largest over a tenth", kind.name());
        goals.most(&what, 1.1, growth(rows, kind, |r| r.one.peak_bytes as f64));
    }
    let peak = most(rows, |r| r.two.peak_bytes as f64 / 1e6);
    goals.most("peak memory, MB, worst", 512.0, peak);
    goals.0
}

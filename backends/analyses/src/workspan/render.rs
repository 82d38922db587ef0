//! How `workspan` looks in a terminal and in CSV.

use super::{Bound, Metric, Report, SiteRow};
use crate::view::page::cut;
use crate::view::units::{count, plural, ratio, share, time};
use crate::view::{Axis, Cell, Chart, Flame, Render, Series, Table, Unit, View};

/// Number of call sites that are shown in the terminal.
const SHOWN: usize = 20;
/// Numbers of processors that are shown in the terminal.
const PROCESSORS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.csv_table())
            .heading("Work and span")
            .line(self.sentence())
            .line(self.bottleneck_sentence());
        if let Some(what_if) = &self.what_if {
            view = view.line(format!(
                "If {}: work {}, span {}, parallelism {:.2} instead of {:.2}.",
                what_if.change,
                self.amount(what_if.work),
                self.amount(what_if.span),
                what_if.parallelism,
                self.parallelism
            ));
        }
        for note in &self.notes {
            view = view.line(note);
        }
        if !self.flame.is_empty() {
            view = view.chart(self.flames());
        }
        view = view
            .heading("Call sites on the span")
            .table(self.span_table().text_rows(SHOWN))
            .heading("Call sites on the work")
            .table(self.work_table().text_rows(SHOWN))
            .heading("Bounds of the speedup");
        if let Some(sentence) = self.measured_sentence() {
            view = view.line(sentence);
        }
        view.chart(self.bounds_chart()).table(self.bounds_table())
    }
}

impl Report {
    /// Work, span and parallelism in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.burden == 0 {
            return format!(
                "Work {}, span {}: parallelism {:.2}.",
                self.amount(self.work),
                self.amount(self.span),
                self.parallelism
            );
        }
        format!(
            "Work {}, span {}: parallelism {:.2}; {:.2} with {} for each task that moves to another processor.",
            self.amount(self.work),
            self.amount(self.span),
            self.parallelism,
            self.burdened_parallelism,
            self.amount(self.burden)
        )
    }

    /// The call site that holds the parallelism back.
    #[must_use]
    pub fn bottleneck(&self) -> Option<&SiteRow> {
        self.sites.first().filter(|site| site.on_span.local.span > 0)
    }

    /// The share of the span that is the bottleneck's own code.
    #[must_use]
    pub fn bottleneck_share(&self) -> f64 {
        self.bottleneck().map_or(0.0, |site| ratio(site.on_span.local.span, self.span))
    }

    /// The bottleneck in a sentence.
    #[must_use]
    pub fn bottleneck_sentence(&self) -> String {
        let Some(site) = self.bottleneck() else {
            return "Nothing was executed.".to_owned();
        };
        let caller =
            if site.caller.is_empty() { String::new() } else { format!(" from {}", site.caller) };
        let own = site.on_span.local.span;
        let top = site.on_span.top_call_site;
        let serial = if top.span > 0 && top.parallelism() < 1.1 {
            "with nothing parallel inside"
        } else {
            "in invocations that spawn"
        };
        format!(
            "{} of the span is the own code of {} ({} at {}{caller}), {serial}. As long as this code takes what it takes, the parallelism cannot pass {:.2}.",
            share(ratio(own, self.span)),
            site.callee,
            match site.kind {
                "spawn" => "spawned",
                _ => "called",
            },
            site.place(),
            ratio(self.work, own)
        )
    }

    pub(super) fn amount(&self, value: u64) -> String {
        match self.metric {
            Metric::Time => time(value),
            unit => format!("{} {}", count(value), unit.unit()),
        }
    }

    fn cell(&self, value: u64) -> Cell {
        match self.metric {
            Metric::Time => Cell::Time(value),
            _ => Cell::Count(value),
        }
    }

    fn span_table(&self) -> Table {
        Table::of(&self.sites)
            .text("call", "call", |site| site.callee.clone())
            .text("from", "from", |site| site.caller.clone())
            .text("place", "place", |site| site.place())
            .text("kind", "kind", |site| site.kind)
            .count("on span", "on span", |site| site.on_span.local.count)
            .cell("local T∞", "local T∞", |site| self.cell(site.on_span.local.span))
            .share("of span", "of span", |site| ratio(site.on_span.local.span, self.span))
            .cell("local T1", "local T1", |site| self.cell(site.on_span.local.work))
            .cell("T1", "T1", |site| self.cell(site.on_span.top_call_site.work))
            .cell("T∞", "T∞", |site| self.cell(site.on_span.top_call_site.span))
            .number("T1/T∞", "T1/T∞", |site| site.on_span.top_call_site.parallelism())
            .table()
    }

    fn work_table(&self) -> Table {
        let mut sites: Vec<&SiteRow> = self.sites.iter().collect();
        sites.sort_by_key(|site| std::cmp::Reverse(site.on_work.local.work));
        Table::of(sites)
            .text("call", "call", |site| site.callee.clone())
            .text("place", "place", |site| site.place())
            .count("count", "count", |site| site.count)
            .cell("top-call-site T1", "top-call-site T1", |site| {
                self.cell(site.on_work.top_call_site.work)
            })
            .cell("T∞", "T∞", |site| self.cell(site.on_work.top_call_site.span))
            .number("T1/T∞", "T1/T∞", |site| site.on_work.top_call_site.parallelism())
            .cell("top-caller T1", "top-caller T1", |site| self.cell(site.on_work.top_caller.work))
            .cell("T∞", "T∞", |site| self.cell(site.on_work.top_caller.span))
            .number("T1/T∞", "T1/T∞", |site| site.on_work.top_caller.parallelism())
            .cell("local T1", "local T1", |site| self.cell(site.on_work.local.work))
            .cell("T∞", "T∞", |site| self.cell(site.on_work.local.span))
            .table()
    }

    fn flames(&self) -> Chart {
        let boxes = self.flame.iter().map(|node| Flame {
            parent: node.parent,
            name: cut(&node.name),
            place: node.place.clone(),
            own: vec![node.work, node.span],
        });
        Chart::Flames {
            title: "Calling contexts by work and by span".to_owned(),
            names: vec!["work".to_owned(), "span".to_owned()],
            unit: match self.metric {
                Metric::Time => Unit::Time,
                _ => Unit::Count,
            },
            boxes: boxes.collect(),
        }
    }

    fn bounds_chart(&self) -> Chart {
        // Beyond a few times the parallelism the bounds are flat.
        let measured = self.measured.iter().flat_map(|m| &m.points);
        let measured: Vec<_> =
            measured.map(|point| (f64::from(point.threads), point.speedup.actual)).collect();
        let last = measured.last().map_or(0.0, |point| point.0);
        let most = (4.0 * self.parallelism).max(8.0).max(last);
        let series = |name: &str, of: fn(&Bound) -> f64| Series {
            name: name.to_owned(),
            points: self
                .bounds
                .iter()
                .filter(|bound| f64::from(bound.processors) <= most)
                .map(|bound| (f64::from(bound.processors), of(bound)))
                .collect(),
        };
        let mut curves = vec![
            series("processors", |bound| f64::from(bound.processors)),
            series("at most", |bound| bound.upper),
            series(
                if self.burden == 0 { "to expect" } else { "to expect, with burden" },
                |bound| bound.lower,
            ),
        ];
        if !measured.is_empty() {
            curves.push(Series { name: "measured".to_owned(), points: measured });
        }
        Chart::Lines {
            title: "Bounds of the speedup".to_owned(),
            x: Axis::new("processors", Unit::Count),
            y: Axis::new("speedup", Unit::Number),
            steps: false,
            series: curves,
        }
    }

    /// The measured speedup of so many threads.
    fn measured_at(&self, processors: u32) -> Option<f64> {
        let mut points = self.measured.iter().flat_map(|m| &m.points);
        let point = points.find(|point| point.threads == processors)?;
        Some(point.speedup.actual)
    }

    /// Compares the measured speedup of the largest number of threads with its bounds.
    fn measured_sentence(&self) -> Option<String> {
        let last = self.measured.as_ref()?.points.last()?;
        let (threads, actual) = (last.threads, last.speedup.actual);
        let bounds = self.bounds.iter();
        let bound = bounds.rev().find(|bound| bound.processors == threads)?;
        let verdict = if actual > 1.05 * bound.upper {
            "more than the bound allows: the recording is of another input or program, or ran with fewer threads (a loop \
             that one thread runs has no parallelism in it), or the baseline is slower than one thread"
        } else if actual < 0.9 * bound.lower {
            "less than the burden explains: contech scale names what else is lost"
        } else {
            "within what work and span let expect"
        };
        Some(format!(
            "Measured on {}: speedup {actual:.2}, of at most {:.2}, and {:.2} to expect with burden: {verdict}.",
            plural(u64::from(threads), "thread"),
            bound.upper,
            bound.lower
        ))
    }

    fn bounds_table(&self) -> Table {
        let measured = |bound: &Bound| self.measured_at(bound.processors);
        let shown =
            |bound: &&Bound| measured(bound).is_some() || PROCESSORS.contains(&bound.processors);
        let lower = if self.burden == 0 { "to expect" } else { "with burden" };
        let columns = Table::of(self.bounds.iter().filter(shown))
            .count("processors", "processors", |bound| bound.processors)
            .number("at most", "upper", |bound| bound.upper)
            .number(lower, "lower", |bound| bound.lower);
        if self.measured.is_none() {
            return columns.table();
        }
        let cell = |bound: &&Bound| measured(bound).map_or(Cell::Empty, Cell::Number);
        columns.cell("measured", "measured", cell).table()
    }

    /// The columns of Figure 2, and the other measurements after them.
    fn csv_table(&self) -> Table {
        let same = |name: &'static str, count: fn(&SiteRow) -> u64| (name, count);
        let mut columns = Table::of(&self.sites)
            .count("line", "line", |site| site.line)
            .text("file", "file", |site| site.file.clone())
            .text("caller", "caller", |site| site.caller.clone())
            .text("callee", "callee", |site| site.callee.clone())
            .text("kind", "kind", |site| site.kind)
            .count("count", "count", |site| site.count)
            .count("work_on_work", "work_on_work", |site| site.on_work.top_call_site.work)
            .count("span_on_work", "span_on_work", |site| site.on_work.top_call_site.span)
            .number("parallelism_on_work", "parallelism_on_work", |site| {
                site.on_work.top_call_site.parallelism()
            })
            .count("work_on_span", "work_on_span", |site| site.on_span.top_call_site.work)
            .count("span_on_span", "span_on_span", |site| site.on_span.top_call_site.span)
            .number("parallelism_on_span", "parallelism_on_span", |site| {
                site.on_span.top_call_site.parallelism()
            });
        for (name, count) in [
            same("local_work_on_span", |site| site.on_span.local.work),
            same("local_span_on_span", |site| site.on_span.local.span),
            same("top_caller_work_on_work", |site| site.on_work.top_caller.work),
            same("top_caller_span_on_work", |site| site.on_work.top_caller.span),
            same("local_work_on_work", |site| site.on_work.local.work),
            same("local_span_on_work", |site| site.on_work.local.span),
            same("count_on_span", |site| site.on_span.local.count),
            same("top_caller_work_on_span", |site| site.on_span.top_caller.work),
            same("top_caller_span_on_span", |site| site.on_span.top_caller.span),
        ] {
            columns = columns.count(name, name, |site| count(site));
        }
        columns.table()
    }
}

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
        self.sites
            .first()
            .filter(|site| site.on_span.local.span > 0)
    }

    /// The share of the span that is the bottleneck's own code.
    #[must_use]
    pub fn bottleneck_share(&self) -> f64 {
        self.bottleneck()
            .map_or(0.0, |site| ratio(site.on_span.local.span, self.span))
    }

    /// The bottleneck in a sentence.
    #[must_use]
    pub fn bottleneck_sentence(&self) -> String {
        let Some(site) = self.bottleneck() else {
            return "Nothing was executed.".to_owned();
        };
        let caller = if site.caller.is_empty() {
            String::new()
        } else {
            format!(" from {}", site.caller)
        };
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
                "loop" => "the loop",
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
        let columns = [
            "call",
            "from",
            "place",
            "kind",
            "on span",
            "local T∞",
            "of span",
            "local T1",
            "T1",
            "T∞",
            "T1/T∞",
        ];
        let rows = self.sites.iter().map(|site| {
            let top = site.on_span.top_call_site;
            [
                Cell::Text(site.callee.clone()),
                Cell::Text(site.caller.clone()),
                Cell::Text(site.place()),
                Cell::from(site.kind),
                Cell::Count(site.on_span.local.count),
                self.cell(site.on_span.local.span),
                Cell::Share(ratio(site.on_span.local.span, self.span)),
                self.cell(site.on_span.local.work),
                self.cell(top.work),
                self.cell(top.span),
                Cell::Number(top.parallelism()),
            ]
        });
        Table::titled(columns.map(str::to_owned)).rows(rows)
    }

    fn work_table(&self) -> Table {
        let mut sites: Vec<&SiteRow> = self.sites.iter().collect();
        sites.sort_by_key(|site| std::cmp::Reverse(site.on_work.local.work));
        let rows = sites.into_iter().map(|site| {
            let (top, caller) = (site.on_work.top_call_site, site.on_work.top_caller);
            [
                Cell::Text(site.callee.clone()),
                Cell::Text(site.place()),
                Cell::Count(site.count),
                self.cell(top.work),
                self.cell(top.span),
                Cell::Number(top.parallelism()),
                self.cell(caller.work),
                self.cell(caller.span),
                Cell::Number(caller.parallelism()),
                self.cell(site.on_work.local.work),
                self.cell(site.on_work.local.span),
            ]
        });
        let columns = [
            "call",
            "place",
            "count",
            "top-call-site T1",
            "T∞",
            "T1/T∞",
            "top-caller T1",
            "T∞",
            "T1/T∞",
            "local T1",
            "T∞",
        ];
        Table::titled(columns.map(str::to_owned)).rows(rows)
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
        let measured: Vec<_> = measured
            .map(|point| (f64::from(point.threads), point.speedup.actual))
            .collect();
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
                if self.burden == 0 {
                    "to expect"
                } else {
                    "to expect, with burden"
                },
                |bound| bound.lower,
            ),
        ];
        if !measured.is_empty() {
            curves.push(Series {
                name: "measured".to_owned(),
                points: measured,
            });
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
        let mut columns = vec![
            ("processors", "processors"),
            ("at most", "upper"),
            (
                if self.burden == 0 {
                    "to expect"
                } else {
                    "with burden"
                },
                "lower",
            ),
        ];
        if self.measured.is_some() {
            columns.push(("measured", "measured"));
        }
        let mut table = Table::new(&columns);
        for bound in &self.bounds {
            let measured = self.measured_at(bound.processors);
            if measured.is_none() && !PROCESSORS.contains(&bound.processors) {
                continue;
            }
            let mut row = vec![
                Cell::Count(u64::from(bound.processors)),
                Cell::Number(bound.upper),
                Cell::Number(bound.lower),
            ];
            if self.measured.is_some() {
                row.push(measured.map_or(Cell::Empty, Cell::Number));
            }
            table.row(row);
        }
        table
    }

    /// The columns of Figure 2, and the other measurements after them.
    fn csv_table(&self) -> Table {
        let names = [
            "line",
            "file",
            "caller",
            "callee",
            "kind",
            "count",
            "work_on_work",
            "span_on_work",
            "parallelism_on_work",
            "work_on_span",
            "span_on_span",
            "parallelism_on_span",
            "local_work_on_span",
            "local_span_on_span",
            "top_caller_work_on_work",
            "top_caller_span_on_work",
            "local_work_on_work",
            "local_span_on_work",
            "count_on_span",
            "top_caller_work_on_span",
            "top_caller_span_on_span",
        ];
        let rows = self.sites.iter().map(|site| {
            let (work, span) = (site.on_work, site.on_span);
            [
                Cell::Count(u64::from(site.line)),
                Cell::Text(site.file.clone()),
                Cell::Text(site.caller.clone()),
                Cell::Text(site.callee.clone()),
                Cell::from(site.kind),
                Cell::Count(site.count),
                Cell::Count(work.top_call_site.work),
                Cell::Count(work.top_call_site.span),
                Cell::Number(work.top_call_site.parallelism()),
                Cell::Count(span.top_call_site.work),
                Cell::Count(span.top_call_site.span),
                Cell::Number(span.top_call_site.parallelism()),
                Cell::Count(span.local.work),
                Cell::Count(span.local.span),
                Cell::Count(work.top_caller.work),
                Cell::Count(work.top_caller.span),
                Cell::Count(work.local.work),
                Cell::Count(work.local.span),
                Cell::Count(span.local.count),
                Cell::Count(span.top_caller.work),
                Cell::Count(span.top_caller.span),
            ]
        });
        Table::titled(names.map(str::to_owned)).rows(rows)
    }
}

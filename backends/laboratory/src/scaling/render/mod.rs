//! The form of the analysis: sentences, tables, factored speedup plot, stacked factors, speedup
//! stacks, activity.

mod activity;
mod factors;
mod speedups;
mod stacks;

use super::ratio::seconds;
use super::report::{Analysed, Report};
use crate::view::units::share;
use crate::view::{Render, View};

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default();
        for note in &self.notes {
            view = view.line(format!("Note: {note}"));
        }
        view = self.say(view);
        view = self.speedups(view);
        view = self.factors(view);
        view = self.stacks(view);
        self.activity(view)
    }
}

impl Report {
    /// The result in one sentence.
    #[must_use]
    pub fn headline(&self) -> String {
        let Some(point) = self.chosen() else {
            return "Nothing was measured.".to_owned();
        };
        let speedup = format!(
            "{:.2} times as fast with {} threads as {}",
            point.speedup.actual,
            point.threads,
            if self.has_baseline { "the baseline" } else { "with one" }
        );
        match self.findings.first() {
            Some(first) if first.cause != "scales" => {
                // Only the first sentence: a finding may have more.
                let end = first.text.find(". ").map_or(first.text.len(), |at| at + 1);
                format!("{speedup}. {}", &first.text[..end])
            }
            _ => format!("{speedup}: it scales."),
        }
    }

    /// The numbers that the page shows first.
    #[must_use]
    pub fn tiles(&self) -> Vec<(&'static str, String)> {
        let Some(point) = self.chosen() else {
            return Vec::new();
        };
        vec![
            ("threads", point.threads.to_string()),
            ("baseline", seconds(self.baseline)),
            ("one thread", seconds(point.t_1)),
            ("time", seconds(point.t)),
            ("speedup", format!("{:.2}", point.speedup.actual)),
            ("work", share(point.factors.work)),
            ("distribution", share(point.factors.distribution.total())),
            ("delay", percent(point.factors.delay.total())),
            ("spread of runs", share(point.t_spread)),
        ]
    }

    /// The sections of a page, each with its word for the menu.
    pub(crate) fn sections(&self) -> [(&'static str, &'static str, View); 4] {
        let view = View::default;
        [
            ("speedups", "Speedups", self.speedups(view())),
            ("factors", "Factors", self.factors(view())),
            ("stacks", "Speedup stacks", self.stacks(view())),
            ("activity", "Activity", self.activity(view())),
        ]
    }

    fn say(&self, view: View) -> View {
        let mut view = view
            .heading(format!("Why it does not scale ({} threads)", self.findings_at))
            .line_in_text("");
        for finding in &self.findings {
            view = view
                .line_in_text(format!("{}. {}", finding.rank, finding.text))
                .line_in_text(format!("   Next: {}", finding.advice));
        }
        view.line_in_text("")
    }

    fn chosen(&self) -> Option<&Analysed> {
        self.points.iter().find(|point| point.threads == self.findings_at)
    }
}

/// A share that may be negative.
fn percent(part: f64) -> String {
    let sign = if part < 0.0 { "-" } else { "" };
    format!("{sign}{}", share(part.abs()))
}

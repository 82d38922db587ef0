//! What `contech run` says of a run: about a screen of lines, none of which says what another one
//! has said.
//!
//! The answer comes at once, and what the models of caches know comes later. So the first sentence
//! does not judge what only the models can.

use super::program::Program;
use crate::account::{self, Row};
use crate::analysis::{self, Graph};
use crate::report::PageData;
use crate::view::Screen;
use crate::view::screen::{hanging, message, remark, tell};
use crate::view::units::{plural, share, time};

/// Lines of a run, if they have [`COLUMNS`]: narrower ones are more.
const LINES: usize = 15;
const COLUMNS: usize = 80;
/// Lines that are kept for what comes last: where the results are.
const LAST: usize = 2;
/// Lines that are kept for what the models know.
const MODELS: usize = 4;
/// The least share of a loss that is told.
const WORTH: f64 = 0.01;
/// What was told is told again if it brings so many times as much.
const GREW: f64 = 1.25;
/// Findings beside the account, the most important first.
const OTHERS: [&str; 4] = ["races", "unrecorded", "spawns", "bottleneck"];

/// What has been said of a run.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Lines that may still be written.
    left: usize,
    /// The losses that were known without the models, and those that have been told.
    known: Vec<Row>,
    told: Vec<Row>,
    warned: Vec<String>,
    /// Whether it was said where the time went.
    pub(super) begun: bool,
    /// Whether a sample told it.
    sampled: bool,
    /// Whether the verdict waits for the models.
    open: bool,
    /// Losses and findings for which no line was left.
    hidden: usize,
}

impl Answer {
    /// Says how the program ended.
    pub(super) fn begin(program: &Program) -> Self {
        let left = LINES.max(LINES * COLUMNS / Screen::stderr().width);
        let mut answer = Self { left, ..Self::default() };
        answer.say(&format!("{} {}", program.name, program.outcome()));
        answer
    }

    /// Says what is wrong with a graph, but nothing twice.
    pub(super) fn warn(&mut self, graph: &Graph) {
        for warning in analysis::warnings(graph) {
            if !self.warned.contains(&warning) {
                self.say(&format!("warning: {warning}"));
                self.warned.push(warning);
            }
        }
    }

    /// Says where the time went, as far as order and times tell. What a sample told is not told
    /// again. `whole` says that the graph has all that was executed.
    pub(super) fn first(&mut self, graph: &Graph, account: &account::Report, whole: bool) {
        if self.begun {
            return;
        }
        (self.begun, self.sampled) = (true, !whole);
        let summary = graph.summary();
        let mut amounts = vec![
            plural(account.contexts, "context"),
            plural(summary.tasks.total(), "task"),
            plural(summary.edges, "edge"),
        ];
        if whole {
            amounts.push(plural(summary.blocks, "block execution"));
            amounts.push(plural(summary.accesses, "access"));
        }
        self.say(&amounts.join(", "));
        self.known.clone_from(&account.losses);
        // Models look into the accesses, and may find that there is much to gain.
        self.open = account.gains_little() && summary.accesses > 0;
        if self.open {
            self.say(&account.use_of_time());
        } else {
            self.say(&account.sentence());
            self.told.extend(account.losses.first().cloned());
            self.losses(account, LAST + MODELS);
        }
    }

    /// Says what several runs agree on.
    pub(super) fn repeats(&mut self, first: &account::Report, others: &[account::Report]) {
        if !others.is_empty() {
            let runs = [std::slice::from_ref(first), others].concat();
            self.say(&account::agreement(&runs));
        }
    }

    /// Says what the models add, and what is not about time.
    pub(super) fn rest(&mut self, data: &PageData) {
        let account = &data.account;
        let first = account.losses.first();
        let modelled = first.filter(|row| row.share >= WORTH && !self.has(&self.known, row));
        let more = |row: &&Row| {
            let told = self.told.first();
            told.is_some_and(|told| told.promise() < row.promise() && !self.has(&self.told, row))
        };
        let more = first.filter(more).is_some();
        // What was told first, but with more of it.
        let grown = first.filter(|row| {
            let told = self.told.first().and_then(Row::promise);
            let grew = told.zip(row.promise());
            self.has(&self.told, row) && grew.is_some_and(|(told, now)| now > told * GREW)
        });
        match (modelled, account.verdict()) {
            (Some(row), _) if !account.gains_little() => {
                let models = match more {
                    true => "This brings more: models of the caches",
                    false => "Models of the caches",
                };
                let models = format!("{models} say what the program lost while it ran:");
                self.say(&format!("{models} {}", row.sentence()));
                self.told.push(row.clone());
            }
            _ if let Some(row) = grown => {
                let found = row.sentence();
                self.say(&format!("Models of the caches say that it costs more: {found}"));
            }
            (_, Some(verdict)) if more => {
                self.say(&format!("All of the run says another thing than its sample. {verdict}"));
                self.told.extend(first.cloned());
            }
            (_, Some(verdict)) if self.open => {
                self.say(&verdict);
                self.told.extend(first.cloned());
            }
            _ => {}
        }
        if !data.estimates.is_empty() {
            self.say("A part of the accesses was looked at (the report says which); --exact looks at all.");
        }
        self.hidden = 0;
        for cause in OTHERS {
            for finding in data.findings.iter().filter(|finding| finding.cause == cause) {
                let text = format!("contech: {}", finding.text);
                self.if_there_is_room(LAST, |width| message(&text, width));
            }
        }
        self.losses(account, LAST);
    }

    /// How many losses and findings only the report has, in words.
    pub(super) fn hidden(&self) -> String {
        match self.hidden {
            0 => String::new(),
            more => format!("  (with {})", plural(more as u64, "more finding")),
        }
    }

    /// The losses that were not told, one per line.
    fn losses(&mut self, account: &account::Report, keep: usize) {
        let losses = account.losses.iter().filter(|row| row.share >= WORTH);
        for loss in losses.collect::<Vec<_>>() {
            if self.has(&self.told, loss) {
                continue;
            }
            let begin = format!("contech: {:>7} {:>8}  ", share(loss.share), time(loss.ns));
            let what = format!("{}{}", loss.cause.name(), loss.places());
            if self.if_there_is_room(keep, |width| hanging(&begin, &what, width)) {
                self.told.push(loss.clone());
            }
        }
    }

    /// Says something that must be said.
    pub(super) fn say(&mut self, text: &str) {
        self.left = self.left.saturating_sub(remark(&format!("contech: {text}")));
    }

    /// Writes lines if as many as are to be kept are left after them.
    fn if_there_is_room(&mut self, keep: usize, lines: impl Fn(usize) -> Vec<String>) -> bool {
        let screen = Screen::stderr();
        let lines = lines(screen.width);
        let room = self.left >= lines.len() + keep;
        match room {
            true => {
                tell(&lines, screen);
                self.left -= lines.len();
            }
            false => self.hidden += 1,
        }
        room
    }

    /// Whether these rows have the loss. Its time may be another when models know more, and which
    /// of several lines takes most of it, when a sample is all that was known.
    fn has(&self, rows: &[Row], loss: &Row) -> bool {
        let same =
            |row: &Row| row.wait == loss.wait && self.sampled || row.places() == loss.places();
        rows.iter().any(|row| row.cause == loss.cause && same(row))
    }
}

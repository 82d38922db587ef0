//! The account as text and on the page.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Loss, Report, Row};
use crate::analysis::source::Place;
use crate::view::chart::Part;
use crate::view::units::{plural, ratio, share, time};
use crate::view::{Axis, Cell, Chart, Render, Table, Unit, View, names};

/// Who would make a run only so many times as fast gains little.
const LITTLE: f64 = 1.05;
/// A gain of so many times what the loss's share of the time says needs a reason.
const BEYOND: f64 = 1.5;
/// A run that uses a smaller part of the processors loses much.
const USEFUL: f64 = 0.8;
/// A recorded run that took longer than its replay by more than one part in so many had not the
/// processors it needed.
const BUSY: u64 = 5;
/// Code that was not recorded and takes a smaller part of the processors' time is not told of.
const UNRECORDED: f64 = 0.1;
/// If it takes this part, little can be said of the whole.
const HIDDEN: f64 = 0.5;
/// Functions of the C library that keep a state for all threads, behind a lock of their own, and
/// call the system for nothing else.
const LOCKED_INSIDE: [&str; 4] = ["rand", "random", "srand", "srandom"];
/// The same for the time zone. It is the lock of the functions with `_r`, too.
const TIME_ZONE: [&str; 7] =
    ["ctime", "ctime_r", "gmtime", "gmtime_r", "localtime", "localtime_r", "mktime"];
/// Functions that wait for time to pass.
const SLEEPS: [&str; 5] = ["clock_nanosleep", "nanosleep", "sleep", "thrd_sleep", "usleep"];
/// A run shorter than this says little: starting a thread takes a tenth of it.
const SHORT_NS: u64 = 1_000_000;

impl Report {
    /// The run in one sentence, with what cost most.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self.verdict() {
            Some(verdict) => format!("{} {verdict}", self.use_of_time()),
            None => self.use_of_time(),
        }
    }

    /// How much of the processors' time ran the program, in a sentence, and what one must know to
    /// read it.
    #[must_use]
    pub fn use_of_time(&self) -> String {
        if self.total_ns == 0 {
            return "Nothing was recorded: no code that contech-cc compiled ran, or the program was killed before it wrote what it did.".to_owned();
        }
        let used = share(ratio(self.useful_ns, self.total_ns));
        let processors = plural(self.processors.into(), "processor");
        let own = self.replayed_ns;
        let duration = time(own);
        let unrecorded = self.in_unrecorded().unwrap_or_default();
        let begin = format!(
            "{processors} for {duration}: {used} of their time ran the program{unrecorded}."
        );
        let mut begin = format!("{}{begin}", self.busy());
        if own < SHORT_NS {
            begin = format!("A run of {duration} is too short to judge a program by. {begin}");
        }
        if self.contexts == 1 && self.processors > 1 {
            begin = format!("The program ran in one thread. {begin}");
        }
        begin
    }

    /// What cost most, in a sentence, if anything was recorded and lost.
    #[must_use]
    pub fn verdict(&self) -> Option<String> {
        let most = self.losses.first().filter(|_| self.total_ns > 0)?;
        Some(if most.cause.is_given() {
            format!("The program lost nothing by itself. {}", most.sentence())
        } else if self.gains_little() && self.loses_much() {
            let two = self.predicted.without_two;
            let both = match two >= LITTLE {
                true => format!(" Without the first two, it would be {two:.1} times as fast."),
                false => String::new(),
            };
            format!("No loss brings much alone.{both} The first: {}", most.sentence())
        } else if self.gains_little() {
            let little = match self.hides_much() {
                true => {
                    "What the code loses that was not recorded is not known. Beside that there is little to gain"
                }
                false => "There is little to gain",
            };
            format!(
                "{little}: the largest loss that the program could avoid is {} ({}), {}{}.",
                share(most.share),
                time(most.ns),
                most.words(),
                most.places()
            )
        } else {
            most.sentence()
        })
    }

    /// Whether the run would hardly be faster without any one loss.
    #[must_use]
    pub fn gains_little(&self) -> bool {
        self.losses.iter().all(Row::gains_little)
    }
}

impl Report {
    /// Whether a part of the processors' time that counts ran nothing.
    fn loses_much(&self) -> bool {
        ratio(self.useful_ns, self.total_ns) < USEFUL
    }

    /// The share of the time in code that was not recorded.
    fn unrecorded_share(&self) -> f64 {
        let ns = self.unrecorded.as_ref().map_or(0, |of| of.ns);
        ratio(ns, self.total_ns)
    }

    /// Whether so much of the time is in code that was not recorded that what it loses could be
    /// most of all.
    fn hides_much(&self) -> bool {
        self.unrecorded_share() >= HIDDEN
    }

    /// How much of the time ran code that was not recorded, if that was much.
    fn in_unrecorded(&self) -> Option<String> {
        let of = self.unrecorded.as_ref()?;
        let part = self.unrecorded_share();
        (part >= UNRECORDED).then(|| {
            format!(
                ", {} code that was not recorded (most of it {}, called {})",
                share(part),
                names::spoken(&of.callee),
                of.code.located()
            )
        })
    }

    /// What kept the program from its processors, if that was much.
    fn busy(&self) -> String {
        let paused = self.recording_ns / u64::from(self.processors.max(1));
        let busy = self.duration_ns.saturating_sub(self.replayed_ns.saturating_add(paused));
        let mut text = String::new();
        if busy > self.replayed_ns / BUSY {
            let _ = write!(
                text,
                "The recorded run took {}: the machine was busy, or threads that waited went on late. The account is of the same run on processors of its own. ",
                time(self.duration_ns)
            );
        }
        if paused > self.replayed_ns / 20 {
            let _ = write!(
                text,
                "The recording made the program wait for {}, which does not count. ",
                time(paused)
            );
        }
        text
    }

    /// All processor time as one bar.
    fn bar(&self) -> Chart {
        let part = |name: &str, ns: u64| Part {
            name: name.to_owned(),
            values: vec![ratio(ns, self.total_ns)],
        };
        let mut parts = vec![part("running", self.useful_ns)];
        let mut causes: BTreeMap<Loss, u64> = BTreeMap::new();
        for row in &self.losses {
            *causes.entry(row.cause).or_default() += row.ns;
        }
        let small = self.total_ns / 200;
        let rest = causes.values().filter(|&&ns| ns < small).sum();
        let mut losses: Vec<_> = causes.into_iter().filter(|&(_, ns)| ns >= small).collect();
        losses.sort_by_key(|&(cause, ns)| std::cmp::Reverse((ns, cause)));
        let shown = losses.into_iter();
        parts.extend(shown.map(|(cause, ns)| part(cause.name(), ns)));
        parts.extend((rest > 0).then(|| part("other losses", rest)));
        Chart::Stacks {
            title: "Processor time".to_owned(),
            x: "processors".to_owned(),
            y: Axis::new("share of processor time", Unit::Share),
            names: vec![self.processors.to_string()],
            parts,
        }
    }
}

impl Row {
    /// The loss in a sentence: how much, why, where.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "{} ({}) went to {}{}. {}{}",
            share(self.share),
            time(self.ns),
            self.words(),
            self.places(),
            self.advice(),
            self.gain()
        )
    }

    /// What the time went to, in words.
    #[must_use]
    pub fn words(&self) -> Cow<'static, str> {
        match (self.cause, self.room) {
            (Loss::Scheduling, _) if self.threads => {
                "making and ending threads that do very little each".into()
            }
            (Loss::Producer, Some(places)) => {
                let places = plural(places, "place");
                format!("waiting for room in a queue that has {places}").into()
            }
            (Loss::System, _) if self.is_locked_inside() => {
                "waiting for the lock inside a library's function, of which all threads use one state"
                    .into()
            }
            (cause, _) => cause.words().into(),
        }
    }

    /// Whether the function that calls the system does so only to wait for a lock of its own.
    fn is_locked_inside(&self) -> bool {
        self.calls(&LOCKED_INSIDE) || self.calls(&TIME_ZONE)
    }

    fn calls(&self, functions: &[&str]) -> bool {
        self.callee.as_deref().is_some_and(|callee| functions.contains(&callee))
    }

    /// What to try.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self.cause {
            Loss::Scheduling if self.threads => {
                "Keep as many threads as there are processors, and let them take one piece after the other."
            }
            Loss::Producer if self.room.is_some() => {
                "Give the queue more places: one side works on while the other one takes longer for once."
            }
            Loss::System if self.calls(&TIME_ZONE) => {
                "Convert once and keep the result, or compute in UTC without the library."
            }
            Loss::System if self.is_locked_inside() => {
                "Give each thread a state of its own: a generator of the program's own, or the function whose name ends in _r."
            }
            Loss::Io if self.calls(&SLEEPS) && self.lock.is_none() => {
                "Be woken by a condition or a semaphore when there is something to do, instead of sleeping and looking again."
            }
            _ if self.lock.is_some() => "Give the lock back before, and take it again after.",
            cause => cause.advice(),
        }
    }

    /// Whether the run would be hardly faster without the loss, or cannot be without it.
    fn gains_little(&self) -> bool {
        self.cause.is_given() || self.mended.first().is_some_and(|&gain| gain < LITTLE)
    }

    /// How many times as fast the run would be without the loss; `None` if that is not worth a
    /// word.
    #[must_use]
    pub fn promise(&self) -> Option<f64> {
        let gain = self.mended.first().copied();
        gain.filter(|&gain| gain >= LITTLE && !self.cause.is_given())
    }

    /// What it would bring to be without the loss, as a sentence. Where that is more than the
    /// loss's share says, the reason is told.
    fn gain(&self) -> String {
        let Some(gain) = self.promise() else {
            return String::new();
        };
        let most = self.at_most.filter(|_| self.repeats.is_none());
        let times = match (gain, most) {
            (100.0.., _) => "more than 100".to_owned(),
            (_, Some(most)) if most >= gain + 0.1 => format!("{gain:.1} to {most:.1}"),
            _ => format!("{gain:.1}"),
        };
        let repeats = self.repeats;
        let repeats = repeats.map_or_else(String::new, |repeats| repeats.words());
        let beside = gain * (1.0 - self.share);
        let why = match self.cause {
            Loss::Scheduling if beside > BEYOND => {
                ", by the instructions of the pieces: recording slows these more than it slows handing them out"
            }
            Loss::Scheduling if beside * BEYOND < 1.0 => {
                ", by the instructions of the pieces: recording slows handing them out more than it slows these"
            }
            _ => "",
        };
        let without = match self.lock {
            Some(_) => "Then",
            None => "Without it,",
        };
        format!(" {without} the run would be {times} times as fast{repeats}{why}.")
    }

    /// `, waited for in pop (q.c:3), while make (q.c:9) ran`.
    #[must_use]
    pub fn places(&self) -> String {
        let mut text = String::new();
        if let Some(wait) = known(self.wait.as_ref()) {
            let _ = write!(text, ", waited for {}", wait.located());
            if let Some(inner) = known(self.inner.as_ref()) {
                let _ = write!(text, ", there {}", inner.located());
            }
            if let Some(lock) = known(self.lock.as_ref()) {
                let _ = write!(text, ", with a lock that others wait for {}", lock.located());
            }
        }
        if let Some(code) = known(self.code.as_ref()) {
            let meanwhile = match self.part {
                _ if self.wait.is_some() => ", meanwhile".to_owned(),
                _ if self.cause == Loss::Bound => ", bound".to_owned(),
                Some(part) if part < 0.5 => format!(", {} of it", share(part)),
                _ => ", most of it".to_owned(),
            };
            let callee = self.callee.as_deref().filter(|_| self.wait.is_none());
            let callee = callee
                .map(names::spoken)
                .map_or_else(String::new, |callee| format!("{callee}, called "));
            let _ = write!(text, "{meanwhile} {callee}{}", code.located());
            let above = self.callers.iter().skip_while(|caller| *caller == code);
            for (at, caller) in above.enumerate() {
                let called = if at == 0 { "called " } else { "" };
                let _ = write!(text, ", {called}{}", caller.located());
            }
        }
        text
    }

    /// The place that has to change: the place of the code, of its caller if it is a library's, or
    /// of the wait if nothing else is known.
    #[must_use]
    pub fn place(&self) -> String {
        let library = self.code.as_ref().filter(|code| code.is_library());
        let own = library.and(self.callers.first());
        let place = own.or(known(self.code.as_ref())).or(known(self.wait.as_ref()));
        place.map_or_else(String::new, Place::short)
    }
}

fn known(place: Option<&Place>) -> Option<&Place> {
    place.filter(|place| place.is_known())
}

impl Render for Report {
    fn view(&self) -> View {
        // The program, and what was lost.
        let rows = std::iter::once(None).chain(self.losses.iter().map(Some));
        let used = ratio(self.useful_ns, self.total_ns);
        let table = Table::of(rows)
            .text("cause", "cause", |row| row.map_or("the program", |row| row.cause.name()))
            .time("processor time", "ns", |row| row.map_or(self.useful_ns, |row| row.ns))
            .share("share", "share", |row| row.map_or(used, |row| row.share))
            .cell("speedup without it", "without", |row| {
                let gain = row.and_then(|row| row.mended.first());
                gain.map_or(Cell::Empty, |&gain| Cell::Number(gain))
            })
            .cell("where", "where", |row| {
                let places = row.map(Row::places);
                let places = places.as_deref().map(|all| all.strip_prefix(", ").unwrap_or(all));
                places.map_or(Cell::Empty, |all| Cell::Text(all.to_owned()))
            })
            .table();
        let view = View::default().heading("Where the processors' time went").line(self.sentence());
        let said = self.pop.as_ref().map(super::Pop::sentence);
        let said = said.into_iter().chain(self.grain.map(super::Grain::sentence));
        let view = said.fold(view, View::line);
        view.table(table.text_rows(12)).chart(self.bar())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Unrecorded;

    #[test]
    fn a_gain_beyond_the_share_has_its_reason() {
        let row = |gain| Row { share: 0.55, mended: vec![gain], ..Row::of(Loss::Scheduling) };
        assert!(row(2.2).gain().ends_with("2.2 times as fast."));
        let said = row(56.6).gain();
        assert!(said.contains("56.6 times as fast, by the instructions"), "{said}");
        assert!(row(900.0).gain().contains("more than 100 times"));
    }

    #[test]
    fn what_is_less_than_half_of_a_loss_is_not_most_of_it() {
        let code = Place { function: "pop".to_owned(), file: "q.c".to_owned(), line: 3 };
        let said = |part| {
            let row = Row { code: Some(code.clone()), part, ..Row::of(Loss::Serial) };
            row.places()
        };
        assert_eq!(said(Some(0.15)), ", 15% of it in pop (q.c:3)");
        assert_eq!(said(Some(0.6)), ", most of it in pop (q.c:3)");
        assert_eq!(said(None), ", most of it in pop (q.c:3)");
    }

    #[test]
    fn little_is_said_of_a_run_whose_code_was_not_recorded() {
        let verdict = |ns| {
            let of = Unrecorded { ns, code: Place::default(), callee: "rand".to_owned() };
            let report = Report {
                total_ns: 100,
                useful_ns: 98,
                unrecorded: Some(of),
                losses: vec![Row { mended: vec![1.01], ..Row::of(Loss::System) }],
                ..Report::default()
            };
            report.verdict().expect("something is lost")
        };
        assert!(verdict(20).starts_with("There is little to gain: "));
        let said = verdict(90);
        assert!(said.contains("not known. Beside that there is little to gain: "), "{said}");
    }
}

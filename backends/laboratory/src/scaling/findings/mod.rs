//! The diagnosis in words: what the time was lost to, the largest loss first, where, and what to
//! try next.

mod imbalance;
mod inflation;

use std::fmt::Write as _;

use contech_observation::{State, Wait};

use super::account::Account;
use super::measurement::{Phase, Run, middle};
use super::ratio::{over, seconds};
use super::refinement;
use super::report::{Analysed, Finding, Report};
use crate::view::units::{count, share as percent, time};

/// Losses below this share of the processors' time get no sentence.
const WORTH: f64 = 0.02;

/// The number of threads that the findings are about, and the findings. It is the largest number
/// for which each thread had a processor.
pub(super) fn find(report: &Report) -> (u32, Vec<Finding>) {
    let parallel = || report.points.iter().filter(|point| point.threads > 1);
    let chosen = parallel()
        .filter(|point| !point.oversubscribed)
        .max_by_key(|point| point.threads)
        .or_else(|| parallel().min_by_key(|point| point.threads))
        .or_else(|| report.points.first());
    let Some(point) = chosen else {
        return (0, Vec::new());
    };
    let mut findings = Diagnosis::new(report, point).all();
    findings.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
    if findings.is_empty() {
        findings.push(Finding {
            cause: "scales".to_owned(),
            share: point.factors.work,
            text: format!(
                "{} of the time of {} processors is work: nothing else takes {} or more of it.",
                percent(point.factors.work),
                point.threads,
                percent(WORTH)
            ),
            advice: "Try more threads or a larger input.".to_owned(),
            ..Finding::default()
        });
    }
    for (at, finding) in findings.iter_mut().enumerate() {
        finding.rank = at + 1;
    }
    (point.threads, findings)
}

/// The most that a lock, and keeping its data consistent, can cost; a larger overhead has other
/// reasons.
const LOCK_NS: f64 = 250.0;
/// If making tasks takes more than this part of the time that is not waited, the tasks are too
/// small.
const SMALL_TASKS: f64 = 0.25;

struct Diagnosis<'a> {
    report: &'a Report,
    point: &'a Analysed,
    /// The median run at this point, and the one with one thread.
    run: Option<&'a Run>,
    one: Option<&'a Run>,
}

impl<'a> Diagnosis<'a> {
    fn new(report: &'a Report, point: &'a Analysed) -> Self {
        let run = |threads: u32| {
            let points = &report.measurement.points;
            middle(&points.iter().find(|point| point.threads == threads)?.runs)
        };
        Self { report, point, run: run(point.threads), one: run(1) }
    }

    fn all(&self) -> Vec<Finding> {
        let (account, delay) = (&self.point.account, &self.point.factors.delay);
        let distribution = &self.point.factors.distribution;
        let of = |ns: f64| over(ns, account.total());
        let worth = |share: f64| share >= WORTH;
        let mut all = Vec::new();
        let overhead = delay.overhead - self.not_elided();
        all.extend(worth(overhead).then(|| self.overhead(overhead)));
        let scheduling = distribution.scheduling + self.not_elided();
        all.extend(worth(scheduling).then(|| self.scheduling()));
        all.extend(worth(distribution.serialization).then(|| self.serialization()));
        let imbalance = self.without_work() - self.starved();
        all.extend(worth(imbalance).then(|| self.imbalance(imbalance)));
        let (lock, spin, message) = (of(account.lock), of(account.spin), of(account.message));
        all.extend(worth(lock).then(|| self.waits(State::Lock, lock)));
        all.extend(worth(spin).then(|| self.waits(State::Spin, spin)));
        all.extend(worth(message).then(|| self.waits(State::Message, message)));
        all.extend(worth(delay.inflation.abs()).then(|| self.inflation()));
        all.extend(self.unused());
        merged(all)
    }

    /// The share of time in which processors had no work within parallel phases and no thread
    /// waited for a lock or a message.
    fn without_work(&self) -> f64 {
        let account = &self.point.account;
        let ns = account.barrier + account.condition + account.unoccupied;
        over(ns, account.total())
    }

    fn of_all(&self, share: f64) -> String {
        format!("{} of the time of {} processors", percent(share), self.point.threads)
    }

    fn name(&self, place: usize) -> String {
        self.report.measurement.place(place)
    }

    /// The phase that has the most of something, and its share of the whole.
    fn phase(&self, of: impl Fn(Account) -> f64) -> Option<(&'a Phase, f64)> {
        let run = self.run?;
        let of = |phase: &'a Phase| (phase, of(self.account_of(phase)));
        let all: Vec<_> = self.phases(run).map(of).collect();
        let sum: f64 = all.iter().map(|(_, ns)| ns.max(0.0)).sum();
        let (phase, most) = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (most > 0.0).then(|| (phase, over(most, sum)))
    }

    fn account_of(&self, phase: &Phase) -> Account {
        Account::of_stretch(&phase.times, phase.wall_ns, self.point.threads)
    }

    /// The parallel phases.
    fn phases<'r>(&self, run: &'r Run) -> impl Iterator<Item = &'r Phase> + use<'r> {
        let processors = self.point.threads;
        run.phases.iter().filter(move |phase| phase.parallel(processors))
    }

    fn wait(&self, state: State) -> Option<(&'a Wait<usize>, f64)> {
        let waits = &self.run?.waits;
        let of_state = || waits.iter().filter(|wait| wait.state == state);
        let sum: u64 = of_state().map(|wait| wait.ns).sum();
        let most = of_state().max_by_key(|wait| wait.ns)?;
        Some((most, over(most.ns as f64, sum as f64)))
    }

    fn place_of(&self, state: State) -> String {
        self.wait(state).map(|(wait, _)| self.name(wait.place)).unwrap_or_default()
    }

    fn overhead(&self, share: f64) -> Finding {
        let (t_1, t_s) = (self.point.t_1, self.report.baseline);
        let mut text = format!(
            "{} is overhead of the parallel algorithm: on one processor it takes {} where the baseline takes {} \
             (the runtime's own work not counted)",
            self.of_all(share),
            seconds(t_1),
            seconds(t_s)
        );
        // Locks cost time even if nobody else wants them.
        let locks = self.one.map_or(0, |run| run.locks);
        if over((t_1 - t_s) * 1e9, locks as f64) <= LOCK_NS && locks > 0 {
            let place = self.place_of(State::Lock);
            let _ = write!(
                text,
                "; it takes locks about {} times, one every {}{}, which costs time when they are free, too.",
                count(locks),
                seconds(t_1 / locks as f64),
                at(&place)
            );
            let advice = "Take locks for more at once, or arrange the work so that no two threads write the same data \
                          (colours, partitions, copies).";
            return finding("lock", place, share, text, advice);
        }
        text.push('.');
        let advice = "Make the sequential pieces larger (cut-off, grain) or their code as good as the baseline's.";
        finding("overhead", String::new(), share, text, advice)
    }

    fn scheduling(&self) -> Finding {
        let phase = self.phase(|account| account.scheduling).map(|(phase, _)| phase);
        let place = phase.map(|phase| self.name(phase.place)).unwrap_or_default();
        let (starved, not_elided) = (self.starved(), self.not_elided());
        let making = self.point.factors.distribution.scheduling;
        let share = making + starved + not_elided;
        let parts = [
            (making, "in making them"),
            (starved, "in waiting for those that make them"),
            (not_elided, "in code that the elision does without"),
        ];
        let parts = parts.iter().enumerate().filter(|(at, part)| *at == 0 || part.0 > 0.0);
        let parts: Vec<_> =
            parts.map(|(_, (share, what))| format!("{} {what}", percent(*share))).collect();
        let detail =
            if parts.len() > 1 { format!(" ({})", parts.join(", ")) } else { String::new() };
        let text = format!(
            "{} goes into making tasks and threads and handing out work{}{detail}{}.",
            self.of_all(share),
            at(&place),
            phase.map(pieces).unwrap_or_default()
        );
        let advice = "Make fewer and larger tasks: a larger cut-off, grain or chunk; see whether imbalance stays small.";
        let refined = phase.map(|phase| self.refined(phase, true)).unwrap_or_default();
        finding("scheduling", place, share, text, &format!("{advice}{refined}"))
    }

    /// The part of the overhead that the sequential elision does not have: the cost of tasks in
    /// addition to the runtime's own work (work inflation, section 2.8: S_1 is about T_1 -
    /// T_elision).
    fn not_elided(&self) -> f64 {
        let all = self.point.account.total();
        let overhead = self.point.factors.delay.overhead;
        let (Some(elision), true) = (self.report.elision, overhead > 0.0) else {
            return 0.0;
        };
        // The time of the program's own code on one processor, as a share of all, less the elision.
        let own = overhead + over(self.report.baseline * 1e9, all);
        let more = (own - over(elision * 1e9, all)).clamp(0.0, overhead);
        if more >= WORTH { more } else { 0.0 }
    }

    /// What partition refinement (deconstructing overhead, equation 9) suggests for a phase that
    /// deals out work at run time, if it agrees that parts should be larger, or smaller.
    fn refined(&self, phase: &Phase, larger: bool) -> String {
        let account = self.account_of(phase);
        let all = account.total();
        let (scheduling, imbalance) = (account.scheduling, account.barrier + account.unoccupied);
        let ratio =
            refinement::ratio(self.point.threads, over(scheduling, all), over(imbalance, all));
        // This is one step of the equation; if it is closer to 1, the size is about right.
        if !phase.dynamic || (0.8..=1.25).contains(&ratio) || (ratio > 1.0) != larger {
            return String::new();
        }
        let (factor, how) = if ratio > 1.0 { (ratio, "larger") } else { (1.0 / ratio, "smaller") };
        format!(" Partition refinement (equation 9) would make its parts {factor:.1} times {how}.")
    }

    /// The part of load imbalance that is waiting for tasks which take about as long to make as to
    /// execute: one thread makes them and cannot keep the others busy.
    fn starved(&self) -> f64 {
        let Some(run) = self.run else { return 0.0 };
        let all = self.point.account.total();
        let phases = self.phases(run).filter(|phase| phase.dynamic).map(|phase| {
            let account = self.account_of(phase);
            let busy = account.running + account.scheduling;
            let starved = account.scheduling > SMALL_TASKS * busy;
            if starved { account.barrier + account.unoccupied } else { 0.0 }
        });
        let starved = over(phases.sum(), all).min(self.without_work());
        if starved >= WORTH { starved } else { 0.0 }
    }

    fn serialization(&self) -> Finding {
        let share = self.point.factors.distribution.serialization;
        let run = self.run;
        let parallel: u64 = run.map_or(0, |run| self.phases(run).map(|phase| phase.wall_ns).sum());
        let all = run.map_or(0, |run| run.t_ns);
        let text = if parallel == 0 {
            format!(
                "{} is unused: no parallel phase was seen in the whole run.",
                self.of_all(share)
            )
        } else {
            format!(
                "{} is unused because the program is serial for {} of its {}, between its parallel phases.",
                self.of_all(share),
                time(all.saturating_sub(parallel)),
                time(all)
            )
        };
        let advice = "Find the serial code: contech-cc, contech run: `critpath` and `workspan` name the functions; \
                      make it parallel or overlap it.";
        finding("serialization", String::new(), share, text, advice)
    }

    /// The finding for a kind of waiting, at the place with the most of it.
    fn waits(&self, state: State, share: f64) -> Finding {
        const LOCKS: &str = "Hold the lock for less, or split it: one per part of the data, or data of each thread's own.";
        let (how, what, advice) = match state {
            State::Condition => (
                "spent waiting for conditions",
                ": threads that have nothing to do yet",
                "Hand work over earlier or in smaller pieces; see who signals last with contech run: `critpath`.",
            ),
            State::Message => (
                "waiting for messages",
                "",
                "Send earlier, receive later, or overlap both with work.",
            ),
            State::Spin => ("busy waiting for locks", "", LOCKS),
            _ => ("blocked by locks", "", LOCKS),
        };
        let lock = self.wait(state).filter(|_| matches!(state, State::Lock | State::Spin));
        let detail = lock.map(|(wait, of)| match wait.count {
            // They had begun when the measured part did, and when it ended they were not over.
            0 => format!(" ({} of it there)", percent(of)),
            number => format!(
                " ({} of it there, {} waits, {} each)",
                percent(of),
                count(number),
                time(wait.ns / number)
            ),
        });
        let (place, detail) = (self.place_of(state), detail.unwrap_or_default());
        let text = format!("{} is {how}{}{detail}{what}.", self.of_all(share), at(&place));
        finding(state.name(), place, share, text, advice)
    }

    /// The finding for a program that uses fewer threads than asked for.
    fn unused(&self) -> Option<Finding> {
        let run = self.run?;
        let used = run.phases.iter().map(|phase| phase.threads).max();
        let used = used.unwrap_or(1).max(1);
        (used < self.point.threads && self.point.threads > 1 && run.lanes <= used).then(|| {
            let text = format!(
                "Asked for {} threads, the program used {used}: is {{threads}} on its command line, or does it read \
                 OMP_NUM_THREADS?",
                self.point.threads
            );
            let advice = "Give the number of threads with {threads}.";
            finding("threads", String::new(), 1.0, text, advice)
        })
    }
}

/// Merges two findings of one cause: locks that threads wait for, and locks that cost time while
/// they are free.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        match merged.iter_mut().find(|other| other.cause == finding.cause) {
            Some(other) => {
                other.share += finding.share;
                other.text = format!("{} {}", finding.text, other.text);
                if other.place.is_empty() {
                    other.place = finding.place;
                }
            }
            None => merged.push(finding),
        }
    }
    merged
}

fn finding(cause: &str, place: String, share: f64, text: String, advice: &str) -> Finding {
    Finding { rank: 0, cause: cause.to_owned(), place, share, text, advice: advice.to_owned() }
}

/// How large the pieces are that a phase gave out at run time, in words.
fn pieces(phase: &Phase) -> String {
    if phase.pieces == 0 {
        return String::new();
    }
    let each = |state: State| time(phase.times.of(state) / phase.pieces);
    format!(
        "; {} tasks or parts of loops there, of {} on average, took {} each to hand out",
        count(phase.pieces),
        each(State::Running),
        each(State::Scheduling)
    )
}

fn at(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at {place}") }
}

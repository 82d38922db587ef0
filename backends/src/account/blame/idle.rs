//! Divides the time of idle processors among its causes.

use taskgraph::TaskId;

use super::Sweep;
use crate::account::births::LATE_NS;
use crate::account::context::Doing;
use crate::account::group::Key;
use crate::account::wait::{Kind, Wait};

/// The largest number of waits that are followed in a chain.
const DEEP: usize = 32;
/// The largest number of waiting contexts that are considered at one moment.
const MOST: usize = 64;

/// The cause of an idle processor's moment.
enum Root {
    /// The task that the context at this place runs, and whether it is awaited only through other contexts.
    Task(usize, bool),
    /// A wait for something outside.
    Outside(Wait),
    /// Nothing is awaited any more, since then (ns) if that is known, so the wait should be over.
    Late(Option<u64>),
}

impl Sweep {
    /// Charges the time of `idle` processors. For `late` ns tasks could have begun that any thread may run.
    pub(super) fn idle(&mut self, idle: f64, late: u64, until_ns: u64) {
        let ns = (until_ns - self.now_ns) as f64;
        let stretch = self.stretch(until_ns);
        let all = idle * ns;
        let mut waiting: Vec<usize> = self
            .waiting
            .iter()
            .copied()
            .filter(|&at| self.has_reason(at))
            .collect();
        waiting.truncate(MOST);
        // Who runs for a part of the time only has no processor for the rest. Who could begin and does not has no
        // processor, if a thread is there for it. Who waits for others may run tasks meanwhile. If nothing else runs,
        // nobody has anything to do before it begins.
        let lack = |&at: &usize| 1.0 - self.contexts[at].share;
        let lacking = self.running.iter().map(lack).sum::<f64>() * ns;
        let blocked = waiting.iter().filter(|&&at| self.is_blocked(at)).count();
        let free = self.threads.saturating_sub(self.running.len() + blocked) as f64;
        let late = if self.running.is_empty() {
            all * (late as f64 / ns).min(1.0)
        } else {
            (free * ns).min(late as f64)
        };
        let late = (late + lacking).min(all);
        if late > 0.0 {
            self.lose(Key::Nothing, late, stretch);
        }
        let mut left = all - late;
        if !waiting.is_empty() {
            let each = (left / waiting.len() as f64).min(ns);
            left -= each * waiting.len() as f64;
            for at in waiting {
                self.lay_on(at, each, until_ns);
            }
        }
        if left < 1.0 {
            return;
        }
        if !self.running.is_empty() {
            let each = left / self.running.len() as f64;
            let others = self.ended.0 / f64::max(self.ended.1, 1.0);
            for place in 0..self.running.len() {
                let at = self.running[place];
                let lost = each * (1.0 - self.contexts[at].share);
                let each = each - lost;
                self.lose(Key::Nothing, lost, stretch);
                let now = &mut self.contexts[at];
                let kept = now.kept(others, now.idle_ns, ns * now.share) * each;
                now.idle_ns += ns;
                now.idle += each - kept;
                self.phase_when.add(stretch, each - kept);
                self.lay_on_delays(at, kept, stretch);
            }
            return;
        }
        // No context runs, and none waits for a context that runs. If one waits for something outside, that is the
        // cause.
        let outside = self
            .waiting
            .iter()
            .find_map(|&at| self.contexts[at].wait().filter(|wait| wait.is_outside()))
            .copied();
        // Otherwise one of those that wait for an end should go on.
        let ends = self.waiting.iter().filter_map(|&at| {
            let wait = self.contexts[at].wait()?;
            (wait.kind == Kind::End).then_some(wait.ended_by)
        });
        let happened = |end: Option<(TaskId, u64)>| Some(end?.1).filter(|&end| end <= self.now_ns);
        let (since, starts) = (
            ends.clone().filter_map(happened).min(),
            ends.count() > 0 && outside.is_none(),
        );
        if starts {
            let more = left * since.map_or(0.0, |since| self.overdue(since, until_ns));
            self.lose(Key::Starting, left - more, stretch);
            left = more;
        }
        let group = self.group(outside.as_ref().map_or(Key::Nothing, Key::of));
        self.blame.groups[group as usize].lose(left, stretch);
        if let Some(wait) = outside {
            self.blame.groups[group as usize].waited(&wait, left);
        }
    }

    /// Charges idle processor time to a group.
    fn lose(&mut self, key: Key, ns: f64, stretch: (f64, f64)) {
        let group = self.group(key);
        self.blame.groups[group as usize].lose(ns, stretch);
    }

    /// Whether a context waits for something that keeps it from working. The end of what it has started is no such
    /// thing, nor is an event that never comes, nor a wait that is the context's purpose (a thread that only sleeps,
    /// waits for signals, or writes what others have made).
    fn has_reason(&self, at: usize) -> bool {
        let now = &self.contexts[at];
        let Some(wait) = now.wait() else { return false };
        match wait.kind {
            Kind::End => false,
            Kind::Outside => now.works(self.busy_ns),
            Kind::Word => now.works(self.busy_ns) && wait.ended_by.is_some(),
            Kind::Message | Kind::Startup | Kind::Recording | Kind::Unknown => true,
            _ => wait.ended_by.is_some(),
        }
    }

    /// Whether the thread of a context that waits can do nothing else.
    fn is_blocked(&self, at: usize) -> bool {
        let wait = self.contexts[at].wait();
        wait.is_some_and(|wait| !matches!(wait.kind, Kind::Barrier | Kind::Idle | Kind::Unknown))
    }

    /// Charges idle processor time to what kept the context at a place from its work.
    fn lay_on_delays(&mut self, at: usize, ns: f64, stretch: (f64, f64)) {
        let all = self.contexts[at].delay();
        for &(group, part) in &self.contexts[at].delays {
            self.blame.groups[group as usize].lose(ns * part / all.max(1.0), stretch);
        }
    }

    fn lay_on(&mut self, at: usize, mut ns: f64, until_ns: u64) {
        let now = &self.contexts[at];
        let Some(&wait) = now.wait() else {
            return;
        };
        let key = Key::of(&wait);
        let root = self.root(&wait);
        let stretch = self.stretch(until_ns);
        if let Root::Task(place, _) = root {
            let awaited = &self.contexts[place];
            let lost = ns * (1.0 - awaited.share);
            ns -= lost;
            let kept = if matches!(wait.kind, Kind::Barrier | Kind::Idle) {
                let passed = until_ns - self.now_ns;
                let after = (self.busy_ns - now.busy_ns).saturating_sub(passed) as f64;
                awaited.kept(now.delay(), after, passed as f64 * awaited.share) * ns
            } else {
                0.0
            };
            ns -= kept;
            self.lay_on_delays(place, kept, stretch);
            if lost > 0.0 {
                self.lose(Key::Nothing, lost, stretch);
            }
        }
        self.contexts[at].blamed += ns;
        match root {
            Root::Task(place, by_others) => {
                let awaited = &self.contexts[place];
                let own = awaited.creator == Some(wait.task.context) && !awaited.feeds();
                let context = awaited.task().map(|task| task.context);
                let group = self.group(key);
                let found = &mut self.blame.groups[group as usize];
                found.lose(ns, stretch);
                if let Some(context) = context {
                    found.held_by(context, ns);
                }
                if own || by_others {
                    found.indirect += ns;
                }
                self.contexts[place].charge(group, ns);
            }
            Root::Outside(outside) => {
                let group = self.group(Key::of(&outside));
                self.blame.groups[group as usize].lose(ns, stretch);
                self.blame.groups[group as usize].waited(&outside, ns);
            }
            Root::Late(since) => {
                let more = ns * since.map_or(0.0, |since| self.overdue(since, until_ns));
                let group = self.group(key);
                self.blame.groups[group as usize].lose(ns - more, stretch);
                self.blame.groups[group as usize].late += ns - more;
                self.lose(Key::Nothing, more, stretch);
            }
        }
    }

    /// The part of the time since the last change in which what ends a wait has happened for long.
    fn overdue(&self, since_ns: u64, until_ns: u64) -> f64 {
        let all_ns = until_ns - self.now_ns;
        let more_ns = until_ns.saturating_sub(since_ns + LATE_NS).min(all_ns);
        more_ns as f64 / all_ns.max(1) as f64
    }

    /// What the awaited context does or, if that context waits, what it waits for.
    fn root(&self, wait: &Wait) -> Root {
        let mut wait = *wait;
        if wait.is_outside() {
            return Root::Outside(wait);
        }
        for depth in 0..DEEP {
            let Some((task, end_ns)) = wait.ended_by else {
                return Root::Late(None);
            };
            if end_ns <= self.now_ns {
                return Root::Late(Some(end_ns));
            }
            let Some(at) = self.blame.charges.place(task.context) else {
                return Root::Late(None);
            };
            match self.contexts[at].doing {
                Doing::Runs(..) => return Root::Task(at, depth > 0),
                Doing::Waits(next) if next.is_outside() => return Root::Outside(next),
                Doing::Waits(next) => wait = next,
                Doing::Away => return Root::Late(None),
            }
        }
        Root::Late(None)
    }
}

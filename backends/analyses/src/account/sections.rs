//! Finds the sections of locks on the way through a context's tasks, with the conditions that are
//! waited for and signalled in them.

use taskgraph::{Family, SyncOp};

use super::locks::LockUse;

/// The sections of so many locks that a task takes in turn are gathered.
const NESTED: usize = 4;
/// The last strand of a section in a task whose strands are not known yet.
const INSIDE: u32 = u32::MAX;

/// Sections of a lock, of one context, in one or several tasks, with no section of another context
/// between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) lock: u64,
    /// Time of the section in the recorded run, ns.
    pub(super) at_ns: u64,
    /// The strand before which the lock is taken, and the last one in which the context has it.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Number of sections.
    pub(super) number: u64,
    /// The condition that the context waited for, and the strand of the last such wait.
    pub(super) waited: Option<(u64, u32)>,
    /// The condition that was signalled.
    pub(super) signals: Option<u64>,
    /// More than one condition was signalled or waited for.
    pub(super) mixed: bool,
}

/// The sections of a context on its way through its tasks.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// Those that have begun, the innermost last.
    open: Vec<Section>,
    /// Those that ended last, since the context last took a lock: signals may come after them.
    closed: Vec<Section>,
    /// A condition that the context has been woken by.
    woken: Option<(u64, u32)>,
    /// Whether the context waited for a condition or signalled one.
    conditions: bool,
}

impl Sections {
    /// Whether the context waited for a condition or signalled one.
    pub(super) fn have_conditions(&self) -> bool {
        self.conditions
    }

    /// An operation at a time (ns), before which the next strand has this number. With `inside`,
    /// its task does other things, too, until [`Sections::worked`].
    pub(super) fn uses(
        &mut self,
        (op, object): (SyncOp, u64),
        used: Option<(u64, LockUse)>,
        (at_ns, strand, inside): (u64, u32, bool),
        all: &mut Vec<Section>,
    ) {
        self.conditions |= op.family() == Some(Family::Cond);
        match (op, used) {
            (SyncOp::CondWake | SyncOp::CondTimeout, _) => self.woken = Some((object, strand)),
            (SyncOp::CondSignal | SyncOp::CondBroadcast, _) => {
                let last = self.open.last_mut().or(self.closed.last_mut());
                if let Some(section) = last {
                    section.mixed |= section.signals.is_some_and(|other| other != object);
                    section.signals = Some(object);
                }
            }
            // The section goes on after the wait.
            (SyncOp::CondRelease, _) => {}
            (SyncOp::CondReacquire, _) => {
                let section = self.open.iter_mut().rev().find(|open| open.lock == object);
                if let (Some(section), Some(woken)) = (section, self.woken.take()) {
                    section.mixed |= section.waited.is_some_and(|(other, _)| other != woken.0);
                    section.waited = Some(woken);
                    section.at_ns = at_ns;
                }
            }
            (_, Some((lock, LockUse::Give))) => {
                if let Some(at) = self.open.iter().rposition(|open| open.lock == lock) {
                    let mut section = self.open.remove(at);
                    section.last = match inside {
                        true => INSIDE,
                        false => strand.saturating_sub(1).max(section.first),
                    };
                    self.closed.push(section);
                }
            }
            (_, Some((lock, LockUse::Take))) => {
                self.flush(all);
                self.open.push(Section {
                    lock,
                    at_ns,
                    first: strand,
                    last: strand,
                    number: 1,
                    waited: None,
                    signals: None,
                    mixed: false,
                });
            }
            (_, Some((lock, LockUse::Share))) => self.open.retain(|open| open.lock != lock),
            (_, None) => {}
        }
    }

    /// A task has ended that does other things than one operation. Its last strand has this number.
    pub(super) fn worked(&mut self, last: u32, all: &mut [Section]) {
        let all = all.iter_mut().rev().take_while(|section| section.last == INSIDE);
        let within = self.closed.iter_mut().chain(all);
        for section in within.filter(|section| section.last == INSIDE) {
            section.last = last;
        }
    }

    /// Adds the sections that have ended to all of the context.
    pub(super) fn flush(&mut self, all: &mut Vec<Section>) {
        for section in self.closed.drain(..) {
            let alike = |last: &&mut Section| {
                (last.lock, last.at_ns, last.signals, last.mixed)
                    == (section.lock, section.at_ns, section.signals, section.mixed)
                    && (last.last == INSIDE) == (section.last == INSIDE)
                    && section.waited.is_none()
            };
            match all.iter_mut().rev().take(NESTED).find(alike) {
                Some(last) => (last.number, last.last) = (last.number + 1, section.last),
                None => all.push(section),
            }
        }
    }
}

impl Section {
    /// The section with its strands moved behind so many others.
    pub(super) fn behind(self, strands: u32) -> Self {
        Self {
            first: self.first + strands,
            last: self.last + strands,
            waited: self.waited.map(|(object, strand)| (object, strand + strands)),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKS: [u64; 2] = [10, 20];

    /// Takes a lock before a strand and gives it back.
    fn section(of: &mut Sections, lock: u64, place: (u64, u32, bool), all: &mut Vec<Section>) {
        let (take, give) = (SyncOp::MutexLock, SyncOp::MutexUnlock);
        of.uses((take, lock), Some((lock, LockUse::Take)), place, all);
        of.uses((give, lock), Some((lock, LockUse::Give)), place, all);
    }

    #[test]
    fn the_last_strand_of_each_section_is_known_in_the_end() {
        let (mut of, mut all) = (Sections::default(), Vec::new());
        // Operations without duration, and a task that begins at the same time and takes both locks
        // in turn.
        for lock in LOCKS {
            section(&mut of, lock, (5, 3, false), &mut all);
        }
        for _ in 0..3 {
            for lock in LOCKS {
                section(&mut of, lock, (5, 4, true), &mut all);
            }
        }
        of.worked(9, &mut all);
        of.flush(&mut all);
        let found: Vec<_> = all.iter().map(|s| (s.lock, s.last, s.number)).collect();
        let [one, other] = LOCKS;
        assert_eq!(found[..2], [(one, 3, 1), (other, 3, 1)]);
        assert_eq!(found[2..], [(one, 9, 3), (other, 9, 3)]);
    }
}

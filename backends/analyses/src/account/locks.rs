//! What contexts do with locks: those of a library, and words of the program's own that are used as
//! locks.

use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{Family, SyncOp, WaitCause};

use crate::analysis::TURN_BLOCKS;

/// Sections of locks of a task are gathered in so many groups if the task has more uses of locks
/// than [`DIVIDED`].
const GROUPS: usize = 8;
const DIVIDED: usize = 16;
/// Of words that are used as locks, one use in so many may be none of a lock's, such as a store
/// that makes the word.
const STRAY: u64 = 16;

/// What a context does with a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LockUse {
    Take,
    /// With others that only read.
    Share,
    Give,
}

/// What is known of an object.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    /// How often it was taken as a lock is, if it is an atomic word or a semaphore, how often who
    /// had it gave it back, and how often it was used as no lock is: given back by who did not have
    /// it, or taken by who had it.
    taken: u64,
    given: u64,
    stray: u64,
    semaphore: bool,
    /// Whether it is a lock with which somebody waits for a condition. Sections of such a lock make
    /// what other sections wait for, so their order is the program's.
    ordered: bool,
    /// Whether it was ordered, and its sections follow counts instead ([`super::queues`]).
    queue: bool,
}

impl Object {
    fn is_atomic(self) -> bool {
        !self.semaphore && self.taken + self.given + self.stray > 0
    }

    fn is_word(self) -> bool {
        self.is_atomic() && self.is_lock()
    }

    /// Whether it is used as a lock. One that is never given back says that something has happened.
    fn is_lock(self) -> bool {
        self.stray * STRAY <= self.taken && self.given * 2 >= self.taken
    }
}

/// What is known of the locks of some contexts.
#[derive(Debug, Default)]
pub(super) struct Known {
    objects: FxHashMap<u64, Object>,
    /// A lock that was given back, and the word for which who had it waited right after that.
    /// Unless the word is a lock, too, it is a condition.
    then_waited: FxHashSet<(u64, u64)>,
}

impl Known {
    fn of(&self, object: u64) -> Object {
        self.objects.get(&object).copied().unwrap_or_default()
    }

    fn object(&mut self, object: u64) -> &mut Object {
        self.objects.entry(object).or_default()
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (object, more) in other.objects {
            let own = self.object(object);
            own.taken += more.taken;
            own.given += more.given;
            own.stray += more.stray;
            own.ordered |= more.ordered;
            own.semaphore |= more.semaphore;
        }
        self.then_waited.extend(other.then_waited);
    }

    /// All uses of the locks are known.
    pub(super) fn settle(&mut self) {
        for (lock, word) in std::mem::take(&mut self.then_waited) {
            if !self.is_word(word) {
                self.object(lock).ordered = true;
            }
        }
    }

    /// Whether the object is an atomic word that is used as a lock.
    pub(super) fn is_word(&self, object: u64) -> bool {
        self.of(object).is_word()
    }

    /// Whether who takes from a semaphore gives it back, so that it is a lock, or a limit of how
    /// many have something at a time.
    pub(super) fn is_limit(&self, object: u64) -> bool {
        let object = self.of(object);
        object.semaphore && object.is_lock()
    }

    pub(super) fn is_ordered(&self, object: u64) -> bool {
        self.of(object).ordered
    }

    pub(super) fn is_queue(&self, object: u64) -> bool {
        self.of(object).queue
    }

    /// The order of this lock's sections is not the recorded one.
    pub(super) fn set_queue(&mut self, lock: u64) {
        let lock = self.object(lock);
        (lock.ordered, lock.queue) = (false, true);
    }

    /// Whether the state of the lock tells who may go on.
    pub(super) fn has_state(&self, object: u64) -> bool {
        let object = self.of(object);
        !object.ordered && (!object.is_atomic() || object.is_word())
    }
}

/// The locks that a context has.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) locks: Vec<u64>,
    /// The semaphores that the context has taken from.
    semaphores: Vec<u64>,
    /// The word that the context has just given back.
    given: Option<u64>,
}

impl Held {
    /// The context executes so many blocks.
    pub(super) fn works(&mut self, blocks: u64) {
        if blocks > TURN_BLOCKS {
            self.given = None;
        }
    }

    /// What an operation does with a lock that a replay has to know.
    pub(super) fn uses(
        &mut self,
        op: SyncOp,
        object: u64,
        known: &mut Known,
    ) -> Option<(u64, LockUse)> {
        let had = self.locks.contains(&object);
        match op {
            SyncOp::CondRelease | SyncOp::CondReacquire => known.object(object).ordered = true,
            SyncOp::FutexWait | SyncOp::FutexTimeout => {
                let given = self.given.take().filter(|&given| given != object);
                known.then_waited.extend(given.map(|given| (given, object)));
            }
            SyncOp::SemWait => {
                let semaphore = known.object(object);
                (semaphore.semaphore, semaphore.taken) = (true, semaphore.taken + 1);
                self.semaphores.push(object);
            }
            SyncOp::SemPost => {
                let own = self.semaphores.iter().rposition(|&other| other == object);
                let word = known.object(object);
                word.semaphore = true;
                match own.map(|own| self.semaphores.swap_remove(own)) {
                    Some(_) => word.given += 1,
                    None => word.stray += 1,
                }
            }
            SyncOp::AtomicTake => {
                let word = known.object(object);
                word.taken += 1;
                word.stray += u64::from(had);
                self.given = None;
            }
            SyncOp::AtomicGive if !had => {
                known.object(object).stray += 1;
                self.given = None;
            }
            // Whoever has a word gives it back with any change, such as a subtraction.
            SyncOp::AtomicGive | SyncOp::AtomicRmw | SyncOp::AtomicStore if had => {
                known.object(object).given += 1;
                self.given = Some(object);
            }
            _ => {}
        }
        let gives = had && matches!(op, SyncOp::AtomicRmw | SyncOp::AtomicStore);
        let lock = matches!(op.family(), Some(Family::Mutex | Family::Spin | Family::RwLock))
            || matches!(op, SyncOp::AtomicTake | SyncOp::AtomicGive)
            || gives;
        if !lock || matches!(op, SyncOp::OrderedEnter | SyncOp::OrderedExit) {
            return None;
        }
        self.locks.retain(|lock| *lock != object);
        if gives || op.cause() != Some(WaitCause::Lock) {
            return Some((object, LockUse::Give));
        }
        self.locks.push(object);
        Some(match op {
            SyncOp::RwRead => (object, LockUse::Share),
            _ => (object, LockUse::Take),
        })
    }
}

/// A use of a lock, after so many instructions.
pub(super) type Use = (u64, (u64, LockUse));

/// The uses of locks of a task, which has some locks from before and executes `all` instructions,
/// with the instructions since the use before. If there are many, the sections in which a context
/// has the same locks are gathered: what is executed with a lock stays the same, and how often the
/// lock is taken does not.
pub(super) fn sections(had: &[u64], uses: &[Use], all: u64) -> Vec<Use> {
    if uses.len() <= DIVIDED {
        let before = [0].into_iter().chain(uses.iter().map(|&(at, _)| at));
        let each = uses.iter().zip(before);
        return each.map(|(&(at, lock), before)| (at - before, lock)).collect();
    }
    let had: Vec<_> = had.iter().map(|&lock| (lock, LockUse::Take)).collect();
    let mut gathering = Gathering { now: had.clone(), base: had, ..Gathering::default() };
    let each = uses.len().div_ceil(GROUPS);
    let (mut last, mut number) = (0, 0);
    for &(at, (lock, how)) in uses {
        gathering.executes(at - last);
        (last, number) = (at, number + 1);
        gathering.now.retain(|&(other, _)| other != lock);
        if how != LockUse::Give {
            gathering.now.push((lock, how));
        } else if gathering.base.iter().any(|&(base, _)| base == lock) {
            gathering.end();
        }
        if number >= each && gathering.now == gathering.base {
            gathering.end();
            number = 0;
        }
    }
    gathering.executes(all - last);
    gathering.end();
    gathering.out
}

/// Locks with how they are held, the first one first.
type Locks = Vec<(u64, LockUse)>;

#[derive(Debug, Default)]
struct Gathering {
    /// The locks at the beginning of the group, and at this moment.
    base: Locks,
    now: Locks,
    /// What the group executes with other locks than at its beginning, in the order in which it
    /// first did.
    with: Vec<(Locks, u64)>,
    /// What it executes since the last use in `out`.
    before: u64,
    out: Vec<Use>,
}

impl Gathering {
    fn executes(&mut self, instructions: u64) {
        let base = &self.base;
        let more = self.now.iter().filter(|lock| !base.contains(lock));
        let more: Locks = more.copied().collect();
        if more.is_empty() {
            self.before += instructions;
        } else if let Some(known) = self.with.iter_mut().find(|known| known.0 == more) {
            known.1 += instructions;
        } else {
            self.with.push((more, instructions));
        }
    }

    /// Ends a group: the next one begins with the locks of this moment.
    fn end(&mut self) {
        for (locks, executed) in std::mem::take(&mut self.with) {
            for &lock in &locks {
                self.uses(lock);
            }
            self.before = executed;
            for (lock, _) in locks.into_iter().rev() {
                self.uses((lock, LockUse::Give));
            }
        }
        for (lock, _) in std::mem::take(&mut self.base) {
            if self.now.iter().all(|&(now, _)| now != lock) {
                self.uses((lock, LockUse::Give));
            } else {
                self.base.extend(self.now.iter().copied().filter(|now| now.0 == lock));
            }
        }
        for lock in self.now.clone() {
            if !self.base.contains(&lock) {
                self.uses(lock);
            }
        }
        self.base.clone_from(&self.now);
    }

    fn uses(&mut self, lock: (u64, LockUse)) {
        self.out.push((std::mem::take(&mut self.before), lock));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semaphore_that_who_took_from_it_gives_back_is_a_limit() {
        let (mut held, mut known) = (Held::default(), Known::default());
        let [limit, signal] = [8, 16];
        for _ in 0..4 {
            for op in [SyncOp::SemWait, SyncOp::SemPost] {
                assert_eq!(held.uses(op, limit, &mut known), None);
            }
            // Another context posts this one.
            held.uses(SyncOp::SemWait, signal, &mut known);
            Held::default().uses(SyncOp::SemPost, signal, &mut known);
        }
        assert!(known.is_limit(limit) && !known.is_limit(signal));
    }

    #[test]
    fn who_waits_for_a_lock_after_another_one_waits_for_no_condition() {
        let [lock, other, condition] = [100, 16, 24];
        let (mut held, mut known) = (Held::default(), Known::default());
        let mut uses = |op, object| held.uses(op, object, &mut known);
        for waited in [other, condition] {
            for taken in [other, lock + waited] {
                uses(SyncOp::AtomicTake, taken);
                uses(SyncOp::AtomicGive, taken);
            }
            uses(SyncOp::FutexWait, waited);
        }
        known.settle();
        assert!(!known.is_ordered(lock + other));
        assert!(known.is_ordered(lock + condition));
    }

    /// Instructions with each lock, those before, and those at the end.
    fn executed(had: &[u64], uses: &[Use], all: u64) -> FxHashMap<u64, u64> {
        let mut held: Vec<u64> = had.to_vec();
        let mut with = FxHashMap::default();
        let mut at = 0;
        let mut add = |held: &[u64], part: u64| {
            at += part;
            for &lock in held {
                *with.entry(lock).or_default() += part;
            }
            at
        };
        for &(part, (lock, how)) in uses {
            add(&held, part);
            held.retain(|&other| other != lock);
            if how != LockUse::Give {
                held.push(lock);
            }
        }
        let end = add(&held, 0);
        add(&held, all - end);
        with
    }

    #[test]
    fn gathered_sections_execute_what_they_did_with_each_lock() {
        for seed in 0..500_u64 {
            let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut next = |below: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) % below
            };
            let had: Vec<u64> = (0..next(3)).collect();
            let (mut held, mut uses, mut at) = (had.clone(), Vec::new(), 0);
            for _ in 0..next(200) {
                at += next(50);
                let lock = next(5);
                let how = if held.contains(&lock) {
                    held.retain(|&other| other != lock);
                    LockUse::Give
                } else {
                    held.push(lock);
                    LockUse::Take
                };
                uses.push((at, (lock, how)));
            }
            let all = at + next(50);
            let mut differences = Vec::new();
            let mut last = 0;
            for &(at, lock) in &uses {
                differences.push((at - last, lock));
                last = at;
            }
            let gathered = sections(&had, &uses, all);
            assert_eq!(
                executed(&had, &gathered, all),
                executed(&had, &differences, all),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn many_sections_of_one_lock_become_few() {
        let uses: Vec<Use> = (0..10_000)
            .flat_map(|n| [(10 * n, (7, LockUse::Take)), (10 * n + 4, (7, LockUse::Give))])
            .collect();
        let gathered = sections(&[], &uses, 100_000);
        assert_eq!(gathered.len(), 2 * GROUPS);
    }
}

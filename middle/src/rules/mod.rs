//! Pass 2: from synchronisation events to edges, one object after the other, its events in ticket order.
//!
//! | family | file | edges |
//! |---|---|---|
//! | create, join | `create_join` | Create -> child's first task; child's last task -> Join |
//! | mutex | `mutex` | release -> next acquire, also around condition waits |
//! | spin lock | `spin` | as mutex |
//! | reader-writer lock | `rwlock` | write release -> acquires; read releases -> next write acquire |
//! | condition | `cond` | signal or broadcast -> the wake it caused |
//! | semaphore | `sem` | post -> the wait that took its unit |
//! | once | `once` | run -> every pass |
//! | barrier | `barrier` | all arrive -> one task -> all leave |
//! | atomic variable | `atomic` | release -> acquire that reads what it wrote |
//! | futex | `futex` | wake -> those it woke |
//! | OpenMP tasks | `tree` | Create -> first task; last task -> the wait that waited for it |
//! | OpenMP dependences | `depend` | last task of who used the item before -> Sync |
//! | OpenMP doacross | `doacross` | post -> wait |
//!
//! Edges within one context are program order and not stored.

pub(crate) mod atomic;
pub(crate) mod barrier;
mod cond;
mod create_join;
mod depend;
mod doacross;
mod futex;
mod mutex;
mod once;
mod rwlock;
mod sem;
mod spin;
mod tree;

use std::sync::Arc;

use contech_program::Family;
use contech_trace::event::SyncOp;

use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::place::Place;
use crate::sorter::{Sorted, Sorter};
use crate::spill::Spill;

/// A synchronisation event on its way to its rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) op: Op,
    pub(crate) ticket: u64,
    pub(crate) at: Place,
    pub(crate) aux: u64,
}

/// What an event does to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// As recorded.
    Recorded(SyncOp),
    /// A condition wait began; derived from the wake (or timeout) that ended it.
    WaitBegin,
}

/// What one family of objects does. State is of one object's life.
trait Rule {
    /// The next event of the object.
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()>;
    /// The object's life ends, or begins anew with this initial number.
    fn cut(&mut self, init: Option<u64>, out: &mut Edges) -> Result<()>;
}

fn family(op: Op) -> Option<Family> {
    match op {
        Op::Recorded(op) => op.family(),
        Op::WaitBegin => Some(Family::Cond),
    }
}

/// Events sorted by object and ticket.
#[derive(Debug)]
pub(crate) struct Events {
    sorter: Sorter<4>,
    /// Which of the traces the events are of: objects of one are not those of another.
    trace: u64,
}

const OBJECT_BITS: u32 = 48;
const MASK: u64 = (1 << OBJECT_BITS) - 1;
/// Objects that are contexts, not addresses.
const THREAD: u64 = 1 << OBJECT_BITS;
/// Atomic variables: their tickets are of another count than those of other objects at the address.
const ATOMIC: u64 = 1 << (OBJECT_BITS + 1);
/// From this bit on: which of the traces.
const TRACE: u32 = OBJECT_BITS + 3;
/// Most traces whose objects are told apart.
pub(crate) const MOST_TRACES: usize = 1 << (64 - TRACE);
/// Objects of their own: what a context generates and waits for, items of dependences.
const TREE: u64 = 4 << OBJECT_BITS;
const DEPEND: u64 = 5 << OBJECT_BITS;
const WAIT_BEGIN: u64 = 0;

impl Events {
    pub(crate) fn new(spill: &Arc<Spill>, budget: usize) -> Self {
        Events {
            sorter: Sorter::new(spill, budget),
            trace: 0,
        }
    }

    /// What is added from now on is of this trace.
    pub(crate) fn set_trace(&mut self, trace: u16) {
        self.trace = u64::from(trace) << TRACE;
    }

    /// Adds an event as recorded.
    pub(crate) fn push(
        &mut self,
        op: SyncOp,
        object: u64,
        ticket: u64,
        aux: u64,
        at: Place,
    ) -> Result<()> {
        let mut op = op;
        let mut aux = aux;
        let (key, order) = match op {
            SyncOp::ThreadCreate => (object | THREAD, 0),
            SyncOp::ThreadJoin => (object | THREAD, 2),
            SyncOp::ObjectInit | SyncOp::ObjectDestroy => (object, ticket << 1),
            _ if op.family().is_none() => return Ok(()),
            _ if op.is_atomic() => (object | ATOMIC, ticket),
            _ if op.is_depend() => (object | DEPEND, ticket << 1),
            // A release has its acquire's ticket.
            SyncOp::OmpLock | SyncOp::CriticalEnter | SyncOp::OrderedEnter => {
                op = SyncOp::MutexLock;
                (object, ticket << 1)
            }
            SyncOp::OmpUnlock | SyncOp::CriticalExit | SyncOp::OrderedExit => {
                op = SyncOp::MutexUnlock;
                (object, ticket << 1 | 1)
            }
            _ if op.family() == Some(Family::Tree) => {
                aux = tree::pack(object, aux);
                // Later contexts first. A mark stands before the task at its place.
                let task = u64::from(op != SyncOp::TaskgroupBegin);
                let position = u64::from(at.position()) << 1 | task;
                (TREE | u64::from(u32::MAX - at.context()), position)
            }
            _ => (object, ticket << 1),
        };
        let key = key | self.trace;
        if matches!(op, SyncOp::CondWake | SyncOp::CondTimeout) {
            // After the event that has the ticket, before the next.
            let begin = (aux & MASK) << 1 | 1;
            self.sorter.push([key, begin, at.bits(), WAIT_BEGIN])?;
        }
        self.sorter
            .push([key, order, at.bits(), op as u64 | aux << 8])
    }

    /// Ends collecting.
    pub(crate) fn finish(self) -> Sorted<4> {
        self.sorter.finish()
    }
}

fn decode(words: [u64; 4]) -> Result<Event> {
    let number = words[3].to_le_bytes()[0];
    let op = if u64::from(number) == WAIT_BEGIN {
        Op::WaitBegin
    } else {
        let op = SyncOp::from_u8(number);
        Op::Recorded(op.ok_or_else(|| Error::internal("an unknown event in the temporary file"))?)
    };
    Ok(Event {
        op,
        ticket: words[1] >> 1,
        at: Place::from_bits(words[2]),
        aux: words[3] >> 8,
    })
}

/// The states of all families for the object at hand.
struct Rules {
    create_join: create_join::CreateJoin,
    mutex: mutex::Mutex,
    spin: spin::Spin,
    rwlock: rwlock::RwLock,
    cond: cond::Cond,
    sem: sem::Sem,
    once: once::Once,
    barrier: barrier::Barrier,
    atomic: atomic::Atomic,
    futex: futex::Futex,
    tree: tree::Tree,
    depend: depend::Depend,
    doacross: doacross::Doacross,
}

impl Rules {
    fn new(spill: &Arc<Spill>) -> Self {
        Rules {
            create_join: create_join::CreateJoin::default(),
            mutex: mutex::Mutex::default(),
            spin: spin::Spin::default(),
            rwlock: rwlock::RwLock::default(),
            cond: cond::Cond::default(),
            sem: sem::Sem::new(spill),
            once: once::Once::default(),
            barrier: barrier::Barrier::default(),
            atomic: atomic::Atomic::default(),
            futex: futex::Futex::default(),
            tree: tree::Tree::default(),
            depend: depend::Depend::default(),
            doacross: doacross::Doacross::default(),
        }
    }

    fn of(&mut self, family: Family) -> &mut dyn Rule {
        match family {
            Family::CreateJoin => &mut self.create_join,
            Family::Mutex => &mut self.mutex,
            Family::Spin => &mut self.spin,
            Family::RwLock => &mut self.rwlock,
            Family::Cond => &mut self.cond,
            Family::Sem => &mut self.sem,
            Family::Once => &mut self.once,
            Family::Barrier => &mut self.barrier,
            Family::Atomic => &mut self.atomic,
            Family::Futex => &mut self.futex,
            Family::Tree => &mut self.tree,
            Family::Depend => &mut self.depend,
            Family::Doacross => &mut self.doacross,
        }
    }
}

/// Applies the rules to all events.
pub(crate) fn apply(events: &Sorted<4>, spill: &Arc<Spill>, out: &mut Edges) -> Result<()> {
    let mut rules = Rules::new(spill);
    let mut object = None;
    // The family of the object's last event: usually the only one.
    let mut known: Option<Family> = None;
    let mut merge = events.iter()?;
    while let Some(words) = merge.next()? {
        let event = decode(words)?;
        if object != Some(words[0]) {
            if let Some(f) = known.take() {
                rules.of(f).cut(None, out)?;
            }
            object = Some(words[0]);
            out.object = words[0] & MASK;
        }
        match event.op {
            Op::Recorded(SyncOp::ObjectInit) => {
                if let Some(f) = known {
                    rules.of(f).cut(None, out)?;
                }
                // A new life may be of another family; only a semaphore has something to begin with.
                rules.sem.cut(Some(event.aux), out)?;
                known = Some(Family::Sem);
            }
            Op::Recorded(SyncOp::ObjectDestroy) => {
                if let Some(f) = known {
                    rules.of(f).cut(None, out)?;
                }
            }
            _ => {
                let Some(f) = family(event.op) else { continue };
                if let Some(before) = known.filter(|k| *k != f) {
                    rules.of(before).cut(None, out)?;
                }
                known = Some(f);
                rules.of(f).apply(&event, out)?;
            }
        }
    }
    if let Some(f) = known {
        rules.of(f).cut(None, out)?;
    }
    Ok(())
}

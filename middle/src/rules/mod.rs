//! Pass 2: from synchronisation events to edges, one object after the other, its events in ticket order.
//!
//! The table of operations says of which family an operation is, and whether it may wait: what waits comes after, what
//! does not wait is what others come after. An operation of a family that is here needs nothing else.
//!
//! | family | file | edges |
//! |---|---|---|
//! | create, join | `create_join` | Create -> child's first task; child's last task -> Join |
//! | mutex, spin lock | `mutex` | release -> next acquire, also around condition waits |
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

mod atomic;
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

impl Event {
    /// Whether the operation comes after others; else others come after it.
    fn waits(&self) -> bool {
        matches!(self.op, Op::Recorded(op) if op.cause().is_some())
    }
}

/// What one family of objects does. State is of one object's life.
trait Rule {
    /// The next event of the object.
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()>;
    /// The object's life ends, or begins anew with this initial number.
    fn cut(&mut self, init: Option<u64>, out: &mut Edges) -> Result<()>;
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
        let mut aux = aux;
        let waits = op.cause().is_some();
        let (key, order) = match op.family() {
            None if !matches!(op, SyncOp::ObjectInit | SyncOp::ObjectDestroy) => return Ok(()),
            Some(Family::CreateJoin) => (object | THREAD, u64::from(waits)),
            Some(Family::Atomic) => (object | ATOMIC, ticket),
            Some(Family::Depend) => (object | DEPEND, ticket << 2),
            // The release of an OpenMP lock has the ticket of its acquire.
            Some(Family::Mutex) => (object, ticket << 2 | u64::from(!waits)),
            Some(Family::Tree) => {
                aux = tree::pack(object, aux);
                // Later contexts first. A mark stands before the task at its place.
                let task = u64::from(!op.is_mark());
                let position = u64::from(at.position()) << 1 | task;
                (TREE | u64::from(u32::MAX - at.context()), position)
            }
            _ => (object, ticket << 2),
        };
        let key = key | self.trace;
        if matches!(op, SyncOp::CondWake | SyncOp::CondTimeout) {
            // After the event that has the ticket, before the next.
            let begin = (aux & MASK) << 2 | 2;
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
        ticket: words[1] >> 2,
        at: Place::from_bits(words[2]),
        aux: words[3] >> 8,
    })
}

/// The states of all families that occur, for the object at hand.
struct Rules<'a> {
    spill: &'a Arc<Spill>,
    made: Vec<(Family, Box<dyn Rule>)>,
    /// The family of the object's last event: usually the only one.
    known: Option<Family>,
}

impl Rules<'_> {
    fn of(&mut self, family: Family) -> &mut dyn Rule {
        let at = self.made.iter().position(|(f, _)| *f == family);
        let at = at.unwrap_or_else(|| {
            let rule: Box<dyn Rule> = match family {
                Family::CreateJoin => Box::<create_join::CreateJoin>::default(),
                Family::Mutex | Family::Spin => Box::<mutex::Mutex>::default(),
                Family::RwLock => Box::<rwlock::RwLock>::default(),
                Family::Cond => Box::<cond::Cond>::default(),
                Family::Sem => Box::new(sem::Sem::new(self.spill)),
                Family::Once => Box::<once::Once>::default(),
                Family::Barrier => Box::<barrier::Barrier>::default(),
                Family::Atomic => Box::<atomic::Atomic>::default(),
                Family::Futex => Box::<futex::Futex>::default(),
                Family::Tree => Box::<tree::Tree>::default(),
                Family::Depend => Box::<depend::Depend>::default(),
                Family::Doacross => Box::<doacross::Doacross>::default(),
            };
            self.made.push((family, rule));
            self.made.len() - 1
        });
        &mut *self.made[at].1
    }

    /// The object's life ends, as far as it is known.
    fn cut(&mut self, out: &mut Edges) -> Result<()> {
        match self.known {
            Some(family) => self.of(family).cut(None, out),
            None => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let family = match event.op {
            Op::Recorded(SyncOp::ObjectInit) => {
                self.cut(out)?;
                // A new life may be of another family; only a semaphore has something to begin with.
                self.known = Some(Family::Sem);
                return self.of(Family::Sem).cut(Some(event.aux), out);
            }
            Op::Recorded(SyncOp::ObjectDestroy) => return self.cut(out),
            Op::Recorded(op) => op.family(),
            Op::WaitBegin => Some(Family::Cond),
        };
        let Some(family) = family else { return Ok(()) };
        if self.known != Some(family) {
            self.cut(out)?;
            self.known = Some(family);
        }
        self.of(family).apply(event, out)
    }
}

/// Applies the rules to all events.
pub(crate) fn apply(events: &Sorted<4>, spill: &Arc<Spill>, out: &mut Edges) -> Result<()> {
    let mut rules = Rules {
        spill,
        made: Vec::new(),
        known: None,
    };
    let mut object = None;
    let mut merge = events.iter()?;
    while let Some(words) = merge.next()? {
        let event = decode(words)?;
        if object != Some(words[0]) {
            rules.cut(out)?;
            rules.known = None;
            object = Some(words[0]);
            out.object = words[0] & MASK;
        }
        rules.apply(&event, out)?;
    }
    rules.cut(out)
}

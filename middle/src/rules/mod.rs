//! Pass 2 turns synchronisation events into edges. It takes one object after the other, with its
//! events in ticket order.
//!
//! The table of operations says which family an operation belongs to, and whether it may wait. An
//! operation that waits comes after those that do not. A new operation of one of the families below
//! needs nothing else.
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
//! | pipe, socket, signal | `channel` | what was sent -> what is received later |
//! | OpenMP tasks | `tree` | Create -> first task; last task -> the wait that waited for it |
//! | OpenMP dependences | `depend` | last task of who used the item before -> Sync |
//! | OpenMP doacross | `doacross` | post -> wait |
//!
//! Edges within one context are program order and not stored.

mod atomic;
pub(crate) mod barrier;
mod channel;
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
    /// The operation as the trace has it, or [`WAIT_BEGIN`].
    pub(crate) op: SyncOp,
    pub(crate) ticket: u64,
    pub(crate) at: Place,
    pub(crate) aux: u64,
}

/// Says that a condition wait began. This is derived from the wake (or timeout) that ended it.
const WAIT_BEGIN: SyncOp = SyncOp::None;

impl Event {
    /// Whether the operation comes after others; if not, others come after it.
    fn waits(&self) -> bool {
        self.op.cause().is_some()
    }
}

/// The rule of one family of objects. Its state covers one object's life.
trait Rule {
    /// Takes the next event of the object.
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()>;
    /// Ends the object's life, or begins it anew with this initial number.
    fn cut(&mut self, init: Option<u64>, out: &mut Edges) -> Result<()>;
}

/// A rule that only forgets what it knows where an object's life ends.
trait Forgets: Default {
    /// Takes the next event of the object.
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()>;
}

impl<R: Forgets> Rule for R {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        Forgets::apply(self, event, out)
    }

    fn cut(&mut self, _init: Option<u64>, _out: &mut Edges) -> Result<()> {
        *self = Self::default();
        Ok(())
    }
}

/// Events sorted by object and ticket.
#[derive(Debug)]
pub(crate) struct Events {
    sorter: Sorter<4>,
    /// Number of the trace that the events are of. Objects of different traces are different
    /// objects.
    trace: u64,
}

const OBJECT_BITS: u32 = 48;
const MASK: u64 = (1 << OBJECT_BITS) - 1;
/// Marks objects that are contexts, not addresses.
const THREAD: u64 = 1 << OBJECT_BITS;
/// Marks atomic variables. Their tickets are counted separately from those of other objects at the
/// same address.
const ATOMIC: u64 = 1 << (OBJECT_BITS + 1);
/// From this bit on, the object holds the number of its trace.
const TRACE: u32 = OBJECT_BITS + 3;
/// Largest number of traces whose objects are told apart.
pub(crate) const MOST_TRACES: usize = 1 << (64 - TRACE);
/// Marks the objects of OpenMP tasks: what a context generates and waits for, and items of
/// dependences.
const TREE: u64 = 4 << OBJECT_BITS;
const DEPEND: u64 = 5 << OBJECT_BITS;

impl Events {
    pub(crate) fn new(spill: &Arc<Spill>, budget: usize) -> Self {
        Events { sorter: Sorter::new(spill, budget), trace: 0 }
    }

    /// Says that everything added from now on is of this trace.
    pub(crate) fn set_trace(&mut self, trace: u16) {
        self.trace = u64::from(trace) << TRACE;
    }

    /// Adds an event as the trace has it.
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
            // The release of an OpenMP lock has the same ticket as its acquire.
            Some(Family::Mutex) => (object, ticket << 2 | u64::from(!waits)),
            Some(Family::Tree) => {
                aux = tree::pack(object, aux);
                // Later contexts come first. A mark stands before the task at its place.
                let task = u64::from(!op.is_mark());
                let position = u64::from(at.position()) << 1 | task;
                (TREE | u64::from(u32::MAX - at.context()), position)
            }
            _ => (object, ticket << 2),
        };
        let key = key | self.trace;
        if matches!(op, SyncOp::CondWake | SyncOp::CondTimeout) {
            // The wait begins after the event that has the ticket, and before the next event.
            let begin = (aux & MASK) << 2 | 2;
            self.sorter.push([key, begin, at.bits(), WAIT_BEGIN as u64])?;
        }
        self.sorter.push([key, order, at.bits(), op as u64 | aux << 8])
    }

    /// Ends collecting.
    pub(crate) fn finish(self) -> Result<Sorted<4>> {
        self.sorter.finish()
    }
}

fn decode(words: [u64; 4]) -> Result<Event> {
    let op = SyncOp::from_u8(words[3].to_le_bytes()[0]);
    let op = op.ok_or_else(|| Error::internal("an unknown event in the temporary file"))?;
    Ok(Event { op, ticket: words[1] >> 2, at: Place::from_bits(words[2]), aux: words[3] >> 8 })
}

/// The states of all families that occur for the object at hand.
struct Rules<'a> {
    spill: &'a Arc<Spill>,
    made: Vec<(Family, Box<dyn Rule>)>,
    /// The family of the object's last event, which is usually the only one.
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
                Family::Channel => Box::<channel::Channel>::default(),
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

    /// Ends the object's life, as far as it is known.
    fn cut(&mut self, out: &mut Edges) -> Result<()> {
        match self.known {
            Some(family) => self.of(family).cut(None, out),
            None => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let family = match event.op {
            SyncOp::ObjectInit => {
                self.cut(out)?;
                // A new life may be of another family. Only a semaphore has an initial number.
                self.known = Some(Family::Sem);
                return self.of(Family::Sem).cut(Some(event.aux), out);
            }
            SyncOp::ObjectDestroy => return self.cut(out),
            WAIT_BEGIN => Some(Family::Cond),
            op => op.family(),
        };
        let Some(family) = family else { return Ok(()) };
        if self.known != Some(family) {
            self.cut(out)?;
            self.known = Some(family);
        }
        self.of(family).apply(event, out)
    }
}

pub(crate) fn apply(events: &Sorted<4>, spill: &Arc<Spill>, out: &mut Edges) -> Result<()> {
    let mut rules = Rules { spill, made: Vec::new(), known: None };
    let mut object = None;
    let mut write = None;
    events.each(|words| {
        let event = decode(words)?;
        let writes = matches!(event.op, SyncOp::AtomicStore | SyncOp::AtomicRmw);
        if writes && write.replace((words[0], words[1])) == Some((words[0], words[1])) {
            out.notes.damage(
                "two writes of an atomic variable have the same place in its order, so that what acquires them may be wrong; this is a fault of the recording, please report it",
                || format!("0x{:x}", words[0] & MASK),
            );
        }
        if object != Some(words[0]) {
            rules.cut(out)?;
            rules.known = None;
            object = Some(words[0]);
            out.object = words[0] & MASK;
        }
        rules.apply(&event, out)
    })?;
    rules.cut(out)
}

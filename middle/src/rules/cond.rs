//! Condition variables: which signal or broadcast caused a wake.
//!
//! A wake takes the earliest signal that no other wake took, or the earliest broadcast, if it was
//! sent after the wait began. A wake without either is spurious. The beginnings of waits are known,
//! because pass 1 adds an event for each. So the number of signals that can still be taken is
//! bounded by the contexts that wait: while the same waits are pending, only as many signals matter
//! as there are waits.

use std::collections::VecDeque;

use contech_trace::event::SyncOp;
use rustc_hash::FxHashMap;

use super::{Event, Forgets, WAIT_BEGIN};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

/// Ticket and task of a signal or broadcast.
type Sent = (u64, Place);

#[derive(Debug, Default)]
pub(super) struct Cond {
    /// Waiting contexts that no broadcast has reached, and when their waits began.
    waiting: FxHashMap<u32, u64>,
    /// For each waiting context that a broadcast has reached, when its wait began and the first
    /// such broadcast.
    reached: FxHashMap<u32, (u64, Sent)>,
    /// Signals that no wake took, by ticket.
    signals: VecDeque<Sent>,
    /// Number of these signals that were sent since the last wait began.
    since_begin: usize,
}

impl Cond {
    fn signal(&mut self, event: &Event) {
        let waits = self.waiting.len() + self.reached.len();
        if self.since_begin < waits {
            self.signals.push_back((event.ticket, event.at));
            self.since_begin += 1;
        }
    }

    fn broadcast(&mut self, event: &Event) {
        for (context, begin) in self.waiting.drain() {
            self.reached.insert(context, (begin, (event.ticket, event.at)));
        }
    }

    /// Ends the wait of a context. Returns the signal and the broadcast that could have woken it.
    fn end(&mut self, context: u32) -> (Option<usize>, Option<Sent>) {
        let (begin, broadcast) = match self.reached.remove(&context) {
            Some((begin, sent)) => (begin, Some(sent)),
            None => match self.waiting.remove(&context) {
                Some(begin) => (begin, None),
                None => return (None, None),
            },
        };
        let first = self.signals.partition_point(|(ticket, _)| *ticket <= begin);
        ((first < self.signals.len()).then_some(first), broadcast)
    }

    fn wake(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let (signal, broadcast) = self.end(event.at.context());
        let earliest = signal.map(|i| self.signals[i]);
        match (signal, broadcast) {
            (Some(i), b) if b.is_none_or(|b| Some(b) > earliest) => {
                self.signals.remove(i);
                // The signals since the last begin are at the end of the queue.
                if i >= self.signals.len() + 1 - self.since_begin {
                    self.since_begin -= 1;
                }
                if let Some((_, at)) = earliest {
                    out.edge(at, event.at)?;
                }
            }
            (_, Some((_, at))) => out.edge(at, event.at)?,
            _ => out.notes.remark("condition waits ended without a signal", || {
                format!("context {} on object {:#x}", event.at.context(), out.object)
            }),
        }
        Ok(())
    }

    fn forget(&mut self) {
        if self.waiting.is_empty() && self.reached.is_empty() {
            self.signals.clear();
            self.since_begin = 0;
        }
    }
}

impl Forgets for Cond {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        match event.op {
            WAIT_BEGIN => {
                self.waiting.insert(event.at.context(), event.ticket);
                self.since_begin = 0;
            }
            SyncOp::CondSignal => self.signal(event),
            SyncOp::CondBroadcast => self.broadcast(event),
            SyncOp::CondWake => {
                self.wake(event, out)?;
                self.forget();
            }
            _ => {
                self.end(event.at.context());
                self.forget();
            }
        }
        Ok(())
    }
}

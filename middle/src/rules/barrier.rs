//! Barriers: arrivals in ticket order form generations of as many as take part. A generation is one task,
//! in the context with the smallest number; the places of the other arrivals become names of that task.

use contech_trace::event::SyncOp;
use rustc_hash::FxHashSet;

use super::{Event, Op, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

/// State of a barrier: the generation that fills.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    /// How many take part; 0 where that is not known.
    participants: u64,
    arrivals: Vec<Place>,
    contexts: FxHashSet<u32>,
}

impl Barrier {
    fn close(&mut self, out: &mut Edges) -> Result<()> {
        let Some(owner) = self.arrivals.iter().copied().min() else {
            return Ok(());
        };
        let arrived = self.arrivals.len() as u64;
        if arrived < self.participants {
            let (object, all) = (out.object, self.participants);
            out.notes.remark("barriers that not all reached", || {
                format!("object {object:#x}, {arrived} of {all} arrived")
            });
        }
        for at in self.arrivals.drain(..).filter(|at| *at != owner) {
            out.alias(at, owner)?;
            // What comes before in this context, perhaps another barrier's task by its name here.
            if let Some(before) = at.before() {
                out.edge(before, owner)?;
            }
            if let Some(after) = at.after().filter(|p| out.exists(*p)) {
                out.edge(owner, after)?;
            }
        }
        self.contexts.clear();
        Ok(())
    }
}

impl Rule for Barrier {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if event.op == Op::Recorded(SyncOp::Reduction) {
            // Inside of the barrier, after what the others did before they arrived.
            let before = self.arrivals.iter().filter_map(|at| at.before());
            return before.into_iter().try_for_each(|b| out.edge(b, event.at));
        }
        // A context that arrives again, or another number of participants: the generation is not going to fill.
        let again = !self.contexts.insert(event.at.context());
        if again || (!self.arrivals.is_empty() && event.aux != self.participants) {
            self.close(out)?;
            self.contexts.insert(event.at.context());
        }
        self.participants = event.aux;
        self.arrivals.push(event.at);
        if self.arrivals.len() as u64 == self.participants {
            self.close(out)?;
        }
        Ok(())
    }

    fn cut(&mut self, _init: Option<u64>, out: &mut Edges) -> Result<()> {
        self.close(out)
    }
}

//! Barriers: arrivals in ticket order form generations, each with as many arrivals as contexts take
//! part. A generation is one task in the context with the smallest number. The places of the other
//! arrivals become names of that task.
//!
//! Contexts that have arrived at an OpenMP barrier may combine partial results there. A context
//! does so after what the others did before they arrived, or after they combined themselves.

use contech_trace::event::SyncOp;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Event, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

/// State of a barrier: the generation that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    /// How many contexts take part; 0 if that is not known.
    participants: u64,
    arrivals: Vec<Place>,
    contexts: FxHashSet<u32>,
    combining: Combining,
}

/// What contexts combine inside of a generation.
#[derive(Debug, Default)]
struct Combining {
    /// For each context, the place where it first began to combine.
    first: FxHashMap<u32, Place>,
    /// For each context, the place where it last ended.
    done: FxHashMap<u32, Place>,
    /// The contexts, each with a place that comes after everything it did before it arrived.
    after: Vec<(u32, Place)>,
}

impl Barrier {
    fn combine(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let own = event.at.context();
        let combining = &mut self.combining;
        if event.aux != 0 {
            combining.done.insert(own, event.at);
            return Ok(());
        }
        combining.first.entry(own).or_insert(event.at);
        for context in self.arrivals.iter().map(|at| at.context()) {
            match combining.done.get(&context) {
                Some(done) => out.edge(*done, event.at)?,
                None => combining.after.push((context, event.at)),
            }
        }
        Ok(())
    }

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
        let combining = std::mem::take(&mut self.combining);
        for (context, at) in combining.after {
            let arrival = self.arrivals.iter().find(|a| a.context() == context);
            let begun = combining.first.get(&context).or(arrival);
            if let Some(before) = begun.and_then(|p| p.before()) {
                out.edge(before, at)?;
            }
        }
        meet(self.arrivals.drain(..), owner, out)?;
        self.contexts.clear();
        Ok(())
    }
}

/// Makes one task of all arrivals: that of `owner`, which is the smallest of them. All arrive
/// before it, and all leave after it.
pub(crate) fn meet(
    arrivals: impl Iterator<Item = Place>,
    owner: Place,
    out: &mut Edges,
) -> Result<()> {
    for at in arrivals.filter(|at| *at != owner) {
        out.alias(at, owner)?;
        // The place before may also be another name of a barrier's task.
        if let Some(before) = at.before() {
            out.edge(before, owner)?;
        }
        if let Some(after) = at.after().filter(|p| out.exists(*p)) {
            out.edge(owner, after)?;
        }
    }
    Ok(())
}

impl Rule for Barrier {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if event.op == SyncOp::Reduction {
            return self.combine(event, out);
        }
        // If a context arrives again, or the number of participants changes, the generation will
        // not be complete.
        let again = !self.contexts.insert(event.at.context());
        // A complete generation is closed only now, because its members may combine after the last
        // one has arrived.
        let full = self.arrivals.len() as u64 == self.participants;
        if again || full || (!self.arrivals.is_empty() && event.aux != self.participants) {
            self.close(out)?;
            self.contexts.insert(event.at.context());
        }
        self.participants = event.aux;
        self.arrivals.push(event.at);
        Ok(())
    }

    fn cut(&mut self, _init: Option<u64>, out: &mut Edges) -> Result<()> {
        self.close(out)
    }
}

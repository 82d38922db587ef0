//! Dependences of OpenMP tasks on an item. They exist among the tasks that one context has
//! generated, in the order in which it generated them (OpenMP 5.2, section 15.9.5). Tasks that may
//! use the item at the same time form a set, and each of them waits for all tasks of the previous
//! set.

use contech_trace::event::SyncOp;
use rustc_hash::FxHashMap;

use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

/// The sets of one generating context.
#[derive(Debug, Default)]
struct Sets {
    op: Option<SyncOp>,
    now: Vec<Place>,
    before: Vec<Place>,
}

/// State of an item, for each generating context.
#[derive(Debug, Default)]
pub(super) struct Depend(FxHashMap<u64, Sets>);

impl Forgets for Depend {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let parent = event.aux;
        let sets = self.0.entry(parent).or_default();
        let joins = sets.op == Some(event.op) && event.op != SyncOp::DependInout;
        if !joins {
            sets.before = std::mem::take(&mut sets.now);
            sets.op = Some(event.op);
        }
        for place in &sets.before {
            let context = place.context();
            if u64::from(context) == parent {
                // This is a taskwait of the generating context. What it waited for came before it
                // in program order.
                continue;
            }
            out.after(context, event.at)?;
        }
        sets.now.push(event.at);
        Ok(())
    }
}

//! Dependences of OpenMP tasks on an item: among the tasks one context has generated, in the order in which
//! it did (OpenMP 5.2, section 15.9.5). Tasks that may use the item at the same time form a set; each waits
//! for all of the set before.

use rustc_hash::FxHashMap;

use super::{Event, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::openmp;
use crate::place::Place;

const IN: u64 = 1;
const MUTEXINOUTSET: u64 = 4;
const INOUTSET: u64 = 7;

/// The sets of one generating context.
#[derive(Debug, Default)]
struct Sets {
    kind: u64,
    now: Vec<Place>,
    before: Vec<Place>,
}

/// State of an item, by generating context.
#[derive(Debug, Default)]
pub(super) struct Depend(FxHashMap<u64, Sets>);

impl Rule for Depend {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let kind = openmp::kind(event.aux);
        let parent = event.aux & u64::from(u32::MAX);
        let sets = self.0.entry(parent).or_default();
        let joins = kind == sets.kind && matches!(kind, IN | MUTEXINOUTSET | INOUTSET);
        if !joins {
            sets.before = std::mem::take(&mut sets.now);
            sets.kind = kind;
        }
        for place in &sets.before {
            let context = place.context();
            if u64::from(context) == parent {
                // A taskwait of the generating context: what it waited for came before, by program order.
                continue;
            }
            for end in out.ends_of(context).into_iter().flatten() {
                out.edge(end, event.at)?;
            }
        }
        sets.now.push(event.at);
        Ok(())
    }

    fn cut(&mut self, _init: Option<u64>, _out: &mut Edges) -> Result<()> {
        self.0.clear();
        Ok(())
    }
}

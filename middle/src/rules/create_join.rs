//! Creating and joining contexts: the Create comes before the child's first task, and the child's
//! last task comes before the Join.

use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

#[derive(Debug, Default)]
pub(super) struct CreateJoin {
    created: bool,
}

impl Forgets for CreateJoin {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let child = u32::try_from(out.object).ok();
        let last = child.and_then(|c| out.last_place(c));
        let (Some(child), Some(last)) = (child, last) else {
            let (at, object) = (event.at, out.object);
            out.notes.remark("created or joined threads left no records", || {
                format!("context {object}, named by context {}", at.context())
            });
            return Ok(());
        };
        if event.waits() {
            out.joined(child);
            return out.edge(last, event.at);
        }
        if self.created {
            out.notes.damage("a thread was created more than once", || format!("context {child}"));
            return Ok(());
        }
        self.created = true;
        out.created(child);
        out.edge(event.at, Place::new(child, 0))
    }
}

//! Counting semaphores: units are taken first in, first out. The wait that takes a posted unit
//! comes after the post.

use std::sync::Arc;

use super::{Event, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;
use crate::queue::SpillQueue;
use crate::spill::Spill;

#[derive(Debug)]
pub(super) struct Sem {
    /// Number of units that are left of the initial value, which no context posted.
    initial: u64,
    /// Posts whose unit was not taken yet.
    posts: SpillQueue,
}

impl Sem {
    pub(super) fn new(spill: &Arc<Spill>) -> Self {
        Sem { initial: 0, posts: SpillQueue::new(spill) }
    }
}

impl Rule for Sem {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if !event.waits() {
            return self.posts.push(event.at.bits());
        }
        if self.initial > 0 {
            self.initial -= 1;
        } else if let Some(post) = self.posts.pop()? {
            out.edge(Place::from_bits(post), event.at)?;
        }
        // Otherwise the wait took a unit of an initial value that was not recorded, so nothing that
        // is known comes before it.
        Ok(())
    }

    fn cut(&mut self, init: Option<u64>, _out: &mut Edges) -> Result<()> {
        self.initial = init.unwrap_or(0);
        self.posts.clear();
        Ok(())
    }
}

//! Doacross loops: the post of an iteration comes before the waits for it.

use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

#[derive(Debug, Default)]
pub(super) struct Doacross {
    post: Option<Place>,
    /// Waits that are over before their post. libomp may say that a wait is over before it says
    /// what it waited for.
    early: Vec<Place>,
}

impl Forgets for Doacross {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if !event.waits() {
            self.post = Some(event.at);
            return self.early.drain(..).try_for_each(|wait| out.edge(event.at, wait));
        }
        match self.post {
            Some(post) => out.edge(post, event.at),
            None => {
                self.early.push(event.at);
                Ok(())
            }
        }
    }
}

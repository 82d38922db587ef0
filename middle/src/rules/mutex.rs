//! Mutexes, spin locks and everything that excludes like them: the last release comes before the
//! next acquire by another context. A condition wait releases its mutex and acquires it again.

use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

#[derive(Debug, Default)]
pub(super) struct Mutex {
    release: Option<Place>,
}

impl Forgets for Mutex {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if !event.waits() {
            self.release = Some(event.at);
            return Ok(());
        }
        // The release is taken out, because the nested acquires of a recursive lock follow the
        // first acquire of the same context.
        match self.release.take() {
            Some(release) => out.edge(release, event.at),
            None => Ok(()),
        }
    }
}

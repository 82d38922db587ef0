//! One-time initialisation: the run comes before every pass.

use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

#[derive(Debug, Default)]
pub(super) struct Once {
    run: Option<Place>,
}

impl Forgets for Once {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if !event.waits() {
            self.run = Some(event.at);
        } else if let Some(run) = self.run {
            out.edge(run, event.at)?;
        }
        Ok(())
    }
}

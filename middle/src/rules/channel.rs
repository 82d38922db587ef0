//! What goes through the system: a pipe, a socket, a signal. Who receives comes after all that was
//! sent before, because how many bytes are in between is not recorded.

use super::atomic::Atomic;
use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;

/// It orders like an atomic variable that senders count up (release) and receivers read (acquire).
#[derive(Debug, Default)]
pub(super) struct Channel(Atomic);

impl Forgets for Channel {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if event.waits() {
            return self.0.acquire(event.at, out);
        }
        self.0.release(event.at);
        Ok(())
    }
}

//! Mutexes: the last release comes before the next acquire by another context. A condition wait releases
//! its mutex and acquires it again.

use contech_trace::event::SyncOp;

use super::{Event, Op, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

/// A lock held by one context at a time.
#[derive(Debug, Default)]
pub(super) struct Chain {
    release: Option<Place>,
}

impl Chain {
    pub(super) fn acquire(&mut self, at: Place, out: &mut Edges) -> Result<()> {
        // Taken: the nested acquires of a recursive lock follow their own context's first one.
        match self.release.take() {
            Some(release) => out.edge(release, at),
            None => Ok(()),
        }
    }

    pub(super) fn release(&mut self, at: Place) {
        self.release = Some(at);
    }
}

/// State of a mutex.
#[derive(Debug, Default)]
pub(super) struct Mutex(Chain);

impl Rule for Mutex {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        match event.op {
            Op::Recorded(SyncOp::MutexLock | SyncOp::CondReacquire) => {
                self.0.acquire(event.at, out)
            }
            _ => {
                self.0.release(event.at);
                Ok(())
            }
        }
    }

    fn cut(&mut self, _init: Option<u64>, _out: &mut Edges) -> Result<()> {
        self.0 = Chain::default();
        Ok(())
    }
}

//! Spin locks: ordered as mutexes.

use contech_trace::event::SyncOp;

use super::mutex::Chain;
use super::{Event, Op, Rule};
use crate::edges::Edges;
use crate::error::Result;

/// State of a spin lock.
#[derive(Debug, Default)]
pub(super) struct Spin(Chain);

impl Rule for Spin {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        if event.op == Op::Recorded(SyncOp::SpinLock) {
            return self.0.acquire(event.at, out);
        }
        self.0.release(event.at);
        Ok(())
    }

    fn cut(&mut self, _init: Option<u64>, _out: &mut Edges) -> Result<()> {
        self.0 = Chain::default();
        Ok(())
    }
}

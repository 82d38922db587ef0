//! Reader-writer locks: a write release comes before the acquires that follow it, and read releases
//! come before the next write acquire. Readers are not ordered among themselves.

use contech_trace::event::SyncOp;
use rustc_hash::FxHashMap;

use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;
use crate::place::Place;

#[derive(Debug, Default)]
pub(super) struct RwLock {
    /// The context that holds the lock for writing. It shows whether a release is a write release.
    writer: Option<u32>,
    write_release: Option<Place>,
    /// Last read release of each context since the last write acquire. Earlier releases of the same
    /// context come before it in program order.
    read_releases: FxHashMap<u32, Place>,
}

impl RwLock {
    fn write(&mut self, at: Place, out: &mut Edges) -> Result<()> {
        if let (true, Some(release)) = (self.read_releases.is_empty(), self.write_release) {
            out.edge(release, at)?;
        }
        // The write release before the readers reaches this acquire through the readers.
        for release in self.read_releases.drain().map(|(_, at)| at) {
            out.edge(release, at)?;
        }
        self.writer = Some(at.context());
        Ok(())
    }
}

impl Forgets for RwLock {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let context = event.at.context();
        match event.op {
            SyncOp::RwWrite => self.write(event.at, out)?,
            SyncOp::RwRead => {
                if let Some(release) = self.write_release {
                    out.edge(release, event.at)?;
                }
            }
            _ if self.writer == Some(context) => {
                self.writer = None;
                self.write_release = Some(event.at);
            }
            _ => {
                self.read_releases.insert(context, event.at);
            }
        }
        Ok(())
    }
}

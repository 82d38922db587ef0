//! The windows of time in which a graph with a sample of a run has its synchronisation. A run with
//! many millions of operations would take longer to order than it ran. So outside of some windows
//! no thread does anything: whatever it does until the next window, or until something that makes
//! the structure of the run, is one pause.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use contech_program::Family;
use contech_trace::event::SyncOp;
use contech_trace::file::{ChunkKind, HEADER_BYTES, Totals};
use contech_trace::reader::{ChunkReader, Next};

/// About so many operations are kept.
const KEPT: u64 = 1 << 19;
/// Windows and gaps in a second.
const WINDOWS: u64 = 500;
/// The totals are among so many last bytes of a file.
const TAIL: u64 = 1 << 16;

/// One window in `every`, of so many ticks. Without windows, everything is kept.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    every: u64,
    ticks: u64,
}

impl Gaps {
    /// The gaps of the trace in a file: none if it says that few operations are in it, or if it
    /// does not say how many.
    pub(crate) fn of(trace: &Path) -> Self {
        let totals = totals(trace);
        totals.map_or_else(Self::default, |totals| Self {
            every: totals.syncs / KEPT,
            ticks: (totals.clock_hz / WINDOWS).max(1),
        })
    }

    /// Whether there are gaps.
    pub(crate) fn any(&self) -> bool {
        self.every > 1
    }

    /// Whether a tick is in a gap.
    pub(crate) fn have(&self, tick: u64) -> bool {
        // As good as random, because programs have periods.
        let window = |tick: u64| (tick / self.ticks).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.any() && !(window(tick) >> 40).is_multiple_of(self.every)
    }
}

/// Whether an operation is left out in a gap. Others make contexts, end them or wait for all of a
/// team, or their order cannot be told from a part of them.
pub(crate) fn may_miss(op: SyncOp) -> bool {
    let family = op.family();
    matches!(family, Some(Family::Mutex | Family::Spin | Family::RwLock | Family::Atomic))
        && !matches!(op, SyncOp::CondRelease | SyncOp::CondReacquire | SyncOp::ScopeJoin)
}

/// What a trace file says at its end.
fn totals(trace: &Path) -> Option<Totals> {
    // What a pipe has is read once.
    std::fs::metadata(trace).ok().filter(|about| about.is_file())?;
    let mut file = File::open(trace).ok()?;
    let mut head = Vec::new();
    file.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut head).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL).max(head.len() as u64))).ok()?;
    // What is left of the chunk in the middle of which this begins is skipped as damage.
    let (_, mut chunks) = ChunkReader::new(head.chain(file)).ok()?.ok()?;
    let mut found = None;
    loop {
        match chunks.next_chunk().ok()? {
            Next::Chunk(chunk) if chunk.header.kind == ChunkKind::End => {
                found = Totals::from_bytes(chunk.payload(&mut Vec::new()).ok()?).ok();
            }
            Next::End => return found,
            Next::Chunk(_) | Next::Skipped { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_window_in_so_many_is_kept() {
        let gaps = Gaps { every: 8, ticks: 10 };
        let kept = (0..80_000).filter(|tick| !gaps.have(*tick)).count();
        assert!((9_000..11_000).contains(&kept), "{kept}");
        assert!((0..1000).all(|tick| gaps.have(tick) == gaps.have(tick / 10 * 10)));
        assert!(!(0..1000).any(|tick| Gaps::default().have(tick)));
    }
}

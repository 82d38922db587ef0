//! The positions that threads noted, on their way to the graph.

use taskgraph::{FrameRef, Progress};

use crate::executors::Executors;

/// A position whose time is in ticks of its trace, and whose frame and executor have the numbers
/// that drafts have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(crate) stream: u32,
    pub(crate) ticks: u64,
    pub(crate) ran_us: u64,
    pub(crate) system_us: u64,
    pub(crate) faults: u32,
    pub(crate) own: u32,
    pub(crate) processor: u16,
    /// The frame, and the number of its records before; `None` if nothing was recorded since the
    /// last operation.
    pub(crate) frame: Option<(FrameRef, u32)>,
}

impl Position {
    /// The position as the graph has it. `time` makes nanoseconds of ticks in a stream.
    pub(crate) fn finish(
        self,
        executors: &Executors,
        frames: &[FrameRef],
        time: impl Fn(u32, u64) -> u64,
    ) -> Option<Progress> {
        let at = |frame: FrameRef| frames.get(usize::try_from(frame.0).ok()?).copied();
        let frame = self.frame.and_then(|(frame, record)| Some((at(frame)?, record)));
        let (frame, record) = frame.unwrap_or_default();
        Some(Progress {
            executor: executors.of(self.stream)?,
            at_ns: time(self.stream, self.ticks),
            ran_ns: self.ran_us.saturating_mul(1000),
            system_ns: self.system_us.saturating_mul(1000),
            faults: self.faults.into(),
            own_faults: self.own.into(),
            processor: self.processor.into(),
            frame,
            record,
        })
    }
}

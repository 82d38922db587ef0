//! Writes segments of one function; knows what is known between them, as a recording does.

use std::sync::Arc;

use contech_program::Layout;
use contech_program::path::{CompiledFunction, CompiledPath, Recorded, State, Walk};
use taskgraph::path::{Path, PathFunction, PathTable};
use taskgraph::{FrameEncoder, Segment, StaticInfo};

pub(crate) struct Recorder {
    pub(crate) encoder: FrameEncoder,
    function: CompiledFunction,
    state: State,
}

impl Recorder {
    pub(crate) fn new(info: &Arc<StaticInfo>, function: &PathFunction, paths: usize) -> Self {
        let table = PathTable::new(info, vec![function.clone()], paths).unwrap();
        Self {
            encoder: FrameEncoder::with_paths(Arc::clone(info), Arc::new(table)),
            function: CompiledFunction::new(function, info, &Layout::new(info)),
            state: State::default(),
        }
    }

    pub(crate) fn segment(
        &mut self,
        (number, path): (u32, Option<Path>),
        bytes: &[u8],
        counts: &[u64],
    ) -> bool {
        let segment = Segment {
            path: number,
            bytes,
            counts,
        };
        let mut before = self.state.clone();
        let encoder = &mut self.encoder;
        if !encoder.segment(segment, || &mut before, || path.clone()) {
            return false;
        }
        let path = CompiledPath::new(path.unwrap(), &self.function);
        if path.path.fresh {
            self.state.begin(&self.function);
        }
        let mut recorded = Recorded { bytes, counts };
        let mut walk = Walk::default();
        let f = &self.function;
        self.state
            .follow(&path, f, &mut recorded, &mut walk, |_, _| {});
        true
    }
}

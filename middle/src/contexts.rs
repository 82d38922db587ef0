//! What is known of each context.

use std::collections::BTreeMap;

use taskgraph::{Counts, FrameSpan};

use crate::draft::DraftWriter;
use crate::fences::Fences;
use crate::place::Place;

/// A context while its stream is cut into tasks, and after.
#[derive(Debug, Default)]
pub(crate) struct ContextState {
    /// Its thread left it at this tick and has not come back.
    pub(crate) away: Option<u64>,
    /// Ticks its thread was away, outside of waits, since the last task: no work of its own.
    pub(crate) shift: u64,
    /// Last piece that was read to its end, of a context that goes from thread to thread.
    pub(crate) piece: u32,
    /// Such a piece is being read.
    pub(crate) in_piece: bool,
    /// Where the event of a detached task was fulfilled.
    pub(crate) fulfilled: Option<Place>,
    /// Tasks and barrier arrivals so far.
    pub(crate) places: u32,
    /// End of the last event, in ticks.
    pub(crate) clock: u64,
    /// Latest moment seen, in ticks.
    pub(crate) last: u64,
    /// First moment seen, in ticks.
    pub(crate) first: u64,
    /// Its start was recorded in another context, or it is the first one.
    pub(crate) announced: bool,
    /// Somebody waited for its end.
    pub(crate) joined: bool,
    /// It was begun by a thread that has a context of its own or none.
    pub(crate) entered: bool,
    /// Its start event was seen.
    pub(crate) started: bool,
    /// Its end is all that was recorded: the program ended before the thread began.
    pub(crate) idle: bool,
    /// Its end event was seen.
    pub(crate) end_seen: bool,
    /// It ended by itself, not with the program.
    pub(crate) ended: bool,
    /// The work task that grows.
    pub(crate) open: OpenWork,
    pub(crate) writer: DraftWriter,
    pub(crate) fences: Fences,
}

/// A work task that may grow with the next chunk.
#[derive(Debug, Default)]
pub(crate) struct OpenWork {
    pub(crate) counts: Counts,
    /// Its last span; the others are in the log already.
    pub(crate) span: Option<FrameSpan>,
}

/// All contexts, by number.
#[derive(Debug, Default)]
pub(crate) struct Contexts(BTreeMap<u32, ContextState>);

impl Contexts {
    pub(crate) fn get(&self, context: u32) -> Option<&ContextState> {
        self.0.get(&context)
    }

    pub(crate) fn get_mut(&mut self, context: u32) -> Option<&mut ContextState> {
        self.0.get_mut(&context)
    }

    /// The context, made when it is new; and whether it is.
    pub(crate) fn entry(&mut self, context: u32) -> (&mut ContextState, bool) {
        let mut new = false;
        let state = self.0.entry(context).or_insert_with(|| {
            new = true;
            ContextState::default()
        });
        (state, new)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &ContextState)> {
        self.0.iter().map(|(c, s)| (*c, s))
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.0.keys().copied().collect()
    }
}

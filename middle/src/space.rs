//! Several traces in one graph: the numbers of each trace become numbers of the graph.
//!
//! The contexts of a trace follow those of the trace before; the first one, 0, is the root's.
//! Addresses get the trace's number in front, from bit 48 on. So the same address in two processes
//! is not the same memory (contech.txt, section 6.4: a partitioned global address space).

use contech_trace::event::{Event, NOWHERE, SyncOp};

use crate::encode::EncodedChunk;
use crate::streams::{Record, TEAM_STREAMS};

/// The bit from which on an address holds the process's number.
pub(crate) const PREFIX: u32 = 48;

/// How the numbers of a trace become numbers of the graph.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Space {
    /// Number of the trace, in the order the traces are read.
    trace: u16,
    /// The context that is 0 in the trace.
    base: u32,
    /// The first stream of the trace that has no context, counted from [`TEAM_STREAMS`].
    teams: u32,
}

impl Space {
    /// The space of the trace that follows these contexts, which ascend.
    pub(crate) fn after(contexts: &[u32], trace: u16) -> Self {
        let below = contexts.partition_point(|c| *c < TEAM_STREAMS);
        let next = |part: &[u32], first: u32| part.last().map_or(0, |last| last - first + 1);
        Space {
            trace,
            base: next(&contexts[..below], 0),
            teams: next(&contexts[below..], TEAM_STREAMS),
        }
    }

    /// The context in which the run of this trace starts.
    pub(crate) fn first(&self) -> u32 {
        self.base
    }

    /// Whether the context is of this trace, if no later trace was read.
    pub(crate) fn holds(&self, context: u32) -> bool {
        match context.checked_sub(TEAM_STREAMS) {
            Some(stream) => stream >= self.teams,
            None => context >= self.base,
        }
    }

    fn context(&self, context: u32) -> u32 {
        if context == NOWHERE {
            context
        } else if context >= TEAM_STREAMS {
            context.saturating_add(self.teams)
        } else {
            context.saturating_add(self.base).min(TEAM_STREAMS - 1)
        }
    }

    /// Converts an object to the graph's form.
    pub(crate) fn object(&self, op: SyncOp, object: u64) -> u64 {
        if op == SyncOp::ScopeJoin {
            0
        } else if object == 0 || is_context(op) || op.is_mpi() || op == SyncOp::Fork {
            object
        } else {
            object | u64::from(self.trace) << PREFIX
        }
    }

    /// Converts a chunk's contexts to those of the graph.
    pub(crate) fn translate(&self, chunk: &mut EncodedChunk) {
        if self.base == 0 {
            return;
        }
        chunk.context = self.context(chunk.context);
        for record in &mut chunk.records {
            let Record::Event(event, _) = record else { continue };
            match event {
                Event::ContextStart { context, creator, .. } => {
                    *context = self.context(*context);
                    *creator = self.context(*creator);
                }
                Event::Switch { context, .. } => *context = self.context(*context),
                Event::Sync { op, object, aux, .. } | Event::Untimed { op, object, aux, .. } => {
                    if is_context(*op) {
                        *object = self.context_in(*object);
                    } else if op.is_depend() {
                        let generating = *aux & u64::from(u32::MAX);
                        *aux = *aux - generating + self.context_in(generating);
                    }
                }
                _ => {}
            }
        }
    }

    fn context_in(&self, number: u64) -> u64 {
        u32::try_from(number).map_or(number, |c| self.context(c).into())
    }
}

/// Whether the operation's object is a context.
fn is_context(op: SyncOp) -> bool {
    matches!(
        op,
        SyncOp::ThreadCreate
            | SyncOp::ThreadJoin
            | SyncOp::ParallelBegin
            | SyncOp::ParallelEnd
            | SyncOp::TaskCreate
            | SyncOp::TaskJoin
            | SyncOp::Fulfill
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_of_a_trace_follow_those_of_the_one_before() {
        let space = Space::after(&[0, 1, 2, 5, TEAM_STREAMS, TEAM_STREAMS + 1], 1);
        assert_eq!(space.first(), 6);
        assert_eq!(space.context(3), 9);
        assert_eq!(space.context(TEAM_STREAMS), TEAM_STREAMS + 2);
        assert!(space.holds(6) && !space.holds(5));
        assert!(space.holds(TEAM_STREAMS + 2) && !space.holds(TEAM_STREAMS + 1));
    }

    #[test]
    fn addresses_get_the_traces_number_and_contexts_do_not() {
        let space = Space::after(&[0], 3);
        assert_eq!(space.object(SyncOp::MutexLock, 0x1000), 0x0003_0000_0000_1000);
        assert_eq!(space.object(SyncOp::ThreadJoin, 4), 4);
    }
}

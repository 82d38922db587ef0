//! What a segment may follow. A function goes on where its last segment ended, or after an
//! interruption.

use contech_program::path::{PathLoop, State};

use super::Decoder;
use crate::fast::path::Plan;
use crate::fast::table::{FastFunction, Target};
use crate::program::Program;
use crate::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fast) struct Resume {
    function: u32,
    node: u32,
    resumes: Option<u32>,
}

/// A function that goes on after the handler that interrupted it.
#[derive(Debug)]
pub(super) struct Suspended {
    expected: Resume,
    state: State,
}

/// Largest number of functions that are suspended at a time. The runtime records no deeper nesting
/// of handlers, and functions that a jump has left never go on.
const MOST_SUSPENDED: usize = 16;

impl Decoder {
    /// Notes that a function was interrupted: something else begins where the function was to go
    /// on.
    pub(in crate::fast) fn suspend(&mut self, payload: &[u8], program: &Program) {
        if let Some(expected) = self.expected.take() {
            if self.suspended.len() == MOST_SUSPENDED {
                self.suspended.remove(0);
            }
            self.suspended
                .push(Suspended { expected, state: self.follower.take(payload, program) });
        }
    }

    /// Resumes the interrupted function that goes on here, and returns false if there is none.
    /// Functions that were suspended later will never go on.
    fn resume(&mut self, here: Resume) -> bool {
        let Some(at) = self.suspended.iter().rposition(|s| s.expected == here) else {
            return false;
        };
        self.suspended.truncate(at + 1);
        if let Some(suspended) = self.suspended.pop() {
            self.follower.put_back(suspended.state);
        }
        true
    }

    /// Checks that the segment at `at` may start there. Returns true if it goes on after an
    /// interruption, and `None` if it means nothing, because the stream has no blocks here or does
    /// not have those that it goes on with.
    pub(in crate::fast) fn begin(
        &mut self,
        plan: &Plan,
        at: usize,
        payload: &[u8],
        program: &Program,
    ) -> Result<Option<bool>> {
        if self.is_off() {
            return Ok(None);
        }
        if plan.path.fresh {
            self.suspend(payload, program);
            self.follower.forget();
            return Ok(Some(false));
        }
        let here = start(plan);
        if self.expected == Some(here) {
            return Ok(Some(false));
        }
        if self.resume(here) {
            return Ok(Some(true));
        }
        if self.gapped {
            return Ok(None);
        }
        Err(Error::Invalid {
            what: "segment",
            offset: at as u64,
            detail: format!("goes on at {here:?}, but {:?} was to follow", self.expected),
        })
    }
}

/// Where a segment that is not fresh goes on.
pub(in crate::fast) fn start(plan: &Plan) -> Resume {
    Resume { function: plan.path.function, node: plan.start, resumes: plan.resumes }
}

/// What must follow a segment.
pub(in crate::fast) fn next(f: &FastFunction, plan: &Plan) -> Option<Resume> {
    let function = plan.path.function;
    match plan.end {
        Target::Cut(node) => Some(Resume { function, node, resumes: None }),
        Target::LoopCut(l) => match &f.code.loops[l as usize] {
            PathLoop::Collapsed { body, .. } => {
                Some(Resume { function, node: *body.first()?, resumes: Some(l) })
            }
            PathLoop::Plain => None,
        },
        Target::End | Target::Node(_) => None,
    }
}

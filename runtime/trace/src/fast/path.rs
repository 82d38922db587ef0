//! From a path id back to the nodes of a segment (Ball and Larus 1996, section 3.5).

use contech_program::path::{Path, PathLoop, Step};

use super::table::{FastFunction, LoopStep, Target};
use crate::{Error, Result};

/// What one path id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Start node of the segment.
    pub start: u32,
    /// The collapsed loop it resumes.
    pub resumes: Option<u32>,
    /// What it executes, and whether it knows nothing at its start.
    pub path: Path,
    /// How it ends: never [`Target::Node`].
    pub end: Target,
    /// Bytes of its record without the id, when no loop's count decides about them.
    pub fixed_bytes: Option<usize>,
}

impl FastFunction {
    /// The plan of path `sum` from start `start`; the function has the dense index `function`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the table does not describe such a path.
    pub fn plan(&self, function: u32, start: usize, sum: u32) -> Result<Plan> {
        let bad = |detail: &str| Error::Invalid {
            what: "path id",
            offset: 0,
            detail: format!("path {sum} of start {start}: {detail}"),
        };
        let s = self.starts.get(start).ok_or_else(|| bad("no such start"))?;
        let mut steps = Vec::new();
        let (mut node, mut rest, mut resumed) = (s.node, sum, s.resumes.is_some());
        for _ in 0..=self.edges.len() {
            let edges = self.edges.get(node as usize);
            let edges = edges.ok_or_else(|| bad("no such node"))?;
            let edge = edges.iter().rfind(|e| e.increment <= rest);
            let edge = edge.ok_or_else(|| bad("the path has no end"))?;
            rest -= edge.increment;
            match self.code.collapsed_at(node) {
                Some(index) => {
                    let cut = matches!(edge.target, Target::LoopCut(_));
                    steps.push(Step::Loop {
                        index,
                        cut,
                        resumed,
                    });
                }
                None => steps.push(Step::Node(node)),
            }
            resumed = false;
            match edge.step {
                LoopStep::None => {}
                LoopStep::Enter(l) => steps.push(Step::Enter(l)),
                LoopStep::Next(l) => steps.push(Step::Next(l)),
            }
            if let Target::Node(next) = edge.target {
                node = next;
                continue;
            }
            if rest != 0 {
                return Err(bad("a remainder is left at its end"));
            }
            let fixed_bytes = self.fixed(&steps);
            return Ok(Plan {
                start: s.node,
                resumes: s.resumes,
                path: Path {
                    function,
                    fresh: s.fresh,
                    steps,
                },
                end: edge.target,
                fixed_bytes,
            });
        }
        Err(bad("the segment graph has a cycle"))
    }

    fn fixed(&self, steps: &[Step]) -> Option<usize> {
        steps.iter().try_fold(0, |sum, step| match step {
            Step::Node(n) => Some(sum + self.code.leaf_bytes(&[*n])),
            Step::Enter(_) | Step::Next(_) => Some(sum),
            Step::Loop { index, .. } => (!self.is_recorded(*index)).then_some(sum),
        })
    }

    /// Whether the executions of a collapsed loop record their count, and leaves before it. One that computes its count
    /// records nothing.
    pub(super) fn is_recorded(&self, l: u32) -> bool {
        let l = self.code.loops.get(l as usize);
        matches!(l, Some(PathLoop::Collapsed { count: None, .. }))
    }
}

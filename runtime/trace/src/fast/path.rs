//! Finds the nodes of a segment from its path id (Ball and Larus 1996, section 3.5).

use contech_program::path::{Path, PathLoop, Step};

use super::table::{FastFunction, LoopStep, Target};
use crate::{Error, Result};

/// What one path id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Start node of the segment.
    pub start: u32,
    /// The collapsed loop that the segment resumes, if any.
    pub resumes: Option<u32>,
    /// What the segment executes, and whether it knows nothing at its start.
    pub path: Path,
    /// How the segment ends; this is never [`Target::Node`].
    pub end: Target,
    /// The parts of the segment's record from its end, without the id.
    pub recorded: Vec<Recorded>,
}

/// A part of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// This many bytes.
    Bytes(usize),
    /// A count. Before it stand `last` bytes, and before these `each` bytes for each counted
    /// iteration.
    Loop {
        /// Bytes of the last iteration, which is not counted.
        last: usize,
        /// Bytes of each of the others.
        each: usize,
    },
}

impl Plan {
    /// Number of bytes of the segment's record without the id, if no loop's count affects it.
    #[inline]
    #[must_use]
    pub fn fixed_bytes(&self) -> Option<usize> {
        match self.recorded[..] {
            [] => Some(0),
            [Recorded::Bytes(n)] => Some(n),
            _ => None,
        }
    }

    /// Number of loops whose counts are recorded.
    #[inline]
    pub(super) fn counts(&self) -> usize {
        let counted = |part: &&Recorded| matches!(part, Recorded::Loop { .. });
        self.recorded.iter().filter(counted).count()
    }
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
                    steps.push(Step::Loop { index, cut, resumed });
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
            let recorded = self.recorded(&steps);
            return Ok(Plan {
                start: s.node,
                resumes: s.resumes,
                path: Path { function, fresh: s.fresh, steps },
                end: edge.target,
                recorded,
            });
        }
        Err(bad("the segment graph has a cycle"))
    }

    fn recorded(&self, steps: &[Step]) -> Vec<Recorded> {
        let mut recorded = Vec::new();
        for step in steps.iter().rev() {
            let (index, cut) = match *step {
                Step::Enter(_) | Step::Next(_) => continue,
                Step::Node(n) => {
                    let n = self.code.leaf_bytes(&[n]);
                    match recorded.last_mut() {
                        _ if n == 0 => {}
                        Some(Recorded::Bytes(bytes)) => *bytes += n,
                        _ => recorded.push(Recorded::Bytes(n)),
                    }
                    continue;
                }
                Step::Loop { index, cut, .. } => (index, cut),
            };
            // A loop that computes its count records nothing.
            if let Some(PathLoop::Collapsed { body, last, count: None }) =
                self.code.loops.get(index as usize)
            {
                let last = if cut { 0 } else { *last as usize };
                recorded.push(Recorded::Loop {
                    last: self.code.leaf_bytes(&body[..last]),
                    each: self.code.leaf_bytes(body),
                });
            }
        }
        recorded
    }
}

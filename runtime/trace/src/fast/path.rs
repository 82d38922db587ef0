//! From a path id back to the nodes of a segment (Ball and Larus 1996, section 3.5).

use super::table::{Count, FastFunction, Loop, LoopStep, Target};
use crate::{Error, Result};

/// One step of a segment, in execution order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// Execution of a node.
    Node(u32),
    /// All iterations of a collapsed loop; with `cut`, only whole iterations up to a full buffer.
    Loop {
        /// The loop.
        index: u32,
        /// Ends by [`Target::LoopCut`].
        cut: bool,
        /// Goes on from an earlier cut: iteration numbers continue.
        resumed: bool,
    },
    /// An edge's effect on an iteration number.
    Step(LoopStep),
}

/// What one path id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Start node of the segment.
    pub start: u32,
    /// Whether it knows nothing at its start.
    pub fresh: bool,
    /// The collapsed loop it resumes.
    pub resumes: Option<u32>,
    /// Steps in order.
    pub items: Vec<Item>,
    /// How it ends: never [`Target::Node`].
    pub end: Target,
    /// Bytes of its record without the id, when no loop's count decides about them.
    pub fixed_bytes: Option<usize>,
}

impl FastFunction {
    /// The plan of path `sum` from start `start`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the table does not describe such a path.
    pub fn plan(&self, start: usize, sum: u32) -> Result<Plan> {
        let bad = |detail: &str| Error::Invalid {
            what: "path id",
            offset: 0,
            detail: format!("path {sum} of start {start}: {detail}"),
        };
        let s = self.starts.get(start).ok_or_else(|| bad("no such start"))?;
        let mut items = Vec::new();
        let (mut node, mut rest, mut resumed) = (s.node, sum, s.resumes.is_some());
        for _ in 0..=self.nodes.len() {
            let n = self
                .nodes
                .get(node as usize)
                .ok_or_else(|| bad("no such node"))?;
            let edge = n.edges.iter().rfind(|e| e.increment <= rest);
            let edge = edge.ok_or_else(|| bad("the path has no end"))?;
            rest -= edge.increment;
            match self.collapsed_at(node) {
                Some(index) => {
                    let cut = matches!(edge.target, Target::LoopCut(_));
                    items.push(Item::Loop {
                        index,
                        cut,
                        resumed,
                    });
                }
                None => items.push(Item::Node(node)),
            }
            resumed = false;
            if edge.step != LoopStep::None {
                items.push(Item::Step(edge.step));
            }
            if let Target::Node(next) = edge.target {
                node = next;
                continue;
            }
            if rest != 0 {
                return Err(bad("a remainder is left at its end"));
            }
            let fixed_bytes = self.fixed(&items);
            return Ok(Plan {
                start: s.node,
                fresh: s.fresh,
                resumes: s.resumes,
                items,
                end: edge.target,
                fixed_bytes,
            });
        }
        Err(bad("the segment graph has a cycle"))
    }

    /// The collapsed loop whose header is `node`.
    #[must_use]
    pub fn collapsed_at(&self, node: u32) -> Option<u32> {
        let at = |l: &Loop| matches!(l, Loop::Collapsed { header, .. } if *header == node);
        self.loops
            .iter()
            .position(at)
            .and_then(|i| u32::try_from(i).ok())
    }

    /// Bytes of the leaves of a node.
    #[must_use]
    pub fn leaf_bytes(&self, node: u32) -> usize {
        self.nodes
            .get(node as usize)
            .map_or(0, |n| n.leaves.iter().map(|l| usize::from(l.width)).sum())
    }

    fn fixed(&self, items: &[Item]) -> Option<usize> {
        items.iter().try_fold(0, |sum, i| match i {
            Item::Node(n) => Some(sum + self.leaf_bytes(*n)),
            Item::Step(_) => Some(sum),
            Item::Loop { index, .. } => match self.loops.get(*index as usize)? {
                Loop::Collapsed {
                    count: Count::Computed(_),
                    ..
                } => Some(sum),
                _ => None,
            },
        })
    }
}

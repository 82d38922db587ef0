//! Counts the executions of blocks in records. The execution of a path without loops is counted as one, and no operand
//! is computed.

use std::ops::Range;

use crate::error::{Result, malformed};
use crate::frame::decode::{DecodedFrame, Table, WHAT};
use crate::frame::play::{Player, Score};
use crate::id::BlockId;
use crate::path::{NO_BLOCK, Step};

/// The counts of paths, and the player for paths with loops.
#[derive(Debug, Default)]
pub(crate) struct Tallied {
    player: Player,
    /// For each path, its count; `touched` lists the paths whose count is not 0.
    paths: Vec<u64>,
    touched: Vec<usize>,
}

impl Tallied {
    /// Prepares for a task that says that it executes this many blocks.
    pub(crate) fn begin(&mut self, blocks: u64) {
        self.player.restart(blocks);
        self.touched.drain(..).for_each(|at| self.paths[at] = 0);
    }

    /// Counts a range of the records of a frame. Paths without loops get their blocks counted only by
    /// [`Tallied::paths`].
    pub(crate) fn records(
        &mut self,
        score: Score<'_>,
        frame: &DecodedFrame,
        range: Range<usize>,
        add: &mut impl FnMut(BlockId, u64),
    ) -> Result<()> {
        let first = score.layout.blocks.len();
        self.paths.resize(score.paths.paths.len(), 0);
        self.player.start(frame, range.clone());
        for record in frame.records.get(range).unwrap_or(&[]) {
            let symbol = frame.table(*record).map_or(Table::OTHER, |t| t.symbol);
            if symbol == Table::OTHER {
                continue;
            }
            let Some(index) = (symbol as usize).checked_sub(first) else {
                add(BlockId::new(symbol), 1);
                continue;
            };
            self.player.enter(index, frame, *record, score)?;
            let Some((path, f)) = score.paths.get(index) else {
                return Err(malformed(WHAT, "a path that is not in the tables"));
            };
            if path.collapses {
                self.player.count(index, score, add)?;
                continue;
            }
            if self.paths[index] == 0 {
                self.touched.push(index);
            }
            self.paths[index] += 1;
            self.player.pass(path, f)?;
        }
        Ok(())
    }

    /// Adds what the counted paths execute.
    pub(crate) fn paths(&self, score: Score<'_>, add: &mut impl FnMut(BlockId, u64)) {
        for &index in &self.touched {
            let Some((path, f)) = score.paths.get(index) else {
                continue;
            };
            for step in &path.path.steps {
                if let Step::Node(n) = *step
                    && f.nodes[n as usize].block != NO_BLOCK
                {
                    add(BlockId::new(f.nodes[n as usize].block), self.paths[index]);
                }
            }
        }
    }
}

//! Whether a context waits with an atomic operation. One that looks at a word again and again waits
//! for it. One that only changes a word which others change, too, waits for nobody: whoever is
//! first, all go on.

use anyhow::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{BlockId, FunctionId, StaticInfo, SyncOp};

use crate::analysis::Task;

/// Number of operations on a word whose code is looked at.
const LOOKED_AT: u32 = 4;

/// What is known of a context's atomic operations.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// The word that the context has changed and not looked at since, with atomic operations.
    pub(super) changed: Option<u64>,
    /// By word: how many operations were looked at, and whether one is in a function with loops
    /// that wait.
    words: FxHashMap<u64, (u32, bool)>,
}

/// The functions that have loops which wait, by the blocks that end turns of such loops.
pub(super) fn waiting(info: &StaticInfo, turns: &FxHashSet<BlockId>) -> FxHashSet<FunctionId> {
    let blocks = turns.iter().filter_map(|block| info.block(*block));
    blocks.map(|block| block.function).collect()
}

impl Looks {
    /// The context has done an operation.
    pub(super) fn did(&mut self, op: SyncOp, object: u64) {
        match op {
            SyncOp::AtomicRmw | SyncOp::AtomicStore => self.changed = Some(object),
            SyncOp::AtomicLoad if self.changed == Some(object) => self.changed = None,
            _ => {}
        }
    }

    /// Whether the atomic operation of a task waits for nobody.
    ///
    /// # Errors
    /// When a task cannot be read.
    pub(super) fn passes(
        &mut self,
        task: &Task<'_>,
        waiting: &FxHashSet<FunctionId>,
    ) -> Result<bool> {
        let object = task.object();
        let alone = match task.op() {
            SyncOp::AtomicLoad => self.changed == Some(object),
            SyncOp::AtomicRmw => true,
            _ => false,
        };
        if !alone {
            return Ok(false);
        }
        let (looked_at, waits) = self.words.entry(object).or_default();
        if *looked_at < LOOKED_AT && !*waits {
            *looked_at += 1;
            let before = task.id().previous().map(|id| task.other(id)).transpose()?;
            let block = before.map(|before| before.last_block()).transpose()?;
            let block = block.flatten().and_then(|block| task.graph().info().block(block));
            *waits = block.is_none_or(|block| waiting.contains(&block.function));
        }
        Ok(!*waits)
    }
}

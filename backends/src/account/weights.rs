//! How much code the run executed, by block: IR instructions, which a task's time is divided by.

use taskgraph::{Block, BlockCounts, BlockId, FunctionId, StaticInfo};

/// Executions of blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// Executed IR instructions, by block.
    pub(super) blocks: Vec<u64>,
    /// By function: executed IR instructions, calls.
    functions: Vec<(u64, u64)>,
}

/// IR instructions of so many executions.
pub(super) fn weight(info: &StaticInfo, block: BlockId, times: u64) -> u64 {
    info.block(block).map_or(0, |block| {
        u64::from(block.ir_ops.max(1)).saturating_mul(times)
    })
}

impl Weights {
    /// Adds a task's.
    pub(super) fn add(&mut self, info: &StaticInfo, counts: &BlockCounts) {
        self.blocks.resize(info.blocks.len(), 0);
        for (block, times) in counts.iter() {
            if let Some(sum) = self.blocks.get_mut(block.index()) {
                *sum = sum.saturating_add(weight(info, block, times));
            }
        }
    }

    /// Adds another shard's.
    pub(super) fn merge(&mut self, other: &Self) {
        let most = self.blocks.len().max(other.blocks.len());
        self.blocks.resize(most, 0);
        for (sum, more) in self.blocks.iter_mut().zip(&other.blocks) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// Sums up functions.
    pub(super) fn finish(&mut self, info: &StaticInfo) {
        self.functions = vec![(0, 0); info.functions.len()];
        for (block, &ops) in info.blocks.iter().zip(&self.blocks) {
            let Some(sum) = self.functions.get_mut(block.function.index()) else {
                continue;
            };
            sum.0 = sum.0.saturating_add(ops);
            if block.flags & Block::ENTRY != 0 {
                sum.1 += ops / u64::from(block.ir_ops.max(1));
            }
        }
    }

    /// IR instructions of all code.
    pub(super) fn total(&self) -> u64 {
        self.functions.iter().map(|sum| sum.0).sum()
    }

    /// IR instructions that a call of a function executes of its own, on average.
    pub(super) fn each_call(&self, function: FunctionId) -> u64 {
        let (ops, calls) = self
            .functions
            .get(function.index())
            .copied()
            .unwrap_or_default();
        ops / calls.max(1)
    }
}

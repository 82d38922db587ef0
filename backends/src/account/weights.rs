//! How much code the run executed, by block. The unit is IR instructions, in proportion to which a task's time is
//! divided among its blocks.

use taskgraph::{Block, BlockCounts, BlockId, FunctionId, StaticInfo};

#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// Executed IR instructions, by block.
    pub(super) blocks: Vec<u64>,
    /// Time of the tasks, ns, by block.
    pub(super) times: Vec<f64>,
    /// Executed IR instructions and calls, by function.
    functions: Vec<(u64, u64)>,
}

/// IR instructions of `times` executions of a block.
pub(super) fn weight(info: &StaticInfo, block: BlockId, times: u64) -> u64 {
    info.block(block).map_or(0, |block| {
        u64::from(block.ir_ops.max(1)).saturating_mul(times)
    })
}

impl Weights {
    /// Adds the executions of a task, and its time in proportion to them.
    pub(super) fn add(&mut self, info: &StaticInfo, counts: &BlockCounts, ns: u64) {
        self.blocks.resize(info.blocks.len(), 0);
        self.times.resize(info.blocks.len(), 0.0);
        let own = |(block, times)| (block, weight(info, block, times));
        let all: u64 = counts.iter().map(own).map(|(_, weight)| weight).sum();
        let each = ns as f64 / all.max(1) as f64;
        for (block, weight) in counts.iter().map(own) {
            if let Some(sum) = self.blocks.get_mut(block.index()) {
                *sum = sum.saturating_add(weight);
                self.times[block.index()] += weight as f64 * each;
            }
        }
    }

    /// Adds the time of a task that spends it all at one block.
    pub(super) fn spend(&mut self, block: BlockId, ns: u64) {
        if let Some(sum) = self.times.get_mut(block.index()) {
            *sum += ns as f64;
        }
    }

    /// Adds the executions of another shard.
    pub(super) fn merge(&mut self, other: &Self) {
        let most = self.blocks.len().max(other.blocks.len());
        self.blocks.resize(most, 0);
        self.times.resize(most, 0.0);
        for (sum, more) in self.blocks.iter_mut().zip(&other.blocks) {
            *sum = sum.saturating_add(*more);
        }
        for (sum, more) in self.times.iter_mut().zip(&other.times) {
            *sum += more;
        }
    }

    /// Adds up the blocks of each function.
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

    /// Executed IR instructions of all code.
    pub(super) fn total(&self) -> u64 {
        self.functions.iter().map(|sum| sum.0).sum()
    }

    /// How often functions were called whose names begin with these letters, and the block that called most often.
    pub(super) fn calls(&self, info: &StaticInfo, prefix: &str) -> (u64, Option<BlockId>) {
        let of = |(index, block): (usize, &Block)| {
            let callee = &block.call.as_ref()?.callee;
            let times = self.blocks.get(index)? / u64::from(block.ir_ops.max(1));
            let id = BlockId::new(u32::try_from(index).ok()?);
            (callee.starts_with(prefix) && times > 0).then_some((times, id))
        };
        let found = info.blocks.iter().enumerate().filter_map(of);
        let most = found.clone().max();
        (found.map(|(times, _)| times).sum(), most.map(|(_, id)| id))
    }

    /// Average number of IR instructions that a call of a function executes in the function itself.
    pub(super) fn each_call(&self, function: FunctionId) -> u64 {
        let (ops, calls) = self
            .functions
            .get(function.index())
            .copied()
            .unwrap_or_default();
        ops / calls.max(1)
    }
}

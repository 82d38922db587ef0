//! The unit in which work and span are measured.

use serde::{Deserialize, Serialize};
use taskgraph::{Block, BlockExec, StaticInfo};

use crate::analysis::always_accesses;

/// A metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Nanoseconds; the time of a task is divided among its blocks by executed IR instructions.
    #[default]
    Time,
    /// IR instructions executed.
    Ops,
    /// Memory accesses made.
    Accesses,
}

impl Metric {
    /// The unit, for headings.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Ops => "operations",
            Self::Accesses => "accesses",
        }
    }

    /// What Cilkview charges for a steal, in this unit: 15,000 instructions.
    pub(crate) fn burden(self) -> u64 {
        match self {
            Self::Time | Self::Accesses => 5_000,
            Self::Ops => 15_000,
        }
    }
}

/// What the analysis must know of a block, in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockFacts {
    /// What an execution weighs; `None` if it depends on masks and lengths.
    weight: Option<u64>,
    /// The number of its function.
    pub function: u32,
    /// Whether it is the first block of its function.
    pub entry: bool,
    /// Whether it ends in a return, by itself or after its call.
    pub returns: bool,
    /// Whether it ends with a call.
    pub calls: bool,
    /// Whether the call marks the next one as a spawn, or is a sync, in the serial form of the
    /// Cilk-style header.
    pub mark: Option<Mark>,
}

/// What a call of the serial form of the Cilk-style header means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The next call of the function is a spawn.
    Spawn,
    /// The function waits for what it has spawned.
    Sync,
}

impl Mark {
    fn of(callee: &str) -> Option<Self> {
        match callee {
            "contech_cilk_spawn" => Some(Self::Spawn),
            "contech_cilk_sync" => Some(Self::Sync),
            _ => None,
        }
    }
}

impl BlockFacts {
    /// The facts of all blocks.
    pub(super) fn of(info: &StaticInfo, metric: Metric) -> Vec<Self> {
        let facts = |block: &Block| Self {
            weight: match metric {
                Metric::Time => Some(u64::from(block.ir_ops.max(1))),
                Metric::Ops => Some(u64::from(block.ir_ops)),
                Metric::Accesses => accesses(info, block),
            },
            function: block.function.get(),
            entry: block.flags & Block::ENTRY != 0,
            returns: block.flags & Block::RETURN != 0,
            calls: block.call.is_some(),
            mark: block.call.as_ref().and_then(|call| Mark::of(&call.callee)),
        };
        info.blocks.iter().map(facts).collect()
    }

    /// Whether its weight is always the same, and no frame begins, ends or waits with it.
    pub(super) fn is_plain(&self) -> bool {
        self.weight.is_some() && !(self.entry || self.returns || self.calls) && self.mark.is_none()
    }

    /// Weight of one execution if it is always the same; 0 if it depends on masks and lengths.
    #[inline]
    pub(super) fn always(&self) -> u64 {
        self.weight.unwrap_or(0)
    }

    /// Weight of one execution.
    #[inline]
    pub(super) fn weight(&self, block: &BlockExec<'_>) -> u64 {
        self.weight.unwrap_or_else(|| {
            let mut count = 0;
            block.for_each_access(|_| count += 1);
            count
        })
    }
}

/// The accesses of each execution, if they are always as many.
fn accesses(info: &StaticInfo, block: &Block) -> Option<u64> {
    let first = block.first_op as usize;
    let ops = info.ops.get(first..first + block.op_count as usize).unwrap_or(&[]);
    ops.iter().map(|op| always_accesses(op).map(|(reads, writes)| reads + writes)).sum()
}

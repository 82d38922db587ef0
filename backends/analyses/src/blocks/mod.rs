//! `blocks`: how often each basic block ran with how many contexts running (contech.txt, section
//! 5.2, Figures 7 and 8).
//!
//! A task has a start and an end, but its blocks have no times of their own. The executions of a
//! task are assumed to be spread evenly over it, so the i-th of n happened at `start + (i + 1/2) /
//! n * duration`. The number of running contexts is that of the observed parallelism at that time.

mod counter;
mod render;

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use taskgraph::{BlockId, FunctionId, Piece};

use crate::analysis::source::Place;
use crate::analysis::{Analysis, Graph, Moment, Order, Reads, Task, end_of};
use crate::parallelism::timeline::Timeline;
use crate::view::units::ratio;

use counter::LevelCounter;

/// Options of `blocks`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Options {
    /// Functions shown as text, the most executed first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub top: u32,
}

#[derive(Debug)]
pub struct Blocks {
    options: Options,
    timeline: Timeline,
}

/// Executions of basic blocks by running contexts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Number of contexts of the run.
    pub contexts: u64,
    /// Most contexts running during any execution.
    pub max_running: u32,
    /// Executions of all blocks.
    pub executions: u64,
    /// Functions that were executed, the most executed first.
    pub functions: Vec<FunctionRow>,
    /// Blocks that were executed, the most executed first.
    pub blocks: Vec<BlockRow>,
    #[serde(skip)]
    top: usize,
}

/// Executions of one basic block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockRow {
    /// Index in the static table.
    pub block: u32,
    /// Where the block is.
    #[serde(flatten)]
    pub place: Place,
    pub executions: u64,
    /// Average number of contexts running when it ran.
    pub average: f64,
    /// `[running contexts, executions]`, ascending, without zero entries.
    pub levels: Vec<(u32, u64)>,
}

/// Executions of the blocks of one function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionRow {
    /// Where the function is.
    #[serde(flatten)]
    pub place: Place,
    /// How often blocks of the function ran.
    pub executions: u64,
    /// Average number of contexts running at these times.
    pub average: f64,
    /// Number of executed blocks.
    pub blocks: u32,
    /// `[running contexts, executions]`, ascending, without zero entries.
    pub levels: Vec<(u32, u64)>,
}

impl Analysis for Blocks {
    const NAME: &'static str = "blocks";
    const ABOUT: &'static str = "Executions of each basic block by number of running contexts";
    const ORDER: Order = Order::Any;
    const READS: Reads = Reads::Executions;
    const NESTS: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = LevelCounter;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        Ok(Self { options, timeline: Timeline::new(end_of(graph)) })
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        self.timeline = Timeline::of(graph)?;
        Ok(())
    }

    fn shard(&self) -> LevelCounter {
        LevelCounter::default()
    }

    fn task(&self, counter: &mut LevelCounter, task: &Task<'_>) -> Result<()> {
        counter.begin(task.start_ns(), task.end_ns(), task.block_count());
        Ok(())
    }

    fn piece(&self, counter: &mut LevelCounter, _: &Moment, piece: &Piece<'_>) -> Result<()> {
        counter.piece(&self.timeline, piece);
        Ok(())
    }

    fn seal(&self, counter: &mut LevelCounter) {
        counter.seal();
    }

    fn finish(self, graph: &Graph, shards: Vec<LevelCounter>) -> Result<Report> {
        let mut blocks: BTreeMap<BlockId, Levels> = BTreeMap::new();
        for ((block, level), count) in shards.into_iter().flat_map(|counter| counter.totals) {
            *blocks.entry(block).or_default().entry(level).or_default() += count;
        }
        Ok(report(graph, blocks, self.options.top as usize))
    }
}

/// Executions by number of running contexts.
type Levels = BTreeMap<u32, u64>;

fn report(graph: &Graph, blocks: BTreeMap<BlockId, Levels>, top: usize) -> Report {
    let info = graph.info();
    let max_running = blocks.values().filter_map(|levels| levels.keys().next_back()).max();
    let max_running = max_running.copied().unwrap_or(0);
    let mut functions: BTreeMap<FunctionId, (u32, Levels)> = BTreeMap::new();
    for (&id, levels) in &blocks {
        let Some(block) = info.block(id) else {
            continue;
        };
        let (count, sums) = functions.entry(block.function).or_default();
        *count += 1;
        for (&level, &executions) in levels {
            *sums.entry(level).or_default() += executions;
        }
    }
    let block_row = |(id, levels): (BlockId, Levels)| {
        let (executions, average) = sum(&levels);
        let levels = levels.into_iter().collect();
        BlockRow { block: id.get(), place: Place::of_block(info, id), executions, average, levels }
    };
    let function_row = |(id, (blocks, levels)): (FunctionId, (u32, Levels))| {
        let (executions, average) = sum(&levels);
        let levels = levels.into_iter().collect();
        FunctionRow { place: Place::of_function(info, id), executions, average, blocks, levels }
    };
    let mut functions: Vec<FunctionRow> = functions.into_iter().map(function_row).collect();
    functions.sort_by_key(|row| std::cmp::Reverse(row.executions));
    let mut blocks: Vec<BlockRow> = blocks.into_iter().map(block_row).collect();
    blocks.sort_by_key(|row| std::cmp::Reverse(row.executions));
    Report {
        contexts: graph.summary().contexts,
        max_running,
        executions: blocks.iter().map(|row| row.executions).sum(),
        functions,
        blocks,
        top,
    }
}

/// The number of executions, and the average level at which they happened.
fn sum(levels: &Levels) -> (u64, f64) {
    let executions = levels.values().sum();
    let weighted = levels.iter().map(|(&level, &count)| u64::from(level) * count).sum();
    (executions, ratio(weighted, executions))
}

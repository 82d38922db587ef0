//! Which calls led to a function, as far as the numbers of executions tell: of several callers, the
//! one that called most often. It costs nothing while the run is read. Where the numbers do not tell
//! of a task, the order of its blocks does.

use std::cmp::Reverse;

use anyhow::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{BlockCounts, BlockId, CallStack, FunctionId, OpId, StaticInfo, TaskId};

use super::Row;
use super::site::call_of;
use crate::analysis::calls::{ABOVE, follow};
use crate::analysis::source::Place;
use crate::analysis::{Graph, Task};

/// Tasks with more executed blocks than this, in more records than this, are not searched for the
/// caller of a function.
const FOLLOWED: u64 = 2_000_000;
const RECORDS: u64 = 4096;

/// A block with how often it was executed; of those that were executed as often, the first one is
/// the greatest.
type Often = (u64, Reverse<BlockId>);

/// Says of the rows whose code is a library's which of the program's calls led there, in a run that
/// executed the blocks so often.
pub(super) fn name(info: &StaticInfo, blocks: &[(BlockId, u64)], rows: &mut [Row]) {
    let open = |row: &Row| {
        let library = row.code.as_ref().filter(|code| code.is_library());
        library.filter(|_| row.callers.is_empty()).cloned()
    };
    let mut most: FxHashMap<Place, Option<Often>> =
        rows.iter().filter_map(open).map(|place| (place, None)).collect();
    if most.is_empty() {
        return;
    }
    for &(block, times) in blocks.iter().filter(|(_, times)| *times > 0) {
        let own = info.block(block);
        let ops = own.map_or(0..0, |own| own.first_op..own.first_op + own.op_count);
        let ops = ops.map(|op| Place::of_op(info, OpId::new(op)));
        let call = Place::of_call(info, block).map(|call| call.0);
        for place in ops.chain(call).chain([Place::of_block(info, block)]) {
            if let Some(found) = most.get_mut(&place) {
                *found = (*found).max(Some((times, Reverse(block))));
            }
        }
    }
    let callers = Callers::of(info, blocks.iter().copied());
    for row in rows {
        if let Some(Some((_, Reverse(block)))) = open(row).map(|place| most[&place]) {
            row.callers = callers.above(block);
        }
    }
}

/// By function name, the block that calls it most often, and how often all do.
#[derive(Debug)]
pub(super) struct Callers<'a> {
    info: &'a StaticInfo,
    by_name: FxHashMap<&'a str, (Often, u64)>,
}

impl<'a> Callers<'a> {
    /// The callers among blocks that were executed so often.
    pub(super) fn of(info: &'a StaticInfo, counts: impl Iterator<Item = (BlockId, u64)>) -> Self {
        let mut by_name = FxHashMap::default();
        for (block, times) in counts.filter(|(_, times)| *times > 0) {
            if let Some(call) = info.block(block).and_then(|block| block.call.as_ref()) {
                let often = (times, Reverse(block));
                let (most, all) = by_name.entry(call.callee.as_str()).or_insert((often, 0));
                *most = often.max(*most);
                *all += times;
            }
        }
        Self { info, by_name }
    }

    /// Whether one caller of a block's function calls it more often than all others together.
    pub(super) fn tell(&self, block: BlockId) -> bool {
        let info = self.info;
        let function = info.block(block).and_then(|own| info.function(own.function));
        let calls = function.and_then(|function| self.by_name.get(function.name.as_str()));
        calls.is_none_or(|&((most, _), all)| most * 2 > all)
    }

    /// The program's own calls that led to a block, the innermost first. Those that the compiler
    /// inlined are known.
    pub(super) fn above(&self, block: BlockId) -> Vec<Place> {
        let info = self.info;
        let mut above = Place::stack_of_block(info, block);
        if above.first() == Some(&Place::of_block(info, block)) {
            above.remove(0);
        }
        let (mut at, mut seen) = (block, FxHashSet::default());
        while above.len() < ABOVE
            && let Some(own) = info.block(at)
            && seen.insert(own.function)
            && let Some(function) = info.function(own.function)
            && let Some(&((_, Reverse(caller)), _)) = self.by_name.get(function.name.as_str())
            && info.block(caller).is_some_and(|caller| !seen.contains(&caller.function))
        {
            above.extend(Place::stack_of_call(info, caller));
            at = caller;
        }
        above.truncate(ABOVE);
        above
    }
}

/// The program's own calls that led to the function of a block in a task, the innermost first.
/// Where no call names the function, because it is called by its address, or where several call it
/// about as often, the order of the blocks tells, if there are few.
pub(super) fn callers(graph: &Graph, task: TaskId, block: BlockId) -> Result<Vec<Place>> {
    let info = graph.info();
    let task = graph.task(task)?;
    let mut counts = BlockCounts::new();
    task.count_blocks(&mut counts)?;
    let callers = Callers::of(info, counts.iter());
    let above = callers.above(block);
    if let Some(own) = info.block(block).filter(|_| above.is_empty() || !callers.tell(block))
        && let Some(call) = by_order(graph, &task, own.function)?
    {
        return Ok(vec![call]);
    }
    Ok(above)
}

/// Where a task calls the function from that executes most there, by the order of its blocks. If a
/// library calls it, that is where the program called the library.
fn by_order(graph: &Graph, task: &Task<'_>, function: FunctionId) -> Result<Option<Place>> {
    let info = graph.info();
    let records: u64 = task.spans().iter().map(|span| u64::from(span.records)).sum();
    if task.block_count() > FOLLOWED && records > RECORDS {
        return Ok(None);
    }
    let mut libraries: FxHashMap<BlockId, bool> = FxHashMap::default();
    let mut own = |block: BlockId| {
        !*libraries.entry(block).or_insert_with(|| call_of(info, block).is_library())
    };
    let mut stack = CallStack::default();
    let mut calls: FxHashMap<BlockId, u64> = FxHashMap::default();
    let mut executed = |stack: &CallStack, _: BlockId, times: u64| {
        let frames = stack.frames();
        if frames.last().is_some_and(|frame| frame.function == function) {
            let mut froms = frames.iter().rev().map_while(|frame| frame.called_from);
            let direct = froms.clone().next();
            if let Some(from) = froms.find(|from| own(*from)).or(direct) {
                *calls.entry(from).or_default() += times;
            }
        }
    };
    task.for_each_batch(|batch| {
        for piece in batch.pieces() {
            follow(&mut stack, info, &piece, &mut executed);
        }
    })?;
    let most = calls.into_iter().max_by_key(|&(block, count)| (count, std::cmp::Reverse(block)));
    Ok(most.map(|(block, _)| call_of(info, block)))
}

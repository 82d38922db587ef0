//! Which calls led to a function, as far as the numbers of executions tell: of several callers, the
//! one that called most often. It costs nothing while the run is read.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{BlockId, OpId, StaticInfo};

use super::Row;
use crate::analysis::source::Place;

/// The largest number of calls above a place that are told.
pub(super) const ABOVE: usize = 3;

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

/// By function name, the block that calls it most often.
#[derive(Debug)]
pub(super) struct Callers<'a> {
    info: &'a StaticInfo,
    by_name: FxHashMap<&'a str, Often>,
}

impl<'a> Callers<'a> {
    /// The callers among blocks that were executed so often.
    pub(super) fn of(info: &'a StaticInfo, counts: impl Iterator<Item = (BlockId, u64)>) -> Self {
        let mut by_name = FxHashMap::default();
        for (block, times) in counts.filter(|(_, times)| *times > 0) {
            if let Some(call) = info.block(block).and_then(|block| block.call.as_ref()) {
                let found = by_name.entry(call.callee.as_str()).or_insert((times, Reverse(block)));
                *found = (times, Reverse(block)).max(*found);
            }
        }
        Self { info, by_name }
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
            && let Some(&(_, Reverse(caller))) = self.by_name.get(function.name.as_str())
            && info.block(caller).is_some_and(|caller| !seen.contains(&caller.function))
        {
            above.extend(Place::stack_of_call(info, caller));
            at = caller;
        }
        above.truncate(ABOVE);
        above
    }
}

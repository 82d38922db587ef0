//! Which calls led to a function, as far as the numbers of executions tell: of several callers, the
//! one that called most often. It costs nothing while the run is read.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{BlockId, OpId, StaticInfo};

use super::Row;
use crate::analysis::source::Place;

/// The largest number of calls above a place that are told.
pub(super) const ABOVE: usize = 3;

/// What was executed how often.
#[derive(Clone, Debug, Default)]
pub(super) struct Callers {
    blocks: Vec<(BlockId, u64)>,
    /// By function name, the block that calls it most often.
    by_name: FxHashMap<String, (u64, Reverse<BlockId>)>,
}

impl Callers {
    /// The callers among blocks that were executed so often.
    pub(super) fn of(info: &StaticInfo, counts: impl Iterator<Item = (BlockId, u64)>) -> Self {
        let blocks: Vec<_> = counts.filter(|(_, times)| *times > 0).collect();
        let mut by_name = FxHashMap::default();
        for &(block, times) in &blocks {
            if let Some(call) = info.block(block).and_then(|block| block.call.as_ref()) {
                let found = by_name.entry(call.callee.clone()).or_insert((times, Reverse(block)));
                *found = (times, Reverse(block)).max(*found);
            }
        }
        Self { blocks, by_name }
    }

    /// Says of the rows whose code is a library's which of the program's calls led there.
    pub(super) fn name(&self, info: &StaticInfo, rows: &mut [Row]) {
        let open = |row: &Row| {
            let library = row.code.as_ref().filter(|code| code.is_library());
            library.filter(|_| row.callers.is_empty()).cloned()
        };
        let mut most: FxHashMap<Place, Option<(u64, Reverse<BlockId>)>> =
            rows.iter().filter_map(open).map(|place| (place, None)).collect();
        if most.is_empty() {
            return;
        }
        for &(block, times) in &self.blocks {
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
        for row in rows {
            if let Some(Some((_, Reverse(block)))) = open(row).map(|place| most[&place]) {
                row.callers = self.above(info, block);
            }
        }
    }

    /// The program's own calls that led to a block, the innermost first. Those that the compiler
    /// inlined are known.
    pub(super) fn above(&self, info: &StaticInfo, block: BlockId) -> Vec<Place> {
        let mut above = Place::stack_of_block(info, block);
        if above.first() == Some(&Place::of_block(info, block)) {
            above.remove(0);
        }
        let (mut at, mut seen) = (block, FxHashSet::default());
        while above.len() < ABOVE
            && let Some(own) = info.block(at)
            && seen.insert(own.function)
            && let Some(function) = info.function(own.function)
            && let Some(&(_, Reverse(caller))) = self.by_name.get(&function.name)
            && info.block(caller).is_some_and(|caller| !seen.contains(&caller.function))
        {
            above.extend(Place::stack_of_call(info, caller));
            at = caller;
        }
        above.truncate(ABOVE);
        above
    }
}

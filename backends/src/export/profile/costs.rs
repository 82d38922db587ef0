//! What was spent, by calling context and source line, in several units at once.

use rustc_hash::FxHashMap;

/// A row of numbers for each calling context and line.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    width: usize,
    rows: FxHashMap<(u32, u32), Vec<u64>>,
}

impl Costs {
    pub(super) fn new(width: usize) -> Self {
        Self { width, rows: FxHashMap::default() }
    }

    /// The numbers of a calling context and a line.
    #[inline]
    pub(super) fn at(&mut self, node: u32, line: u32) -> &mut [u64] {
        self.rows.entry((node, line)).or_insert_with(|| vec![0; self.width])
    }

    /// All rows, sorted.
    pub(super) fn sorted(self) -> Vec<Row> {
        let rows = self.rows.into_iter().map(|((node, line), costs)| Row { node, line, costs });
        let mut rows: Vec<Row> = rows.collect();
        rows.retain(|row| row.costs.iter().any(|&cost| cost > 0));
        rows.sort_unstable_by_key(|row| (row.node, row.line));
        rows
    }
}

/// What a calling context spent at a line of its function.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) node: u32,
    /// 0 when unknown.
    pub(crate) line: u32,
    /// In the order of the profile's metrics.
    pub(crate) costs: Vec<u64>,
}

//! The stored values of a record, in the order of their execution.

use std::ops::ControlFlow;

use super::WHAT;
use super::decode::{Columns, DecodedFrame, Iterated, Record, Table};
use crate::error::{Error, Result, malformed};
use crate::path::{CompiledFunction, CompiledLoop, CompiledNode, Entered, State};

/// A place among the stored values of a record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// The next value that is stored once.
    field: usize,
    /// Number of loops so far whose iterations store values.
    pub(super) loops: usize,
    /// The next iteration of the last of them, and the next value in it. Behind its iterations come
    /// values that are stored once.
    pub(super) iteration: usize,
    value: usize,
}

/// The stored values of a record from a place on.
#[derive(Debug)]
pub(super) struct Values<'c> {
    table: &'c Table,
    columns: &'c Columns,
    row: usize,
    pub(super) at: Place,
    /// What the iterations of the last loop store.
    pub(super) iterated: Option<Iterated<'c>>,
}

impl<'c> Values<'c> {
    #[inline]
    pub(super) fn new(frame: &'c DecodedFrame, record: Record, at: Place) -> Result<Self> {
        let (table, row) = (frame.table(record).ok_or_else(short)?, record.row as usize);
        let columns = &frame.columns;
        let last = at.loops.checked_sub(1);
        let iterated = last.and_then(|last| table.iterated(last, row, columns));
        Ok(Self { table, columns, row, at, iterated })
    }

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if let Some(own) = self.iterated.filter(|own| self.at.iteration < own.len) {
            let value = own.value(self.at.value, self.at.iteration);
            self.at.value += 1;
            if self.at.value == own.width {
                (self.at.iteration, self.at.value) = (self.at.iteration + 1, 0);
            }
            return value;
        }
        self.at.field += 1;
        self.table.value(self.at.field - 1, self.row, self.columns)
    }

    /// Learns the leaves of a node that is executed now.
    #[inline]
    pub(super) fn leaves(&mut self, node: &CompiledNode, state: &mut State) -> Result<()> {
        for leaf in &node.leaves {
            state.slots[leaf.slot as usize] = self.next().ok_or_else(short)?;
        }
        Ok(())
    }

    /// The count of a loop that is executed now.
    #[inline]
    pub(super) fn trips(&mut self, l: &CompiledLoop, state: &State) -> Result<u64> {
        if let Some(count) = &l.count {
            return Ok(count.eval(&state.slots, &state.iterations));
        }
        let count = self.next().ok_or_else(short)?;
        if !l.leafy.is_empty() {
            let own = self.table.iterated(self.at.loops, self.row, self.columns);
            self.iterated = Some(own.ok_or_else(short)?);
            self.at = Place { loops: self.at.loops + 1, iteration: 0, value: 0, ..self.at };
        }
        Ok(count)
    }

    /// Learns what whole iterations of a loop leave: only what the last one stores is still known
    /// after them.
    pub(super) fn iterations(
        &mut self,
        l: Entered<'_>,
        f: &CompiledFunction,
        state: &mut State,
    ) -> Result<()> {
        if l.own.leafy.is_empty() {
            return Ok(());
        }
        let last = usize::try_from(l.whole.saturating_sub(1)).unwrap_or(usize::MAX);
        if self.iterated.is_none_or(|own| last >= own.len) {
            return Err(short());
        }
        self.at.iteration = last;
        let mut nodes = l.own.leafy.iter().map(|n| &f.nodes[*n as usize]);
        nodes.try_for_each(|node| self.leaves(node, state))
    }
}

#[cold]
pub(super) fn short() -> Error {
    malformed(WHAT, "a record that does not fit its path")
}

/// Stops a walk at an error.
#[inline]
pub(super) fn or_stop<T, S: From<Error>>(result: Result<T>) -> ControlFlow<S, T> {
    match result {
        Ok(value) => ControlFlow::Continue(value),
        Err(error) => ControlFlow::Break(error.into()),
    }
}

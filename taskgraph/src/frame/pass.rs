//! Goes over records without their executions, to know the slots and iteration numbers after them.

use super::decode::{self, DecodedFrame, Record, Table};
use super::play::{Player, short};
use crate::error::{Error, Result};
use crate::path::{CompiledFunction, CompiledLoop, CompiledPath, Source, State};

impl Player {
    /// Makes what is known before a record what is known after it, without its executions. Its path
    /// must count the same but for its loops. `visit` sees each of them, its whole iterations, and
    /// whether the path is cut there.
    pub(super) fn settle<'f>(
        &mut self,
        frame: &DecodedFrame,
        record: Record,
        (path, f): (&CompiledPath, &'f CompiledFunction),
        mut visit: impl FnMut(&'f CompiledLoop, u64, bool),
    ) -> Result<()> {
        self.goes_on(path, f)?;
        let mut source = Columns {
            f,
            table: frame.table(record).ok_or_else(short)?,
            columns: &frame.columns,
            row: record.row as usize,
            fields: 0,
            loops: 0,
        };
        let visit = |l, n, cut, _: &State| visit(l, n, cut);
        self.state.settle(path, f, &mut source, visit)
    }
}

/// The columns of a record that is settled, and how many of its fields and of its loops were used.
struct Columns<'f> {
    f: &'f CompiledFunction,
    table: &'f Table,
    columns: &'f decode::Columns,
    row: usize,
    fields: usize,
    loops: usize,
}

impl Columns<'_> {
    fn field(&mut self) -> Option<u64> {
        self.fields += 1;
        self.table.value(self.fields - 1, self.row, self.columns)
    }

    fn load(
        &mut self,
        nodes: &[u32],
        state: &mut State,
        mut value: impl FnMut(&mut Self) -> Option<u64>,
    ) -> Result<()> {
        let f = self.f;
        for leaf in nodes.iter().flat_map(|n| &f.nodes[*n as usize].leaves) {
            state.slots[leaf.slot as usize] = value(self).ok_or_else(short)?;
        }
        Ok(())
    }
}

impl Source for Columns<'_> {
    type Error = Error;

    fn nodes(&mut self, nodes: &[u32], state: &mut State) -> Result<()> {
        self.load(nodes, state, Self::field)
    }

    fn count(&mut self, l: &CompiledLoop, state: &State) -> Result<u64> {
        match &l.count {
            Some(count) => Ok(count.eval(&state.slots, &state.iterations)),
            None => self.field().ok_or_else(short),
        }
    }

    fn iterations(
        &mut self,
        l: &CompiledLoop,
        count: u64,
        cut: bool,
        state: &mut State,
    ) -> Result<()> {
        let whole = l.leafy_last == l.leafy.len();
        if !l.leafy.is_empty() {
            let own = self.table.iterated(self.loops, self.row, self.columns);
            let own = own.ok_or_else(short)?;
            self.loops += 1;
            let last = count.checked_sub(1);
            let after = (!cut && whole).then_some(count);
            for at in last.into_iter().chain(after) {
                let mut values = own.iteration(at);
                self.load(&l.leafy, state, |_| values.next())?;
            }
        }
        if !cut && !whole {
            self.nodes(&l.leafy[..l.leafy_last], state)?;
        }
        Ok(())
    }
}

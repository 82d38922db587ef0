//! Goes over many records at once, on the way to a point inside a frame. To know the slots and
//! iteration numbers at the point, only the latest execution of each path is looked at.

use std::ops::Range;

use super::decode::{self, DecodedFrame, Record, Table};
use super::plan::NONE;
use super::play::{Nests, Player, Score, short};
use crate::error::{Error, Result};
use crate::path::{CompiledFunction, CompiledLoop, CompiledPath, Source, State};

/// A way through some records of a frame.
#[derive(Debug)]
pub(crate) struct Pass<'g> {
    score: Score<'g>,
    /// For each table of the frame, what is needed of its records.
    kinds: Vec<Kind<'g>>,
    /// For each table, the latest record that hides what those before it left; `NONE` if there is
    /// none.
    latest: Vec<u32>,
}

/// What is needed to know of the records of a table.
#[derive(Debug)]
struct Kind<'g> {
    path: Option<(&'g CompiledPath, &'g CompiledFunction)>,
    /// The fields that are counts of loops, if a record's path counts the same but for its loops.
    loops: Vec<usize>,
}

impl<'g> Pass<'g> {
    pub(crate) fn new(frame: &DecodedFrame, score: Score<'g>) -> Self {
        Self {
            score,
            kinds: frame.tables.iter().map(|t| Kind::new(t, score)).collect(),
            latest: vec![NONE; frame.tables.len()],
        }
    }

    /// The player knows what is known before some records; now it knows what is known after them.
    pub(super) fn arrive(
        &mut self,
        player: &mut Player,
        frame: &DecodedFrame,
        records: Range<usize>,
    ) -> Result<()> {
        let mut first = records.start;
        let mut hides = true;
        self.latest.fill(NONE);
        for at in records.clone().rev() {
            let record = frame.records[at];
            let kind = &self.kinds[record.table as usize];
            let Some((path, _)) = kind.path else { continue };
            hides &= path.counts.is_some() && !path.evaluates;
            let latest = &mut self.latest[record.table as usize];
            if *latest == NONE && path.hides && kind.has_iterations(frame, record) {
                *latest = u32::try_from(at).unwrap_or(NONE);
            }
            // Nothing before it is known after it.
            if path.path.fresh {
                first = at;
                break;
            }
        }
        for at in first..records.end {
            let record = frame.records[at];
            let Some((path, f)) = self.kinds[record.table as usize].path else {
                continue;
            };
            let latest = self.latest[record.table as usize];
            let hidden = hides && latest != NONE && at < latest as usize;
            if hidden && at != first && player.known == path.path.function {
                player.state.moved(path);
            } else if !path.nested {
                player.settle(frame, record, (path, f), |_, _, _| ())?;
            } else {
                player.only(at);
                let asked = std::mem::replace(&mut player.nests, Nests::Counted);
                while player.next(self.score, frame)?.is_some() {}
                player.nests = asked;
            }
        }
        Ok(())
    }
}

impl<'g> Kind<'g> {
    fn new(table: &Table, score: Score<'g>) -> Self {
        let index = (table.symbol as usize).checked_sub(score.layout.blocks.len());
        let path =
            index.filter(|_| table.symbol != Table::OTHER).and_then(|index| score.paths.get(index));
        let alike = path.is_some_and(|(path, _)| path.counts.is_some() && !path.evaluates);
        let loops = path.map_or(0, |(path, _)| path.each.len());
        Self {
            path,
            loops: match alike {
                true => table.counts().iter().copied().take(loops).collect(),
                false => Vec::new(),
            },
        }
    }

    /// Whether each loop of a record has iterations, and so sets all that it ever sets.
    fn has_iterations(&self, frame: &DecodedFrame, record: Record) -> bool {
        let table = frame.table(record);
        let value = |field| table?.value(field, record.row as usize, &frame.columns);
        self.loops.iter().all(|field| value(*field).unwrap_or(0) > 0)
    }
}

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

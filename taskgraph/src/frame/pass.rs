//! Goes over many records at once, on the way to a point inside a frame. What most records count needs no execution.
//! To know the slots and iteration numbers at the point, only the latest execution of each path is looked at.

use std::ops::Range;

use super::Counts;
use super::decode::{self, DecodedFrame, Record, Table};
use super::plan::NONE;
use super::play::{Nests, Player, Score, short};
use crate::error::{Error, Result};
use crate::path::{CompiledFunction, CompiledLoop, CompiledPath, Source, State};

/// What is counted on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Actions,
    Accesses,
}

impl By {
    fn of(self, counts: Counts) -> u64 {
        match self {
            Self::Actions => counts.blocks.saturating_add(counts.others),
            Self::Accesses => counts.reads.saturating_add(counts.writes),
        }
    }
}

/// A way through some records of a frame.
#[derive(Debug)]
pub(crate) struct Pass<'g> {
    score: Score<'g>,
    by: By,
    /// For each table of the frame, what is needed of its records.
    kinds: Vec<Kind<'g>>,
    /// For each table, the latest record that hides what those before it left; `NONE` if there is none.
    latest: Vec<u32>,
}

/// What is needed to know of the records of a table.
#[derive(Debug)]
struct Kind<'g> {
    path: Option<(&'g CompiledPath, &'g CompiledFunction)>,
    /// What a record counts outside its loops, if that and its loops' counts are all that it takes to know what it
    /// counts; otherwise [`UNKNOWN`].
    amount: u64,
    /// The fields that are counts of loops, and what an iteration counts.
    loops: Vec<(usize, u64)>,
}

/// More than any task counts.
const UNKNOWN: u64 = u64::MAX;

impl<'g> Pass<'g> {
    pub(crate) fn new(frame: &DecodedFrame, score: Score<'g>, by: By) -> Self {
        let kind = |table: &Table| Kind::new(table, score, by);
        Self {
            score,
            by,
            kinds: frame.tables.iter().map(kind).collect(),
            latest: vec![NONE; frame.tables.len()],
        }
    }

    /// Goes over records while they count no more than is left. Returns false if these are all; otherwise the records
    /// now begin with one that has to be played, and the player knows what is known before it.
    pub(crate) fn next(
        &mut self,
        player: &mut Player,
        frame: &DecodedFrame,
        records: &mut Range<usize>,
        left: &mut u64,
    ) -> Result<bool> {
        loop {
            let passed = records.start;
            records.start += self.count(frame, records.clone(), left);
            let rest = frame.records.get(records.start..records.end);
            let Some([record, ..]) = rest else {
                return Ok(false);
            };
            if frame.begins(records.start, self.score) != Some(true) {
                self.arrive(player, frame, passed..records.start)?;
            }
            let kind = self.kinds.get(record.table as usize);
            let Some((path, f)) = kind.and_then(|kind| kind.path) else {
                return Ok(true);
            };
            if !path.evaluates || path.counts.is_none() {
                return Ok(true);
            }
            let before = player.known();
            let mut amount = path.counts.map_or(0, |counts| self.by.of(counts));
            let mut each = path.each.iter();
            player.settle(frame, *record, (path, f), |_, n, _| {
                let own = each.next().map_or(0, |each| self.by.of(*each));
                amount = amount.saturating_add(own.saturating_mul(n));
            })?;
            if amount > *left {
                player.know(before);
                return Ok(true);
            }
            *left -= amount;
            records.start += 1;
        }
    }

    /// Counts records while they count no more than is left. Returns their number.
    fn count(&self, frame: &DecodedFrame, records: Range<usize>, left: &mut u64) -> usize {
        let records = frame.records.get(records).unwrap_or(&[]);
        // So nothing that is unknown is counted.
        *left = (*left).min(UNKNOWN - 1);
        for (n, record) in records.iter().enumerate() {
            let Some(kind) = self.kinds.get(record.table as usize) else {
                return n;
            };
            let amount = kind.amount(frame, *record);
            if amount > *left {
                return n;
            }
            *left -= amount;
        }
        records.len()
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
    fn new(table: &Table, score: Score<'g>, by: By) -> Self {
        let mut kind = Self {
            path: None,
            amount: UNKNOWN,
            loops: Vec::new(),
        };
        let blocks = &score.layout.blocks;
        let symbol = table.symbol as usize;
        if table.symbol == Table::OTHER {
            kind.amount = u64::from(by == By::Actions);
        } else if let Some(block) = blocks.get(symbol) {
            kind.amount = match by {
                By::Actions => 1,
                By::Accesses => block.counts.map_or(UNKNOWN, |counts| by.of(counts)),
            };
        } else if let Some((path, f)) = score.paths.get(symbol - blocks.len()) {
            kind.path = Some((path, f));
            if let Some(counts) = path.counts.filter(|_| !path.evaluates) {
                kind.amount = by.of(counts);
                let each = path.each.iter().map(|each| by.of(*each));
                kind.loops = table.counts().iter().copied().zip(each).collect();
            }
        }
        kind
    }

    /// How often the loops of a record iterate.
    fn iterations<'k>(
        &'k self,
        frame: &'k DecodedFrame,
        record: Record,
    ) -> impl Iterator<Item = (u64, u64)> + 'k {
        let table = frame.table(record);
        let value = move |field| table?.value(field, record.row as usize, &frame.columns);
        let loops = self.loops.iter();
        loops.map(move |(field, each)| (value(*field).unwrap_or(0), *each))
    }

    /// What a record counts, if that is known.
    #[inline]
    fn amount(&self, frame: &DecodedFrame, record: Record) -> u64 {
        let loops = self.iterations(frame, record);
        loops.fold(self.amount, |sum, (n, each)| {
            sum.saturating_add(each.saturating_mul(n))
        })
    }

    /// Whether each loop of a record has iterations, and so sets all that it ever sets.
    fn has_iterations(&self, frame: &DecodedFrame, record: Record) -> bool {
        self.iterations(frame, record).all(|(n, _)| n > 0)
    }
}

impl Player {
    /// Goes over iterations that count no more than is left, but for one: the next is to find what one leaves.
    pub(crate) fn leap(&mut self, score: Score<'_>, by: By, left: &mut u64) {
        let Some((_, f)) = self.inside.and_then(|index| score.paths.get(index)) else {
            return;
        };
        let mut each = 0;
        let leapt = self.walk.leap(f, |l| {
            each = l.each.map_or(0, |each| by.of(each));
            let n = left.checked_div(each).unwrap_or(0);
            n.saturating_sub(1)
        });
        if let Some((n, l)) = leapt {
            let leaves = l.leafy.iter().map(|n| f.nodes[*n as usize].leaves.len());
            let values = usize::try_from(n).map_or(usize::MAX, |n| n.saturating_mul(leaves.sum()));
            self.stored.next = self.stored.next.saturating_add(values);
            *left -= n * each;
        }
    }

    /// Makes what is known before a record what is known after it, without its executions. Its path must count the same
    /// but for its loops. `visit` sees each of them, its whole iterations, and whether the path is cut there.
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

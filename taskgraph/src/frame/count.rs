//! Counts the executions of blocks in a range of a frame's records. Most records need no execution
//! for that: a path says which blocks it executes, and the record how often its loops iterate.

use std::ops::{ControlFlow, Range};

use crate::action::Action;
use crate::error::{Error, Result, malformed};
use crate::frame::decode::{DecodedFrame, Record, Table};
use crate::frame::emit::{Emitter, plans};
use crate::frame::plan::{How, NONE, Plan};
use crate::frame::play::{Nests, Player, nest, spend};
use crate::frame::stored::{Place, Values, or_stop};
use crate::frame::{Emission, WHAT};
use crate::id::BlockId;
use crate::path::{
    CompiledFunction, CompiledLoop, CompiledPath, Entered, NO_BLOCK, Nest, NestShape, State, Step,
    Visit,
};
use crate::statics::StaticInfo;
use crate::tally::BlockCounts;

/// Takes an action that executes no block, and what was counted before it.
pub(crate) type Other<'f> = &'f mut dyn FnMut(&mut BlockCounts, &Action<'static>);

/// What is needed to count executions.
#[derive(Clone, Copy)]
pub(crate) struct Counting<'g> {
    pub(crate) e: Emission<'g>,
    /// How many blocks the task says that it executes. Damage cannot make the count go on for much
    /// longer.
    pub(crate) blocks: u64,
}

impl<'g> Counting<'g> {
    /// Adds the executions of blocks in a range of a frame's records. Calls `other`, if there is
    /// one, with each action that executes none, and with what was counted up to there. The emitter
    /// has working memory.
    pub(crate) fn add(
        self,
        frame: &DecodedFrame,
        records: Range<usize>,
        counts: &mut BlockCounts,
        other: Option<Other<'_>>,
        emitter: &mut Emitter,
    ) -> Result<()> {
        let plans = plans(frame, self.e.templates, self.e.score);
        let known = frame.known_at(records.start);
        let mut known = known.map_or(NONE, |known| known.function);
        let player = &mut emitter.player;
        let mut stepwise = Stepwise { player, records: records.clone(), begun: false };
        let mut other = other;
        // The rows of each table, where a range has several.
        let many = records.len() > 4 * plans.len();
        let mut rows = vec![0..0; if many { plans.len() } else { 0 }];
        let mut at = records.start;
        while at < records.end {
            let rest = frame.records.get(at..records.end).unwrap_or(&[]);
            let Some(record) = rest.first() else { break };
            let Some(plan) = plans.get(record.table as usize) else {
                return Err(malformed(WHAT, "a record of no table"));
            };
            let alike = rest.iter().take_while(|next| next.table == record.table);
            let times = alike.count();
            let path = self.path(plan.symbol);
            if let Some((path, _)) = path
                && path.path.function != known
            {
                if !path.path.fresh {
                    return Err(malformed(WHAT, "a path goes on with what is not known"));
                }
                known = path.path.function;
            }
            let own = record.row as usize..record.row as usize + times;
            let steps = path.is_some_and(|(path, _)| path.nested || path.evaluates);
            match (plan.how, path) {
                (How::Other, _) => {
                    let Some(other) = &mut other else {
                        at += times;
                        continue;
                    };
                    self.flush(frame, plans, &mut rows, counts);
                    let first = record.row as usize;
                    let others = frame.others.get(first..first + times);
                    let others = others.unwrap_or(&[]).iter();
                    others.for_each(|action| other(counts, action));
                }
                (How::Path, Some((path, f))) if steps => {
                    for at in at..at + times {
                        stepwise.add(self, frame, at, (path, f), counts)?;
                    }
                }
                _ => match rows.get_mut(record.table as usize) {
                    Some(rows) if rows.start == rows.end => *rows = own,
                    Some(rows) => rows.end = own.end,
                    None => self.rows(frame, (record.table, plan), own, counts),
                },
            }
            at += times;
        }
        self.flush(frame, plans, &mut rows, counts);
        Ok(())
    }

    /// Adds the rows that were found of each table, and forgets them.
    fn flush(
        self,
        frame: &DecodedFrame,
        plans: &[Plan],
        rows: &mut [Range<usize>],
        counts: &mut BlockCounts,
    ) {
        for ((table, plan), rows) in (0..).zip(plans).zip(rows) {
            if rows.start < rows.end {
                self.rows(frame, (table, plan), std::mem::take(rows), counts);
            }
        }
    }

    /// Adds some rows of a table whose executions need no steps.
    fn rows(
        self,
        frame: &DecodedFrame,
        (table, plan): (u32, &Plan),
        rows: Range<usize>,
        counts: &mut BlockCounts,
    ) {
        let times = rows.len() as u64;
        if matches!(plan.how, How::Straight | How::Flow) {
            let script = self.e.templates.scripts.get(plan.script as usize);
            let script = script.into_iter().flatten();
            return script.for_each(|(block, _)| counts.add(*block, times));
        }
        match self.path(plan.symbol) {
            Some(path) => loops(path, (frame, table), rows, counts),
            None => counts.add(BlockId::new(plan.symbol), times),
        }
    }

    /// The path that a symbol stands for, if it does not stand for a block.
    fn path(&self, symbol: u32) -> Option<(&'g CompiledPath, &'g CompiledFunction)> {
        let path = (symbol as usize).checked_sub(self.e.score.layout.blocks.len())?;
        self.e.score.paths.get(path)
    }
}

/// Adds some executions of a path whose records say how often its loops, which have no inner loops,
/// iterate.
fn loops(
    (path, f): (&CompiledPath, &CompiledFunction),
    (frame, table): (&DecodedFrame, u32),
    rows: Range<usize>,
    counts: &mut BlockCounts,
) {
    let times = rows.len() as u64;
    let table = frame.tables.get(table as usize);
    let mut fields = table.map_or(&[][..], Table::counts).iter();
    for step in &path.path.steps {
        match *step {
            Step::Node(n) => node(f, n, times, counts),
            Step::Loop { index, cut, .. } => {
                let Some(l) = &f.loops[index as usize] else { continue };
                let field = fields.next().zip(table);
                let field = field.map(|(k, table)| table.field(*k, rows.clone(), &frame.columns));
                let sum = |sum: u64, n: &u64| sum.saturating_add(*n);
                let whole = field.unwrap_or(&[]).iter().fold(0, sum);
                for (at, n) in l.body.iter().enumerate() {
                    let last = if at < l.last && !cut { times } else { 0 };
                    node(f, *n, whole.saturating_add(last), counts);
                }
            }
            Step::Enter(_) | Step::Next(_) => {}
        }
    }
}

/// Adds executions of a node.
fn node(f: &CompiledFunction, n: u32, times: u64, counts: &mut BlockCounts) {
    let block = f.nodes[n as usize].block;
    if block != NO_BLOCK && times > 0 {
        counts.add(BlockId::new(block), times);
    }
}

/// Counts records whose loops iterate as often as what is known before them says.
struct Stepwise<'p> {
    player: &'p mut Player,
    /// Once it has begun, the player knows what is known before the first of these.
    records: Range<usize>,
    begun: bool,
}

impl Stepwise<'_> {
    fn add(
        &mut self,
        how: Counting<'_>,
        frame: &DecodedFrame,
        at: usize,
        path: (&CompiledPath, &CompiledFunction),
        counts: &mut BlockCounts,
    ) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.player.restart(how.blocks, Nests::Counted);
            self.player.start(frame, self.records.clone());
        }
        // Nothing of before a path that begins its function is known after it.
        let begins = |at: &usize| frame.begins(*at, how.e.score) == Some(true);
        let known = self.records.start;
        let first = (known..=at).rev().find(begins).unwrap_or(known);
        let info = how.e.info;
        for record in frame.records.get(first..at).unwrap_or(&[]) {
            if let Some(path) = how.path(frame.table(*record).map_or(NONE, |t| t.symbol)) {
                self.player.settle(info, frame, *record, path, None)?;
            }
        }
        self.records.start = at + 1;
        self.player.settle(info, frame, frame.records[at], path, Some(counts))
    }
}

impl Player {
    /// Makes what is known before a record what is known after it, without its executions; these
    /// are added to `counts`, if there are any.
    fn settle(
        &mut self,
        info: &StaticInfo,
        frame: &DecodedFrame,
        record: Record,
        (path, f): (&CompiledPath, &CompiledFunction),
        counts: Option<&mut BlockCounts>,
    ) -> Result<()> {
        self.goes_on(path, f)?;
        self.walk.restart();
        let values = Values::new(frame, record, Place::default())?;
        let (left, operands) = (&mut self.left, &mut self.operands);
        let mut settling = Settling { info, f, values, left, operands, counts };
        match self.walk.go(f, path, &mut self.state, &mut settling) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }
}

struct Settling<'f, 'c, 'b> {
    info: &'b StaticInfo,
    f: &'f CompiledFunction,
    values: Values<'c>,
    /// Number of executions that may still come one by one, or in nests.
    left: &'b mut u64,
    operands: &'b mut Vec<u64>,
    counts: Option<&'b mut BlockCounts>,
}

impl<'f> Visit<'f> for Settling<'f, '_, '_> {
    type Stop = Error;

    fn node(&mut self, n: u32, state: &mut State) -> ControlFlow<Error> {
        or_stop(spend(self.left, 1))?;
        if let Some(counts) = &mut self.counts {
            node(self.f, n, 1, counts);
        }
        or_stop(self.values.leaves(&self.f.nodes[n as usize], state))
    }

    fn count(&mut self, l: &CompiledLoop, state: &State) -> ControlFlow<Error, u64> {
        or_stop(self.values.trips(l, state))
    }

    fn run(&mut self, l: Entered<'f>, state: &mut State) -> ControlFlow<Error, bool> {
        if let Some(counts) = &mut self.counts {
            l.own.body.iter().for_each(|n| node(self.f, *n, l.whole, counts));
        }
        or_stop(self.values.iterations(l, self.f, state).map(|()| true))
    }

    fn nest(
        &mut self,
        shape: &'f NestShape,
        outermost: Entered<'f>,
        state: &mut State,
    ) -> ControlFlow<Error, bool> {
        let all = nest(Nests::Counted, shape, outermost, self.f, state, self.operands);
        let Some(all) = all else { return ControlFlow::Continue(false) };
        or_stop(spend(self.left, all))?;
        if let Some(counts) = &mut self.counts {
            let nest = Nest::new(self.info, shape, self.operands, outermost.cut);
            nest.for_each_times(|block, times| counts.add(block, times));
        }
        ControlFlow::Continue(true)
    }
}

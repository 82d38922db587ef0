//! Computes the accesses of many records at a time. One pass over the records gives each record its
//! place among the accesses, and notes what the record goes on with. Then the records of each block
//! or path write their accesses all at once, so no branch depends on the records' order.

use std::ops::Range;

use self::kernel::Kernel;
use self::walked::Together;
use super::WHAT;
use super::decode::{DecodedFrame, Record, Table};
use super::emission::Emission;
use super::plan::{How, NONE, Plan};
use super::play::{Nests, Played, Player, Score};
use super::template::{Carried, Flow, Templates};
use crate::action::Action;
use crate::batch::{Batch, FULL, number};
use crate::error::{Result, malformed};
use crate::id::BlockId;
use crate::path::State;
use crate::space::{PREFIX, prefix};

mod kernel;
mod walked;

/// A place within a range of a frame's records, and working memory.
#[derive(Debug, Default)]
pub(crate) struct Emitter {
    pub(super) player: Player,
    /// The records to come.
    records: Range<usize>,
    /// What is executed at once of a loop that the player is in.
    together: Option<Together>,
    /// For each table of the frame, its records in the batch; `used` lists the tables that have
    /// some.
    rows: Vec<Rows>,
    used: Vec<u32>,
    /// The values of a record.
    row: Vec<u64>,
}

/// The records of one table in a batch.
#[derive(Debug, Default)]
struct Rows {
    first: usize,
    /// The place of each record's first access.
    places: Vec<u32>,
    /// The values that each record goes on with.
    carried: Vec<u64>,
}

/// The most tables with room for records that an emitter keeps.
const KEPT_TABLES: usize = 1 << 10;

impl Emitter {
    /// Prepares for a task that says that it executes this many blocks. These nests come as one.
    pub(crate) fn begin(&mut self, blocks: u64, nests: Nests) {
        self.player.restart(blocks, nests);
    }

    /// Goes to a range of the records of a frame.
    pub(crate) fn start(&mut self, frame: &DecodedFrame, records: Range<usize>) {
        self.player.start(frame, records.clone());
        self.records = records;
        self.together = None;
    }

    /// Appends what comes next, until the batch is full. Returns whether there may be more. The
    /// accesses are written by [`Emitter::flush`], at the latest before another frame or records
    /// that do not follow these.
    pub(crate) fn fill<'g>(
        &mut self,
        e: Emission<'g>,
        frame: &DecodedFrame,
        batch: &mut Batch<'g>,
    ) -> Result<bool> {
        if self.rows.len() < frame.tables.len() {
            self.rows.resize_with(frame.tables.len(), Rows::default);
        }
        // The player may be in a path.
        let together = self.together.take();
        if self.path(e, frame, together, batch)? || batch.is_full() {
            return Ok(true);
        }
        let plans = plans(frame, e.templates, e.score);
        while let Some(records) = frame.records.get(self.records.clone())
            && let [record, ..] = records
        {
            let Some(plan) = plans.get(record.table as usize) else {
                return Err(malformed(WHAT, "a record of no table"));
            };
            let one = if e.counting { 0 } else { plan.accesses as usize };
            let (mut times, mut stops) = (1, false);
            match plan.how {
                How::Straight => {
                    if plan.function != self.player.known && plan.function != NONE {
                        self.player.known = begun(plan)?;
                    }
                    times += alike(records, batch, one);
                }
                How::Flow => {
                    if let Some(Some(t)) = e.templates.straight.get(plan.symbol as usize)
                        && let Some(flow) = &t.flow
                    {
                        self.arrive(e, flow, plan)?;
                        if !plan.fresh && (one == 0 || t.carried.is_empty()) {
                            times += alike(records, batch, one);
                        }
                        if !t.carried.is_empty() && one > 0 {
                            let State { slots, iterations } = &self.player.state;
                            let carried = &mut self.rows[record.table as usize].carried;
                            carried.extend(t.carried.iter().map(|c| match *c {
                                Carried::Slot(s) => slots[s as usize],
                                Carried::Iteration(l) => iterations[l as usize],
                            }));
                        }
                        self.leave(flow, frame, records[times - 1], times as u64);
                    }
                }
                How::Path => {
                    let path = (plan.symbol as usize).wrapping_sub(e.score.layout.blocks.len());
                    self.player.enter(path, *record, e.score)?;
                    stops = self.path(e, frame, None, batch)?;
                }
                How::Block => {
                    let mut played = Played::Block(BlockId::new(plan.symbol));
                    let operands = &mut self.player.operands;
                    frame.row(*record, operands);
                    push(e, &mut played, operands, batch);
                }
                How::Other => {
                    let action = frame.others.get(record.row as usize);
                    let wanted =
                        |action: &&Action<'_>| !(e.silent && matches!(action, Action::Sync { .. }));
                    let action = action.filter(wanted);
                    if let Some(mut played) = action.map(|action| Played::Other(*action)) {
                        push(e, &mut played, &mut [], batch);
                    }
                }
            }
            if plan.script != NONE {
                batch.execute(plan.script, times as u64);
            }
            if one > 0 {
                let rows = &mut self.rows[record.table as usize];
                if rows.places.is_empty() {
                    self.used.push(record.table);
                    rows.first = record.row as usize;
                }
                let place = |k: usize| number(batch.end + k * one);
                rows.places.extend((0..times).map(place));
                batch.end += times * one;
            }
            self.records.start += times;
            // A loop may leave room that is too small for its next iteration.
            if stops || batch.is_full() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes known the values that a path goes on with.
    #[inline]
    fn arrive(&mut self, e: Emission<'_>, flow: &Flow, plan: &Plan) -> Result<()> {
        let known = self.player.known == plan.function;
        if !known {
            self.player.known = begun(plan)?;
        }
        if !plan.fresh {
            return Ok(());
        }
        let state = &mut self.player.state;
        if known {
            let needs = &e.templates.needs[flow.function as usize];
            let slots = needs.slots.iter();
            slots.for_each(|s| state.slots[*s as usize] = 0);
            state.iterations.fill(0);
        } else {
            state.begin(&e.score.paths.functions[flow.function as usize]);
        }
        Ok(())
    }

    /// Notes what is known after so many executions of a path, of which this record is the last.
    #[inline]
    fn leave(&mut self, flow: &Flow, frame: &DecodedFrame, record: Record, times: u64) {
        let state = &mut self.player.state;
        if let Some(table) = frame.table(record).filter(|_| !flow.sets.is_empty()) {
            for &(slot, value) in &flow.sets {
                let value = table.value(value as usize, record.row as usize, &frame.columns);
                state.slots[slot as usize] = value.unwrap_or(0);
            }
        }
        // Who enters a loop in each execution is where one execution leads.
        let enters = flow.steps.iter().any(|&(_, entered)| entered);
        let more = if enters { 1 } else { times };
        for &(l, entered) in &flow.steps {
            let i = &mut state.iterations[l as usize];
            *i = if entered { 0 } else { i.wrapping_add(more) };
        }
    }

    /// Writes the accesses of the records that have places.
    pub(crate) fn flush(&mut self, e: Emission<'_>, frame: &DecodedFrame, batch: &mut Batch<'_>) {
        batch.room(0);
        let front = u64::from(e.space) << PREFIX;
        for at in self.used.drain(..) {
            let rows = &mut self.rows[at as usize];
            if let Some(table) = frame.tables.get(at as usize)
                && let Some(Some(t)) = e.templates.straight.get(table.symbol as usize)
            {
                let kernel = Kernel { t, table, rows, frame, front };
                kernel.write(&mut batch.addresses, &mut batch.sites, &mut self.row);
            }
            rows.clear();
        }
        self.rows.truncate(KEPT_TABLES);
    }
}

/// Appends what is played, with its operands.
fn push<'g>(e: Emission<'g>, played: &mut Played<'g>, operands: &mut [u64], batch: &mut Batch<'g>) {
    if e.space > 0 {
        prefix(e.info, played, operands, e.space);
    }
    batch.push(e.info, *played, operands);
}

/// Number of records right after the first one that are of the same table and have room in the
/// batch.
fn alike(records: &[Record], batch: &Batch<'_>, accesses: usize) -> usize {
    let most = FULL.saturating_sub(batch.end) / accesses.max(1);
    let table = records[0].table;
    let next = records[1..].iter().take(most);
    next.take_while(|next| next.table == table).count()
}

/// The function of a path that begins it. A path that goes on with another function than is known
/// is refused.
#[inline]
fn begun(plan: &Plan) -> Result<u32> {
    match plan.fresh {
        true => Ok(plan.function),
        false => Err(malformed(WHAT, "a path goes on with what is not known")),
    }
}

/// How the records of each table of a frame are executed.
pub(super) fn plans<'f>(
    frame: &'f DecodedFrame,
    templates: &Templates,
    score: Score<'_>,
) -> &'f [Plan] {
    let plan = |table: &Table| plan(table.symbol, templates, score);
    let plans = || frame.tables.iter().map(plan).collect();
    frame.plans.get_or_init(plans)
}

/// How the records of a table are executed.
fn plan(symbol: u32, templates: &Templates, score: Score<'_>) -> Plan {
    let mut plan =
        Plan { symbol, script: NONE, accesses: 0, function: NONE, fresh: false, how: How::Path };
    if symbol == Table::OTHER {
        plan.how = How::Other;
        return plan;
    }
    let Some(Some(t)) = templates.straight.get(symbol as usize) else {
        if (symbol as usize) < score.layout.blocks.len() {
            plan.how = How::Block;
        }
        return plan;
    };
    plan.how = How::Straight;
    plan.accesses = u32::try_from(t.sites.len()).unwrap_or(u32::MAX);
    if !templates.scripts[symbol as usize].is_empty() {
        plan.script = symbol;
    }
    if let Some(flow) = &t.flow {
        let needs = &templates.needs[flow.function as usize];
        (plan.function, plan.fresh) = (flow.function, flow.fresh);
        if !needs.slots.is_empty() || needs.iterations {
            plan.how = How::Flow;
        }
    }
    plan
}

impl Rows {
    fn clear(&mut self) {
        self.places.clear();
        self.carried.clear();
    }
}

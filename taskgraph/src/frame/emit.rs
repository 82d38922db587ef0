//! Computes the accesses of many records at a time. One pass over the records gives each record its place among the
//! accesses, and notes what the record goes on with. Then the records of each block or path write their accesses all
//! at once, so no branch depends on the records' order.

use std::cell::Cell;
use std::ops::Range;

use super::decode::{DecodedFrame, Record, Table, WHAT};
use super::play::{Played, Player, Score};
use super::template::{Addresses, Carried, Flow, Near, Site, Straight, Templates};
use crate::compact::{Compact, advance};
use crate::error::{Result, malformed};
use crate::id::BlockId;
use crate::path::State;
use crate::space::{PREFIX, prefix};
use crate::statics::StaticInfo;

mod iterated;

/// A batch is given out when it has this many accesses.
const FULL: usize = 1 << 13;
/// Runs of at most this many iterations, of blocks with at most `FEW` operands, are given out access by access.
const SHORT: u64 = 16;
const FEW: usize = 16;

/// What is needed to compute accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emission<'g> {
    pub(crate) info: &'g StaticInfo,
    pub(crate) score: Score<'g>,
    pub(crate) templates: &'g Templates,
    pub(crate) space: u16,
}

/// What comes next in program order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Emitted<'e> {
    Accesses {
        addresses: &'e [u64],
        sites: &'e [Site],
    },
    Compact(Compact<'e>),
}

/// Working memory of one thread.
#[derive(Debug, Default)]
pub(crate) struct Emitter {
    player: Player,
    addresses: Vec<u64>,
    sites: Vec<Site>,
    /// Number of accesses in the batch so far.
    end: usize,
    /// For each table of the frame, its records in the batch; `used` lists the tables that have some.
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

/// The most tables with room for records that a spare emitter keeps.
const KEPT_TABLES: usize = 1 << 10;

thread_local! {
    /// An emitter that is not in use, kept for its memory.
    static SPARE: Cell<Option<Box<Emitter>>> = const { Cell::new(None) };
}

impl Emitter {
    /// Takes an emitter for a short time. Give it back with [`Emitter::give_back`].
    pub(crate) fn lent() -> Box<Self> {
        SPARE.take().unwrap_or_default()
    }

    /// Keeps the emitter's memory for the next emitter of this thread.
    pub(crate) fn give_back(mut self: Box<Self>) {
        self.used.clear();
        self.rows.truncate(KEPT_TABLES);
        SPARE.set(Some(self));
    }

    /// Prepares for a task that says that it executes this many blocks.
    pub(crate) fn begin(&mut self, blocks: u64) {
        self.player.allow(blocks);
        self.rows.iter_mut().for_each(Rows::clear);
        self.clear();
    }

    fn clear(&mut self) {
        for table in self.used.drain(..) {
            self.rows[table as usize].clear();
        }
        self.end = 0;
    }

    /// Gives out what a range of a frame's records does.
    pub(crate) fn frame(
        &mut self,
        e: Emission<'_>,
        frame: &DecodedFrame,
        records: Range<usize>,
        f: &mut impl FnMut(Emitted<'_>),
    ) -> Result<()> {
        self.player.start(frame, records.clone());
        if self.rows.len() < frame.tables.len() {
            self.rows.resize_with(frame.tables.len(), Rows::default);
        }
        for at in records {
            let Some(record) = frame.records.get(at).copied() else {
                break;
            };
            let symbol = frame.table(record).map_or(Table::OTHER, |t| t.symbol);
            let Some(Some(t)) = e.templates.straight.get(symbol as usize) else {
                let path = (symbol as usize).checked_sub(e.score.layout.blocks.len());
                let path = path.filter(|path| e.templates.iterated.get(*path) == Some(&true));
                match path {
                    Some(path) => self.iterated(e, frame, record, path, f)?,
                    None => self.walked(e, frame, at, f)?,
                }
                continue;
            };
            if let Some(flow) = &t.flow {
                self.arrive(e, flow)?;
                if !t.carried.is_empty() && !t.sites.is_empty() {
                    let State { slots, iterations } = &self.player.state;
                    let carried = &mut self.rows[record.table as usize].carried;
                    carried.extend(t.carried.iter().map(|c| match *c {
                        Carried::Slot(s) => slots[s as usize],
                        Carried::Iteration(l) => iterations[l as usize],
                    }));
                }
                self.leave(flow, frame, record);
            }
            if !t.sites.is_empty() {
                let rows = &mut self.rows[record.table as usize];
                if rows.places.is_empty() {
                    self.used.push(record.table);
                    rows.first = record.row as usize;
                }
                rows.places
                    .push(u32::try_from(self.end).unwrap_or(u32::MAX));
                self.end += t.sites.len();
                if self.end >= FULL {
                    self.flush(e, frame, f);
                }
            }
        }
        self.flush(e, frame, f);
        Ok(())
    }

    /// Makes known the values that a path goes on with.
    #[inline]
    fn arrive(&mut self, e: Emission<'_>, flow: &Flow) -> Result<()> {
        let needs = &e.templates.needs[flow.function as usize];
        let known = self.player.known == Some(flow.function);
        if !flow.fresh {
            return if known {
                Ok(())
            } else {
                Err(malformed(WHAT, "a path goes on with what is not known"))
            };
        }
        let state = &mut self.player.state;
        if needs.slots.is_empty() && !needs.iterations {
            // No record asks for such values.
        } else if known {
            needs
                .slots
                .iter()
                .for_each(|s| state.slots[*s as usize] = 0);
            state.iterations.fill(0);
        } else {
            state.begin(&e.score.paths.functions[flow.function as usize]);
        }
        self.player.known = Some(flow.function);
        Ok(())
    }

    #[inline]
    fn leave(&mut self, flow: &Flow, frame: &DecodedFrame, record: Record) {
        let state = &mut self.player.state;
        if let Some(table) = frame.table(record).filter(|_| !flow.sets.is_empty()) {
            let row = record.row as usize;
            for &(slot, value) in &flow.sets {
                let value = table.field(value as usize, row..row + 1, &frame.columns);
                state.slots[slot as usize] = value.first().copied().unwrap_or(0);
            }
        }
        for &(l, entered) in &flow.steps {
            let i = &mut state.iterations[l as usize];
            *i = if entered { 0 } else { i.wrapping_add(1) };
        }
    }

    /// Executes a record that has no straight template.
    fn walked(
        &mut self,
        e: Emission<'_>,
        frame: &DecodedFrame,
        at: usize,
        f: &mut impl FnMut(Emitted<'_>),
    ) -> Result<()> {
        self.player.only(at);
        while let Some(mut played) = self.player.next(e.score, frame)? {
            if e.space > 0 {
                prefix(e.info, &mut played, &mut self.player.operands, e.space);
            }
            let short = match played {
                Played::Block(id) => self.block(e, id, 0..self.player.operands.len()),
                Played::Run {
                    blocks,
                    strides,
                    iterations,
                } => iterations <= SHORT && self.run(e, blocks, strides, iterations),
                // This player plays nests node by node.
                Played::Nest { .. } => false,
                Played::Other(_) => false,
            };
            if short {
                if self.end >= FULL {
                    self.flush(e, frame, f);
                }
                continue;
            }
            self.flush(e, frame, f);
            let operands = &self.player.operands;
            f(Emitted::Compact(Compact::new(e.info, played, operands)));
        }
        Ok(())
    }

    /// Appends the accesses of a short run, whose blocks have few operands. Returns false, and appends nothing, if the
    /// run is not short.
    fn run(
        &mut self,
        e: Emission<'_>,
        blocks: &[(BlockId, u32)],
        strides: &[u64],
        iterations: u64,
    ) -> bool {
        let straight = |b: &(BlockId, u32)| {
            let t = e.templates.straight.get(b.0.index());
            t.is_some_and(Option::is_some)
        };
        if strides.len() > FEW || !blocks.iter().all(straight) {
            return false;
        }
        for _ in 0..iterations {
            let mut from = 0;
            for (id, end) in blocks {
                let end = *end as usize;
                self.block(e, *id, from..end);
                from = end;
            }
            advance(&mut self.player.operands, strides);
        }
        true
    }

    /// Appends the accesses of a block with operands that were played. Returns false if their sizes are not known.
    #[inline]
    fn block(&mut self, e: Emission<'_>, id: BlockId, operands: Range<usize>) -> bool {
        let Some(Some(t)) = e.templates.straight.get(id.index()) else {
            return false;
        };
        let n = t.sites.len();
        self.room(n);
        let operands = self.player.operands.get(operands).unwrap_or(&[]);
        if operands.len() < t.fields {
            return false;
        }
        let to = &mut self.addresses[self.end..self.end + n];
        write(&t.addresses, operands, to, 0);
        self.sites[self.end..self.end + n].copy_from_slice(&t.sites);
        self.end += n;
        true
    }

    /// Makes room for this many more accesses.
    #[inline]
    fn room(&mut self, n: usize) {
        let needed = self.end + n;
        if self.addresses.len() < needed {
            self.addresses.resize(needed.next_power_of_two(), 0);
            self.sites
                .resize(needed.next_power_of_two(), Site::default());
        }
    }

    fn flush(&mut self, e: Emission<'_>, frame: &DecodedFrame, f: &mut impl FnMut(Emitted<'_>)) {
        self.room(0);
        let front = u64::from(e.space) << PREFIX;
        for table in &self.used {
            let rows = &self.rows[*table as usize];
            let Some(table) = frame.tables.get(*table as usize) else {
                continue;
            };
            let Some(Some(t)) = e.templates.straight.get(table.symbol as usize) else {
                continue;
            };
            let kernel = Kernel {
                t,
                table,
                rows,
                frame,
                front,
            };
            kernel.write(&mut self.addresses, &mut self.sites, &mut self.row);
        }
        if self.end > 0 {
            f(Emitted::Accesses {
                addresses: &self.addresses[..self.end],
                sites: &self.sites[..self.end],
            });
        }
        self.clear();
    }
}

struct Kernel<'k> {
    t: &'k Straight,
    table: &'k Table,
    rows: &'k Rows,
    frame: &'k DecodedFrame,
    front: u64,
}

impl<'k> Kernel<'k> {
    fn write(&self, addresses: &mut [u64], sites: &mut [Site], row: &mut Vec<u64>) {
        match &self.t.addresses {
            Addresses::Near(near) => match near.len() {
                0 => {}
                1 => self.near::<1>(near, addresses, sites),
                2 => self.near::<2>(near, addresses, sites),
                3 => self.near::<3>(near, addresses, sites),
                4 => self.near::<4>(near, addresses, sites),
                5 => self.near::<5>(near, addresses, sites),
                6 => self.near::<6>(near, addresses, sites),
                7 => self.near::<7>(near, addresses, sites),
                8 => self.near::<8>(near, addresses, sites),
                _ => self.any(addresses, sites, row),
            },
            Addresses::Any(_) => self.any(addresses, sites, row),
        }
    }

    fn range(&self) -> Range<usize> {
        self.rows.first..self.rows.first + self.rows.places.len()
    }

    /// Returns a value of all records, and the distance from one record's value to the next.
    fn column(&self, value: usize) -> (&'k [u64], usize) {
        match value.checked_sub(self.t.fields) {
            None => {
                let column = self.table.field(value, self.range(), &self.frame.columns);
                (column, 1)
            }
            Some(k) => {
                let carried = self.rows.carried.get(k..).unwrap_or(&[]);
                (carried, self.t.carried.len())
            }
        }
    }

    /// Writes `N` addresses for each record, each of which is near a value.
    fn near<const N: usize>(&self, near: &[Near], addresses: &mut [u64], sites: &mut [Site]) {
        let (Some(near), Some(own)) = (near.first_chunk::<N>(), self.t.sites.first_chunk::<N>())
        else {
            return;
        };
        let columns = near.map(|near| self.column(near.value as usize));
        let n = self.rows.places.len();
        let short = |(column, step): &(&[u64], usize)| column.len() < (n - 1) * step + 1;
        if columns.iter().any(short) {
            return;
        }
        for (i, place) in self.rows.places.iter().enumerate() {
            let place = *place as usize;
            let (Some(to), Some(names)) = (
                addresses.get_mut(place..place + N),
                sites.get_mut(place..place + N),
            ) else {
                continue;
            };
            for ((to, near), (column, step)) in to.iter_mut().zip(near).zip(&columns) {
                *to = (column[i * step].wrapping_add(near.add) & near.mask) | self.front;
            }
            names.copy_from_slice(own);
        }
    }

    fn any(&self, addresses: &mut [u64], sites: &mut [Site], row: &mut Vec<u64>) {
        let t = self.t;
        let (n, values) = (t.sites.len(), t.fields + t.carried.len());
        let columns: Vec<_> = (0..values).map(|value| self.column(value)).collect();
        for (i, place) in self.rows.places.iter().enumerate() {
            let place = *place as usize;
            row.clear();
            let value = |(column, step): &(&[u64], usize)| column.get(i * step).copied();
            row.extend(columns.iter().map(|column| value(column).unwrap_or(0)));
            if let Some(to) = addresses.get_mut(place..place + n) {
                write(&t.addresses, row, to, self.front);
            }
            if let Some(names) = sites.get_mut(place..place + n) {
                names.copy_from_slice(&t.sites);
            }
        }
    }
}

impl Rows {
    fn clear(&mut self) {
        self.places.clear();
        self.carried.clear();
    }
}

/// Computes the addresses of one execution from its row.
#[inline]
fn write(addresses: &Addresses, row: &[u64], to: &mut [u64], front: u64) {
    match addresses {
        Addresses::Near(near) => {
            for (to, near) in to.iter_mut().zip(near) {
                *to = (row[near.value as usize].wrapping_add(near.add) & near.mask) | front;
            }
        }
        Addresses::Any(values) => {
            for (to, value) in to.iter_mut().zip(values) {
                *to = value.eval(row, &[]) | front;
            }
        }
    }
}

//! The detector: it checks every access, in topological order of the tasks, against what is
//! remembered of its memory.
//!
//! It follows FastTrack (Flanagan and Freund, 2009) with tasks as epochs, on bytes. It differs in
//! two ways: unordered accesses stay remembered beside one another, so that every further conflict
//! with them is found too, and granules share states ([`super::states`]).
//!
//! Memory is recycled without an edge in the graph: two unordered tasks may get the same address
//! from malloc one after the other. An allocation therefore leaves a mark. An access or a free that
//! is not ordered after the mark belongs to an earlier life of the memory, whatever the order in
//! which tasks are visited, and is ignored. A free also leaves a mark: an access of the same life
//! that nothing orders with the free is a race.

mod held;
mod lives;
mod objects;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{Access, AffineRun, Again, BlockId, ContextId, MemOp, Piece, TaskId, TaskKind};

use super::chains::Epoch;
use super::clocks::Clocks;
use super::record::{Kind, Record, Use};
use super::shadow::{GRANULE_SHIFT, GRANULES_OF_PAGE, Shadow, page_of};
use super::states::{StateId, States};
use held::HeldMarks;
pub(super) use objects::{Misuse, Misuses};

use super::tally::{Doubt, Example, Memory, Pair, Tally};
use crate::analysis::{Accesses, Share, Strides, Task};

/// The contexts of which it is not known what orders them, with the reason.
pub(super) type Doubts = Arc<FxHashMap<ContextId, Doubt>>;

/// Number of entries in the table of computed transitions.
const LOOKUPS: usize = 8192;
/// Number of states waiting to be freed above which this is done in the middle of a task.
const UNUSED: usize = 1 << 16;
/// Number of accesses between two checks of the memory in use.
const CHECK: u64 = 1 << 16;
/// Number of unordered accesses that are remembered of 8 bytes: the first of them and the latest
/// ones.
const REMEMBERED: usize = 48;
const FIRST: usize = 8;
/// Allocations below an address among which that of the address is looked for.
const NEAR: usize = 16;
/// The operation of new stacks, whose life begins earlier than they are marked.
const STACK_OP: u32 = u32::MAX - 1;
/// Operations from this number on stand for a call by a block that makes or frees memory; the
/// remaining bits are the block.
const CALLED_BY: u32 = 1 << 31;

/// The effect of an access on a state, computed earlier in the same task.
#[derive(Clone, Copy, Debug, Default)]
struct Lookup {
    /// The state before, and the operation.
    key: u64,
    /// Stamp of the task, mask, and kind.
    detail: u64,
    next: StateId,
    /// 1 + index in `Detector::races` of the races that it makes; 0 if there are none.
    races: u32,
    /// What it adds to `Detector::unowned`.
    unowned: u32,
}

/// What is stored of a context between its tasks.
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    /// The stack that it began with, from `low` on. Everything from `marked` on has its mark
    /// already.
    low: u64,
    marked: u64,
    since: Epoch,
    /// Its thread's stack, or a part of it, and the thread's variables, as `start..end`.
    own: [(u64, u64); 2],
    /// The block executed last.
    block: Option<BlockId>,
}

impl Running {
    #[inline]
    fn owns(&self, addr: u64) -> bool {
        let within = |(from, to): (u64, u64)| addr.wrapping_sub(from) < to - from;
        within(self.own[0]) || within(self.own[1])
    }
}

/// Finds races in one part of memory.
#[derive(Debug, Default)]
pub struct Detector {
    clocks: Clocks,
    shadow: Shadow,
    states: States,
    lookups: Vec<Lookup>,
    /// A number that changes with every task and every sweep, which makes older lookups invalid.
    stamp: u64,
    /// The races of the lookups with the current stamp.
    races: Vec<Vec<u32>>,
    /// By operation: its flags.
    flags: Vec<u8>,
    /// Size and task of the allocations at an address that have not been freed.
    allocations: BTreeMap<u64, Vec<(Epoch, u64)>>,
    /// Contexts between their tasks, and the current one.
    contexts: FxHashMap<ContextId, Running>,
    running: Running,
    scratch: Vec<Record>,
    held: HeldMarks,
    /// The last run of the task, and whether all memory that it accesses is of the present life.
    runs: Strides,
    settled: bool,
    /// By loop of a nest: the accesses, and the unowned ones among them, up to its latest
    /// iteration.
    loops: Vec<(u64, u64)>,
    limit: usize,
    /// Whether more than `limit` bytes are in use; then nothing more is checked, and the result is
    /// incomplete.
    pub(super) full: bool,
    /// What was found.
    pub(super) tally: Tally,
    /// Reads and writes seen.
    pub(super) accesses: u64,
    /// Accesses that were ignored because the allocation of their memory does not come before them,
    /// in granules.
    pub(super) unowned: u64,
    /// Pairs of contexts that use a common atomic variable, which at least one of them writes.
    pub(super) atomic_pairs: BTreeSet<(ContextId, ContextId)>,
    /// When the recording of the first thread ended that went on running; the largest number if
    /// there is none.
    cut: u64,
    /// By context, its first task that ends after `cut`.
    late: FxHashMap<ContextId, u32>,
    /// The contexts of which it is not known what orders them.
    doubts: Doubts,
    /// Objects that were used after they were destroyed.
    pub(super) misuses: Misuses,
    /// Whether any object was destroyed.
    destroyed: bool,
}

impl Detector {
    /// A detector for `part` of the program's memory that has seen nothing, and stops at about
    /// `limit` bytes of its own. From `cut` on, some threads went on without being recorded. What
    /// orders the contexts in `doubts` is not known.
    pub(super) fn new(flags: Vec<u8>, part: Share, limit: usize, cut: u64, doubts: Doubts) -> Self {
        Self {
            shadow: Shadow::new(part),
            lookups: vec![Lookup::default(); LOOKUPS],
            flags,
            limit,
            cut,
            doubts,
            ..Self::default()
        }
    }

    /// A task begins; its predecessors must have been visited.
    pub(super) fn enter(&mut self, task: &Task<'_>) -> Result<()> {
        if self.full {
            return Ok(());
        }
        self.clocks.enter(task.graph(), task)?;
        self.next_stamp();
        self.runs.forget();
        self.full |= self.bytes() > self.limit;
        let TaskId { context, seq } = task.id();
        if task.end_ns() > self.cut {
            self.late.entry(context).or_insert(seq);
        }
        self.running = self.contexts.remove(&context).unwrap_or_default();
        if task.kind() != TaskKind::Work && !task.op().may_be_action() {
            self.synchronises(task.op(), task.object());
        }
        Ok(())
    }

    /// Whether the task may follow what a thread did whose recording had ended. The order of the
    /// two is then unknown.
    fn is_late(&self, epoch: Epoch) -> bool {
        if self.late.is_empty() {
            return false;
        }
        let task = self.clocks.task(epoch);
        let first = self.late.get(&task.context);
        first.is_some_and(|first| task.seq >= *first)
    }

    /// The task is over.
    pub(super) fn leave(&mut self, task: &Task<'_>) {
        self.settle_marks();
        if !task.is_last() {
            self.contexts.insert(task.id().context, self.running);
        }
    }

    /// Takes a piece of what the task does.
    pub(super) fn piece(&mut self, piece: &Piece<'_>) {
        if self.full {
            return;
        }
        if let Piece::Action(action) = piece {
            self.runs.forget();
            self.action(action);
        }
        Accesses::piece(self, piece);
        self.running.block = piece.last_block().or(self.running.block);
    }

    /// The task executed what is not looked at, this block as the last one.
    pub(super) fn passed(&mut self, last: BlockId) {
        self.running.block = Some(last);
    }

    /// Counts accesses.
    #[inline]
    fn repeat(&mut self, accesses: u64) {
        let before = self.accesses;
        self.accesses += accesses;
        if self.accesses / CHECK > before / CHECK {
            self.full |= self.bytes() > self.limit;
        }
    }

    #[inline]
    fn check(&mut self, access: &Access) {
        if self.full {
            return;
        }
        self.repeat(1);
        if (self.running.low..self.running.marked).contains(&access.addr) {
            self.mark_stack(access.addr);
        }
        let op = access.op.get();
        let flags = self.flags.get(op as usize).copied().unwrap_or(0);
        if flags & MemOp::SPECULATED != 0 {
            return;
        }
        let atomic = flags & MemOp::ATOMIC != 0;
        let by =
            Use { op, kind: Kind::of(access.write, atomic), own: self.running.owns(access.addr) };
        self.range(access.addr, access.size, by);
    }

    /// The block that called, if the operation stands for a call that makes or frees memory.
    pub(super) fn called_by(op: u32) -> Option<BlockId> {
        (CALLED_BY..STACK_OP).contains(&op).then(|| BlockId::new(op & !CALLED_BY))
    }

    /// Bytes in use: shadow, states, clocks and allocations.
    pub(super) fn bytes(&self) -> usize {
        self.shadow.bytes()
            + self.states.bytes()
            + self.clocks.bytes()
            + self.allocations.len() * 96
            + self.contexts.capacity() * (size_of::<Running>() + 8)
    }

    fn next_stamp(&mut self) {
        self.stamp += 1;
        self.races.clear();
        self.states.sweep();
    }

    /// Checks one access to a range of bytes.
    #[inline]
    fn range(&mut self, addr: u64, size: u64, by: Use) {
        if size == 0 {
            return;
        }
        if self.held.may_have(addr, size) {
            self.settle_marks();
        }
        let last_byte = addr.saturating_add(size - 1);
        let (first, last) = (addr >> GRANULE_SHIFT, last_byte >> GRANULE_SHIFT);
        let from = 0xff << (addr & 7);
        let to = 0xff >> (7 - (last_byte & 7));
        if first == last {
            return self.granule(first, mask(from & to), by);
        }
        let (from, to) = (mask(from), mask(to));
        if from != 0xff {
            self.granule(first, from, by);
        }
        let whole = first + u64::from(from != 0xff)..last + u64::from(to == 0xff);
        let mut at = whole.start;
        while at < whole.end {
            let end = whole.end.min((page_of(at) + 1) * GRANULES_OF_PAGE);
            match end - at {
                GRANULES_OF_PAGE => self.page(page_of(at), by),
                _ => (at..end).for_each(|granule| self.granule(granule, 0xff, by)),
            }
            at = end;
        }
        if to != 0xff {
            self.granule(last, to, by);
        }
    }

    /// One access to all granules of a page. If they are in one state, they are handled like one
    /// granule.
    fn page(&mut self, page: u64, by: Use) {
        match self.shadow.page(page) {
            None => {}
            Some(Some(before)) => self.whole_page(page, before, by),
            Some(None) => {
                let first = page * GRANULES_OF_PAGE;
                let all = first..first + GRANULES_OF_PAGE;
                all.for_each(|granule| self.granule(granule, 0xff, by));
                self.shadow.join(page, &mut self.states);
            }
        }
    }

    fn whole_page(&mut self, page: u64, before: StateId, by: Use) {
        let access = Record { epoch: self.epoch(by), mask: 0xff, by };
        let (mut after, mut races) = (std::mem::take(&mut self.scratch), Vec::new());
        let (granule, unowned) = (page * GRANULES_OF_PAGE, self.unowned);
        if self.transition(granule, before, access, &mut after, &mut races) {
            let next = self.states.make(&after);
            self.shadow.fill_page(page, next, &mut self.states);
        }
        self.scratch = after;
        let others = GRANULES_OF_PAGE - 1;
        self.unowned += (self.unowned - unowned) * others;
        let pairs = races.into_iter();
        pairs.for_each(|pair| self.tally.again(pair, others));
        if self.states.unused() > UNUSED {
            self.next_stamp();
        }
    }

    /// The task that an operation belongs to.
    fn epoch(&self, by: Use) -> Epoch {
        match by.op {
            STACK_OP => self.running.since,
            _ => self.clocks.now(),
        }
    }

    /// One access to bytes of one granule.
    #[inline]
    fn granule(&mut self, granule: u64, mask: u8, by: Use) {
        let Some(cell) = self.shadow.granule(granule, &mut self.states) else {
            return;
        };
        let before = *cell;
        let key = u64::from(before) << 32 | u64::from(by.op);
        let about = u64::from(by.own) << 4 | by.kind as u64;
        let detail = self.stamp << 16 | u64::from(mask) << 8 | about;
        let slot =
            (key ^ detail << 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - LOOKUPS.ilog2());
        let slot = usize::try_from(slot).unwrap_or(0) % LOOKUPS;
        let known = &self.lookups[slot];
        if known.key == key && known.detail == detail {
            let (next, races) = (known.next, known.races);
            self.unowned += u64::from(known.unowned);
            if next != before {
                *cell = next;
                self.states.moved(before, next, 1);
            }
            if races > 0 {
                self.races[races as usize - 1].iter().for_each(|&pair| self.tally.again(pair, 1));
            }
            return;
        }
        let epoch = self.epoch(by);
        let access = Record { epoch, mask, by };
        self.look_up(granule, before, access, slot, key, detail);
    }

    #[cold]
    fn look_up(
        &mut self,
        granule: u64,
        before: StateId,
        access: Record,
        slot: usize,
        key: u64,
        detail: u64,
    ) {
        let mut after = std::mem::take(&mut self.scratch);
        let mut races = Vec::new();
        let ignored = self.unowned;
        let changed = self.transition(granule, before, access, &mut after, &mut races);
        let unowned = u32::try_from(self.unowned - ignored).unwrap_or(u32::MAX);
        let next = if changed { self.states.make(&after) } else { before };
        self.scratch = after;
        if next != before {
            if let Some(cell) = self.shadow.granule(granule, &mut self.states) {
                *cell = next;
            }
            self.states.moved(before, next, 1);
        }
        let races = if races.is_empty() {
            0
        } else {
            self.races.push(races);
            u32::try_from(self.races.len()).unwrap_or(0)
        };
        self.lookups[slot] = Lookup { key, detail, next, races, unowned };
        if self.states.unused() > UNUSED {
            self.next_stamp();
        }
    }

    /// Computes the records after `access` into `after`, and the races that it makes. Returns false
    /// if nothing changes.
    fn transition(
        &mut self,
        granule: u64,
        before: StateId,
        mut access: Record,
        after: &mut Vec<Record>,
        races: &mut Vec<u32>,
    ) -> bool {
        after.clear();
        let records = self.states.records(before);
        let bytes = access.mask;
        for mark in
            records.iter().filter(|mark| mark.by.kind == Kind::Alloc && mark.mask & bytes != 0)
        {
            if !self.clocks.ordered(mark.epoch) && access.by.kind != Kind::Alloc {
                access.mask &= !mark.mask;
                self.unowned += u64::from(access.by.kind < Kind::Alloc);
            }
        }
        // A store there makes a new object, whether or not the task stored there before.
        let destroyed = records.iter().filter(|record| record.by.kind == Kind::Destroyed);
        let ended = destroyed.fold(0, |mask, record| mask | record.mask);
        for own in records.iter().filter(|record| record.epoch == access.epoch) {
            if access.by.superseded_by(own.by) {
                access.mask &= !own.mask | ended;
            }
        }
        if access.mask == 0 {
            return false;
        }
        for &record in records {
            let common = record.mask & access.mask;
            let ordered = self.clocks.ordered(record.epoch);
            if common != 0
                && !ordered
                && record.by.conflicts(access.by)
                && !self.is_late(record.epoch)
                && !self.is_late(access.epoch)
            {
                let address = (granule << GRANULE_SHIFT) + u64::from(common.trailing_zeros());
                let known = self.clocks.known(record.epoch);
                let example = Example {
                    at: self.accesses,
                    address,
                    first: self.clocks.task(record.epoch),
                    second: self.clocks.task(access.epoch),
                    known,
                    memory: self.memory(records, address),
                };
                let pair = Pair {
                    first: (record.by.op, record.by.kind),
                    second: (access.by.op, access.by.kind),
                    doubt: self.doubt(example.first, example.second),
                };
                races.push(self.tally.found(pair, example));
            }
            if common != 0
                && record.by.kind.atomic()
                && access.by.kind.atomic()
                && (record.by.kind.writes() || access.by.kind.writes())
            {
                let (a, b) = (
                    self.clocks.task(record.epoch).context,
                    self.clocks.task(access.epoch).context,
                );
                self.atomic_pairs.insert((a.min(b), a.max(b)));
            }
            let gone = match access.by.kind {
                Kind::Alloc | Kind::Unmap => true,
                // A record that is not ordered after the allocation is of an earlier life, also
                // after this life has ended.
                Kind::Free => record.by.kind != Kind::Alloc,
                Kind::Made => record.by.kind == Kind::Destroyed,
                // Who writes there makes an object without a call.
                Kind::Write if record.by.kind == Kind::Destroyed => ordered,
                _ => ordered && record.by.superseded_by(access.by),
            };
            let mask = if gone { record.mask & !access.mask } else { record.mask };
            if mask != 0 {
                after.push(Record { mask, ..record });
            }
        }
        if !matches!(access.by.kind, Kind::Unmap | Kind::Made) {
            after.push(access);
        }
        if after.len() > REMEMBERED {
            let mut later = after.iter().skip(FIRST);
            if let Some(at) = later.position(|record| record.by.kind < Kind::Alloc) {
                after.remove(FIRST + at);
            }
        }
        true
    }
}

impl Detector {
    /// Why two tasks that the graph does not order may have an order all the same.
    fn doubt(&self, first: TaskId, second: TaskId) -> Option<Doubt> {
        let contexts = [first.context, second.context];
        let doubts = contexts.iter().filter_map(|c| self.doubts.get(c));
        doubts.min().copied()
    }

    /// What the byte at an address belongs to, from what is remembered of it.
    fn memory(&self, records: &[Record], address: u64) -> Memory {
        let bit = 1u8 << (address & 7);
        let made = |record: &&Record| record.by.kind == Kind::Alloc && record.mask & bit != 0;
        let Some(mark) = records.iter().find(made) else {
            return Memory::Unknown;
        };
        if mark.by.op == STACK_OP {
            return Memory::Stack(self.clocks.task(mark.epoch).context);
        }
        let Some(by) = Self::called_by(mark.by.op) else {
            return Memory::Unknown;
        };
        let below = self.allocations.range(..=address).rev().take(NEAR);
        let mut all = below.flat_map(|(at, lives)| lives.iter().map(move |life| (*at, *life)));
        let own = all.find(|(at, (epoch, size))| *epoch == mark.epoch && address - at < *size);
        let range = own.map(|(at, (_, size))| (at, size));
        Memory::Made { by, range }
    }
}

#[inline]
fn mask(bits: u64) -> u8 {
    // Only the low byte: bits beyond the granule are cut off.
    u8::try_from(bits & 0xff).unwrap_or(0)
}

/// A run or an iteration that a task repeats finds nothing new, because a task's own accesses are
/// remembered and supersede equal ones. Only accesses to an earlier life of their memory are not
/// remembered, but counted.
impl Accesses for Detector {
    fn strides(&mut self) -> &mut Strides {
        &mut self.runs
    }

    #[inline]
    fn access(&mut self, access: &Access, _: u64) {
        self.check(access);
    }

    fn run(&mut self, run: &AffineRun<'_>, _: u64, again: bool) {
        if again && self.settled {
            return self.repeat(self.runs.accesses());
        }
        let before = self.unowned;
        run.for_each_access(|access| self.check(&access));
        self.settled = self.unowned == before;
    }

    fn goes_on(&mut self, l: usize, done: u64, left: u64) -> Again {
        self.loops.resize(self.loops.len().max(l + 1), (0, 0));
        let now = (self.accesses, self.unowned);
        let (accesses, unowned) = std::mem::replace(&mut self.loops[l], now);
        if done == 0 || unowned != now.1 {
            return Again::Next;
        }
        self.repeat((now.0 - accesses) * left);
        Again::Skip(left)
    }
}

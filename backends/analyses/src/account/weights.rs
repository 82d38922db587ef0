//! How much code the run executed, by block. The unit is IR instructions, in proportion to which a
//! task's time is divided among its blocks. A copy or a fill counts as the instructions that it
//! takes the time of.

use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{Block, BlockCounts, BlockId, FunctionId, MemOp, OpId, OpKind, StaticInfo};

use super::Unrecorded;
use super::measured::{CALL, Measured, has_own_time};
use super::sums::{Spent, Sums, add_all, largest};
use crate::analysis::source::Place;
use crate::analysis::{Task, is_operation};
use crate::view::units::whole;
use ::workspan::source::is_library;

/// Bytes that a copy or a fill writes in the time of an instruction, if they are in the nearest
/// cache.
const BULK: u64 = 32;

/// How functions of libraries begin that make tasks and hand them out, and that are not recorded:
/// those of TBB and of Cilk.
const LIBRARIES: [&str; 2] = ["__cilkrts_", "tbb::detail::r1::"];

/// What the executions of each block move.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves(Vec<Moved>);

/// What an execution of a block moves.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    /// Bytes of its accesses whose size is known.
    bytes: u64,
    /// The time of its copies and fills of known length, in instructions.
    ops: u64,
    /// Number of accesses of its other copies and fills, and of those that are writes.
    open: u64,
    writes: u64,
    /// Whether these copies and fills include copies.
    copies: bool,
    /// Whether it reads and writes an atomic variable in one step.
    atomic: bool,
    /// Instructions that a call of code that was not recorded takes the time of.
    call: u64,
    /// The instructions that an execution of a block counts as that calls such code,
    /// synchronisation included.
    outside: Option<u64>,
}

impl Moves {
    pub(super) fn of(info: &StaticInfo) -> Self {
        let recorded = info.functions.iter().map(|function| function.name.as_str());
        let recorded: FxHashSet<&str> = recorded.collect();
        let block = |(at, block): (BlockId, &Block)| {
            let mut moved = Moved::default();
            if block.call.is_some() && !recorded.contains(callee(block)) {
                moved.call = if is_operation(callee(block)) { 0 } else { CALL };
                moved.outside = Some(ir_ops(block) + moved.call);
            }
            info.ops_of(at).iter().for_each(|op| moved.add(op));
            moved
        };
        Self((0..).map(BlockId::new).zip(&info.blocks).map(block).collect())
    }

    /// Whether a block reads and writes an atomic variable in one step.
    pub(super) fn is_atomic(&self, block: BlockId) -> bool {
        self.block(block).atomic
    }

    /// Whether a block ends in a call of code that was not recorded.
    pub(super) fn calls(&self, block: BlockId) -> bool {
        self.block(block).call > 0
    }

    /// The instructions that an execution of a block counts as, if it calls code that was not
    /// recorded.
    pub(super) fn outside(&self, block: BlockId) -> Option<u64> {
        self.block(block).outside
    }

    fn block(&self, block: BlockId) -> Moved {
        self.0.get(block.index()).copied().unwrap_or_default()
    }

    /// What a task executed. The copies and fills whose length only the task's accesses say are
    /// taken to be equal.
    pub(super) fn work<'a>(&'a self, task: &Task<'a>, counts: &'a BlockCounts) -> Work<'a> {
        let (mut blocks, mut bytes, mut open) = (0_u64, 0_u64, 0_u64);
        for (block, times) in counts.iter() {
            let moved = self.block(block);
            blocks = blocks.saturating_add(times);
            bytes = bytes.saturating_add(moved.bytes.saturating_mul(times));
            open = open.saturating_add(moved.open.saturating_mul(times));
        }
        // Counts that are estimated by a sample of the code say how many bytes there are in all.
        let each = blocks as f64 / task.block_count().max(1) as f64;
        let accessed = match blocks == task.block_count() {
            true => task.bytes_accessed(),
            false => whole(task.bytes_accessed() as f64 * each),
        };
        let rest = match open {
            0 => 0,
            _ => accessed.saturating_sub(bytes),
        };
        Work {
            moves: self,
            info: task.graph().info(),
            counts,
            each: rest as f64 / open.max(1) as f64,
        }
    }
}

impl Moved {
    fn add(&mut self, op: &MemOp) {
        let known = op.flags & MemOp::CONST_LEN != 0;
        let lanes = u64::from(op.lanes.max(1));
        match op.kind {
            _ if op.has_length() => {
                self.copies |= op.kind == OpKind::Copy;
                let accesses = 1 + u64::from(op.kind == OpKind::Copy);
                if known {
                    self.bytes = self.bytes.saturating_add(op.const_len.saturating_mul(accesses));
                    self.ops = self.ops.saturating_add(op.const_len / BULK);
                } else {
                    self.open += accesses;
                    self.writes += 1;
                }
            }
            OpKind::Rmw => {
                self.atomic = true;
                self.bytes += 2 * u64::from(op.size);
            }
            _ => self.bytes += u64::from(op.size) * lanes,
        }
    }
}

/// The blocks that a task executed, each with the IR instructions that its executions take the time
/// of.
pub(super) struct Work<'a> {
    moves: &'a Moves,
    info: &'a StaticInfo,
    counts: &'a BlockCounts,
    /// Mean length of a copy or fill of unknown length, bytes.
    each: f64,
}

impl Work<'_> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (BlockId, u64)> {
        self.counts.iter().map(|one| self.weight(one))
    }

    /// A block with the IR instructions that so many executions take the time of.
    pub(super) fn weight(&self, (block, times): (BlockId, u64)) -> (BlockId, u64) {
        let own = instructions(self.info, block, times);
        let call = self.moves.block(block).call.saturating_mul(times);
        let own = own.saturating_add(call);
        (block, own.saturating_add(self.bulk(block, times)))
    }

    /// The time of the copies and fills of a block, in instructions.
    fn bulk(&self, block: BlockId, times: u64) -> u64 {
        let moved = self.moves.block(block);
        let open = whole(moved.writes as f64 * times as f64 * self.each / BULK as f64);
        moved.ops.saturating_mul(times).saturating_add(open)
    }

    /// The sum of all blocks.
    pub(super) fn all(&self) -> u64 {
        let weights = self.iter().map(|(_, weight)| weight);
        weights.fold(0, u64::saturating_add)
    }
}

/// What executions of a block take.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    /// Executed IR instructions.
    ops: u64,
    /// Time of the tasks, ns, and the part of it for copies.
    ns: f64,
    copies: f64,
    /// Time of tasks that spend it all at this block, ns.
    spent: f64,
}

impl Taken {
    fn scale(&mut self, by: f64) {
        self.ns *= by;
        self.copies *= by;
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// By block.
    blocks: Vec<Taken>,
    /// The time of all copies and fills, in IR instructions.
    bulk: u64,
    /// Time of tasks of whose code nothing is known, ns.
    left_out: f64,
    /// The time in code that was not recorded, once it was looked for.
    pub(super) unrecorded: Option<Unrecorded>,
    /// The time in which libraries make and hand out tasks.
    pub(super) libraries: Spent,
    /// Executed IR instructions and calls, by function.
    functions: Vec<(u64, u64)>,
}

/// What recorded libraries do that make tasks and hand them out, as Rust's do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfLibraries {
    /// Number of tasks that they made.
    pub(super) tasks: u64,
    /// Executed IR instructions of the libraries themselves, and their time, ns.
    pub(super) ops: u64,
    pub(super) ns: f64,
}

/// The call with which a task of a recorded library begins.
const LIBRARY_TASK: &str = "__contech_library_enter";
/// The recorder's own part of such libraries, and how the files of Rust's library begin.
const OWN_PART: &str = "contech/tasks.rs";
const STD: &str = "/rustc/";

/// The source folder of the library that a block is in. What is inlined there from Rust's library
/// belongs to it.
fn library(info: &StaticInfo, block: &Block) -> Option<String> {
    let mut frames = info.frames(block.function, block.line, block.inlined);
    let inside = |file: &str| file.ends_with(OWN_PART) || file.starts_with(STD);
    let frame = frames.find(|frame| !inside(frame.file))?;
    let at = frame.file.rfind("/src/").filter(|_| is_library(frame.file))?;
    frame.file.get(..at).map(str::to_owned)
}

/// Whether a function of a library makes tasks or hands them out, rather than waits for them.
fn hands_out(callee: &str) -> bool {
    LIBRARIES.iter().any(|start| callee.starts_with(start)) && !callee.contains("wait")
}

/// IR instructions of `times` executions of a block.
fn instructions(info: &StaticInfo, block: BlockId, times: u64) -> u64 {
    info.block(block).map_or(0, |block| ir_ops(block).saturating_mul(times))
}

/// IR instructions of an execution of a block, at least one.
fn ir_ops(block: &Block) -> u64 {
    u64::from(block.ir_ops.max(1))
}

/// The function that a block calls.
pub(super) fn callee(block: &Block) -> &str {
    block.call.as_ref().map_or("", |call| call.callee.as_str())
}

impl Weights {
    /// Adds what a task executed, and its time in proportion to that.
    pub(super) fn add(&mut self, work: &Work<'_>, ns: u64) {
        self.blocks.resize(work.info.blocks.len(), Taken::default());
        let each = ns as f64 / work.all().max(1) as f64;
        for ((block, times), (_, weight)) in work.counts.iter().zip(work.iter()) {
            if let Some(taken) = self.blocks.get_mut(block.index()) {
                taken.ops = taken.ops.saturating_add(instructions(work.info, block, times));
                let bulk = work.bulk(block, times);
                self.bulk = self.bulk.saturating_add(bulk);
                taken.ns += weight as f64 * each;
                if work.moves.block(block).copies {
                    taken.copies += bulk as f64 * each;
                }
            }
        }
    }

    /// Adds the time of a task of whose code nothing is known.
    pub(super) fn leave_out(&mut self, ns: u64) {
        self.left_out += ns as f64;
    }

    /// Adds the time of a task that spends it all at one block.
    pub(super) fn spend(&mut self, block: BlockId, ns: u64) {
        let most = self.blocks.len().max(block.index() + 1);
        self.blocks.resize(most, Taken::default());
        self.blocks[block.index()].spent += ns as f64;
    }

    /// Adds the executions of another shard.
    pub(super) fn merge(&mut self, other: Self) {
        self.bulk = self.bulk.saturating_add(other.bulk);
        self.left_out += other.left_out;
        let most = self.blocks.len().max(other.blocks.len());
        self.blocks.resize(most, Taken::default());
        for (taken, more) in self.blocks.iter_mut().zip(other.blocks) {
            taken.ops = taken.ops.saturating_add(more.ops);
            taken.ns += more.ns;
            taken.copies += more.copies;
            taken.spent += more.spent;
        }
    }

    /// Divides the time of all blocks anew, as it was measured, and adds that of calls which are
    /// known to take it all. Together they take no more than contexts ran, `ran_ns`: others may
    /// have had the processors in between.
    pub(super) fn measured(&mut self, measured: Option<&Measured>, ran_ns: f64) {
        let all = 1.0 + self.left_out / self.ns().max(1.0);
        self.blocks.iter_mut().for_each(|taken| taken.scale(all));
        if let Some(measured) = measured {
            self.divide(measured);
        }
        for taken in &mut self.blocks {
            taken.ns += taken.spent;
        }
        let part = ran_ns / self.ns().max(1.0);
        if part < 1.0 {
            self.blocks.iter_mut().for_each(|taken| taken.scale(part));
        }
    }

    /// The time of all blocks, ns.
    fn ns(&self) -> f64 {
        self.blocks.iter().map(|taken| taken.ns).sum()
    }

    fn divide(&mut self, measured: &Measured) {
        let (mut before, mut after) = (0.0, 0.0);
        for (block, taken) in (0..).map(BlockId::new).zip(&self.blocks) {
            if let Some(time) = measured.time_of(block) {
                (before, after) = (before + taken.ns, after + time);
            }
        }
        if after <= 0.0 {
            return;
        }
        let each = before / after;
        for (block, taken) in (0..).map(BlockId::new).zip(&mut self.blocks) {
            if let Some(time) = measured.time_of(block) {
                let former = std::mem::replace(&mut taken.ns, time * each);
                let faults = measured.faults_of(block);
                taken.copies *= (taken.ns - faults).max(0.0) / former.max(1.0);
            }
        }
    }

    /// The blocks with what they take.
    fn each<'a>(
        &'a self,
        info: &'a StaticInfo,
    ) -> impl Iterator<Item = (BlockId, &'a Block, &'a Taken)> + Clone {
        let both = info.blocks.iter().zip(&self.blocks);
        (0..).map(BlockId::new).zip(both).map(|(id, (block, taken))| (id, block, taken))
    }

    /// Looks for the time in code that was not recorded. The operations of locks, copies, and calls
    /// for memory and of the kernel have times of their own. All of a call that the kernel takes
    /// much of is one of the system, with the way there and back.
    pub(super) fn find_unrecorded(
        &mut self,
        info: &StaticInfo,
        moves: &Moves,
        measured: &mut Measured,
    ) {
        let (mut recorded_ns, mut recorded_ops) = (0.0, 0.0);
        for (_, _, taken) in self.each(info).filter(|(block, ..)| !moves.calls(*block)) {
            recorded_ns += taken.ns;
            recorded_ops += taken.ops as f64;
        }
        let pace: f64 = recorded_ns / f64::max(recorded_ops, 1.0);
        let mut calls: Sums<(Place, String)> = FxHashMap::default();
        let mut libraries: Sums<Place> = FxHashMap::default();
        for (id, block, taken) in self.each(info).filter(|(block, ..)| moves.calls(*block)) {
            let (moved, name) = (moves.block(id), callee(block));
            let hands_out = hands_out(name);
            let Some((place, callee)) = Place::of_call(info, id) else {
                continue;
            };
            if moved.copies || name.is_empty() || has_own_time(name) && !hands_out {
                continue;
            }
            let each = ir_ops(block) as f64;
            let part = each / (each + moved.call as f64);
            let own = f64::min(taken.ops as f64 * pace, taken.ns * part);
            let other = own + measured.faults_of(id);
            let ns = measured.beside_system(id, (taken.ns - other).max(0.0));
            match hands_out {
                true => *libraries.entry(place).or_default() += ns,
                false => *calls.entry((place, callee)).or_default() += ns,
            }
        }
        self.libraries = Spent::at(libraries);
        let ns = whole(calls.values().sum());
        self.unrecorded = largest(calls).map(|(code, callee)| Unrecorded { ns, code, callee });
    }

    /// The time of all copies without the page faults in them.
    pub(super) fn copying(&self, info: &StaticInfo) -> Spent {
        let copies = self.each(info).filter(|(.., taken)| taken.copies > 0.0);
        let mut places = FxHashMap::default();
        add_all(
            &mut places,
            copies.map(|(block, _, taken)| (Place::of_block(info, block), taken.copies)),
        );
        Spent::at(places)
    }

    /// Adds up the blocks of each function.
    pub(super) fn finish(&mut self, info: &StaticInfo) {
        let mut functions = vec![(0_u64, 0); info.functions.len()];
        for (_, block, taken) in self.each(info) {
            let Some(sum) = functions.get_mut(block.function.index()) else {
                continue;
            };
            sum.0 = sum.0.saturating_add(taken.ops);
            if block.flags & Block::ENTRY != 0 {
                sum.1 += taken.ops / ir_ops(block);
            }
        }
        self.functions = functions;
    }

    /// Executed IR instructions of all code, with those that copies and fills take the time of.
    pub(super) fn total(&self) -> u64 {
        let own: u64 = self.functions.iter().map(|sum| sum.0).sum();
        own.saturating_add(self.bulk)
    }

    /// The time of each block, ns.
    pub(super) fn times(&self) -> Vec<f64> {
        self.blocks.iter().map(|taken| taken.ns).collect()
    }

    /// How often each block was executed.
    pub(super) fn executed(&self, info: &StaticInfo) -> Vec<(BlockId, u64)> {
        self.each(info).map(|(id, block, taken)| (id, taken.ops / ir_ops(block))).collect()
    }

    /// What it takes to read and write atomic variables in one step, if an operation of a block
    /// takes `each`.
    pub(super) fn atomics(&self, info: &StaticInfo, each: impl Fn(BlockId) -> f64) -> Spent {
        let mut places = FxHashMap::default();
        for (id, times) in self.executed(info).into_iter().filter(|(_, times)| *times > 0) {
            let own = info.block(id).map_or(0..0, |own| own.first_op..own.first_op + own.op_count);
            let atomic = |op: &OpId| info.op(*op).is_some_and(|op| op.kind == OpKind::Rmw);
            let ops = own.map(OpId::new).filter(atomic);
            add_all(&mut places, ops.map(|op| (Place::of_op(info, op), times as f64 * each(id))));
        }
        Spent::at(places)
    }

    /// How long the blocks took that call such functions, beyond `each` for an instruction, ns.
    pub(super) fn beyond(&self, info: &StaticInfo, prefix: &str, each: f64) -> f64 {
        let calls = self.each(info).filter(|(_, block, _)| callee(block).starts_with(prefix));
        calls.map(|(.., taken)| (taken.ns - taken.ops as f64 * each).max(0.0)).sum()
    }

    /// How often functions were called whose names begin with these letters, and the call that did
    /// so most often.
    pub(super) fn calls(&self, info: &StaticInfo, prefix: &str) -> (u64, Option<Place>) {
        let calls = self.each(info).filter(|(_, block, _)| callee(block).starts_with(prefix));
        let found = calls.map(|(id, block, taken)| (taken.ops / ir_ops(block), id));
        let most = found.clone().filter(|(times, _)| *times > 0).max();
        let most = most.and_then(|(_, id)| Some(Place::of_call(info, id)?.0));
        (found.map(|(times, _)| times).sum(), most)
    }

    /// What recorded libraries do that make tasks. Their code is known by its folder.
    pub(super) fn of_libraries(&self, info: &StaticInfo) -> OfLibraries {
        let (tasks, _) = self.calls(info, LIBRARY_TASK);
        let mut found = OfLibraries { tasks, ..OfLibraries::default() };
        if tasks == 0 {
            return found;
        }
        let begins = info.blocks.iter().filter(|block| callee(block) == LIBRARY_TASK);
        let folders: FxHashSet<String> = begins.filter_map(|block| library(info, block)).collect();
        for (_, block, taken) in self.each(info) {
            if library(info, block).is_some_and(|folder| folders.contains(&folder)) {
                found.ops += taken.ops;
                found.ns += taken.ns;
            }
        }
        found
    }

    /// Average number of IR instructions that a call of a function executes in the function itself.
    pub(super) fn each_call(&self, function: FunctionId) -> u64 {
        let (ops, calls) = self.functions.get(function.index()).copied().unwrap_or_default();
        ops / calls.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_takes_no_more_than_contexts_ran() {
        let weights = |ran_ns| {
            let block = |ns, copies, spent| Taken { ops: 0, ns, copies, spent };
            let blocks = vec![block(30.0, 10.0, 0.0), block(70.0, 0.0, 100.0)];
            let mut weights = Weights { blocks, ..Weights::default() };
            weights.measured(None, ran_ns);
            (weights.times(), weights.blocks[0].copies)
        };
        assert_eq!(weights(300.0), (vec![30.0, 170.0], 10.0));
        // Others had the processors for half of the time.
        assert_eq!(weights(100.0), (vec![15.0, 85.0], 5.0));
    }
}

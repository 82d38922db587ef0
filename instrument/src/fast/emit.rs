//! Inserts the code of the fast form.
//!
//! Leaves are stored at the cursor where their node executes; ids where segments end. The path sum is
//! kept as the address `ids + base + increments` and only where it is no constant. Cursor, path and
//! loop counters are allocas while code is inserted and become SSA registers at the end.

use std::collections::HashMap;

use contech_trace::abi::ID_BYTES;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::values::{
    BasicValue, FunctionValue, InstructionOpcode, InstructionValue, IntValue, PointerValue,
};

use super::Fast;
use super::leaves::Record;
use super::paths::{Out, Sum, To, outermost};
use super::scev::{self, Source};
use crate::carry::Carried;
use crate::emit::Targets;
use crate::ir;

/// `preserve_allcc` of LLVM.
const PRESERVE_ALL: u32 = 15;
/// Bytes of a recorded trip count.
const COUNT_BYTES: u64 = 6;

/// Instruments one function, whose path 0 has the id `ids + first_path`.
pub(crate) fn emit<'m>(
    module: &Module<'m>,
    f: FunctionValue<'m>,
    fast: &Fast<'m>,
    targets: Targets<'m>,
    first_path: u64,
    carried: Carried<'m>,
) -> Result<(), String> {
    let ends = split_edges(fast)?;
    let context = module.get_context();
    let builder = context.create_builder();
    let first = f
        .get_first_basic_block()
        .and_then(|b| b.get_first_instruction())
        .ok_or("a function without instructions")?;
    builder.position_before(&first);
    let ptr = ir::ptr_type(module);
    let cursor = builder.build_alloca(ptr, "contech.cursor").map_err(text)?;
    let path = builder.build_alloca(ptr, "contech.path").map_err(text)?;
    let mut counters = HashMap::new();
    for (l, shape) in fast.shapes.iter().enumerate() {
        // Counts of loops within collapsed ones are always computed.
        if shape.collapsed().is_some_and(|c| c.count.is_none()) {
            let counter = builder.build_alloca(context.i64_type(), "contech.count");
            counters.insert(l, counter.map_err(text)?);
        }
    }
    let mut emitter = Emitter {
        context,
        builder,
        targets,
        fast,
        first_path,
        carried,
        cursor,
        path,
        counters,
        ends,
        checks: Vec::new(),
    };
    emitter.function().map_err(text)?;
    emitter.finish_checks().map_err(text)?;
    let mut allocas = vec![cursor, path];
    allocas.extend(emitter.counters.values());
    if !is_optnone(f) {
        scev::promote(&allocas);
    }
    Ok(())
}

/// Without optimisation a PHI costs a copy through memory on every edge, more than a slot does.
fn is_optnone(f: FunctionValue<'_>) -> bool {
    let kind = Attribute::get_named_enum_kind_id("optnone");
    f.get_enum_attribute(AttributeLoc::Function, kind).is_some()
}

fn text(e: BuilderError) -> String {
    format!("cannot insert recording code: {e}")
}

/// An edge with code on it, by source node and the node it leads to.
type EdgeKey = (usize, usize);

/// Gives every edge that needs code a place: before the returned instruction.
fn split_edges<'m>(fast: &Fast<'m>) -> Result<HashMap<EdgeKey, InstructionValue<'m>>, String> {
    let mut places = HashMap::new();
    for key in busy_edges(fast) {
        let (from, to) = (&fast.graph.nodes[key.0], &fast.graph.nodes[key.1]);
        if places.contains_key(&key) {
            continue;
        }
        let place = if fast.graph.nodes[key.0].successors.len() > 1 {
            scev::split_edge(from.bb, to.bb)
                .and_then(|b| b.get_terminator())
                .ok_or("cannot put a block on an edge")?
        } else {
            from.last
        };
        places.insert(key, place);
    }
    Ok(places)
}

fn busy_edges(fast: &Fast<'_>) -> Vec<EdgeKey> {
    let mut busy = Vec::new();
    for (n, edges) in fast.paths.edges.iter().enumerate() {
        for e in edges {
            if let Some(to) = fast.real_target(n, e)
                && fast.edge_has_code(n, e)
            {
                busy.push((e.from, to));
            }
        }
    }
    for (l, shape) in fast.shapes.iter().enumerate() {
        if let Some(c) = shape.collapsed()
            && c.count.is_none()
        {
            busy.push((c.latch, fast.graph.headers[l]));
        }
    }
    busy
}

impl Fast<'_> {
    /// Node that the edge really leads to, `None` for those that end without one.
    fn real_target(&self, node: usize, e: &Out) -> Option<usize> {
        match e.to {
            To::Node(t) | To::Cut(t) | To::Leave(t) => Some(t),
            To::LoopCut(_) => Some(node),
            To::End => None,
        }
    }

    fn edge_has_code(&self, node: usize, e: &Out) -> bool {
        let counted = self.recorded_loop_at(node).is_some();
        match e.to {
            To::Cut(_) | To::Leave(_) => true,
            To::Node(t) => {
                counted
                    || self.paths.sums[t] == Sum::Varies
                        && (e.increment != 0 || self.paths.sums[node] != Sum::Varies)
            }
            To::End | To::LoopCut(_) => false,
        }
    }

    /// The outermost collapsed loop of which the node is the header, if its count is recorded.
    fn recorded_loop_at(&self, node: usize) -> Option<usize> {
        let l = self.graph.header_of[node]?;
        let c = self.shapes[l].collapsed()?;
        c.count.is_none().then_some(l)
    }
}

/// Most leaves that are stored together: they stay in registers until the last is known.
const GROUP: usize = 4;

/// Where leaves are stored that have values at these places, in order: a few together where the program
/// stores in between, for a processor writes neighbours in one go that it would write one by one between
/// other stores.
fn grouped<'m>(places: &[InstructionValue<'m>]) -> Vec<InstructionValue<'m>> {
    let mut grouped = places.to_vec();
    for group in grouped.chunks_mut(GROUP) {
        let (first, last) = (group[0], group[group.len() - 1]);
        let mut between = std::iter::successors(Some(first), |i| i.get_next_instruction())
            .take_while(|i| *i != last);
        if between.any(|i| i.get_opcode() == InstructionOpcode::Store) {
            group.fill(last);
        }
    }
    grouped
}

/// What the slow path of a check does.
enum Slow<'m> {
    Flush,
    /// Writes count and id, flushes, starts counting anew.
    LoopCut {
        counter: PointerValue<'m>,
        increment: u64,
        resume: PointerValue<'m>,
    },
}

struct Emitter<'a, 'm> {
    context: ContextRef<'m>,
    builder: Builder<'m>,
    targets: Targets<'m>,
    fast: &'a Fast<'m>,
    first_path: u64,
    carried: Carried<'m>,
    cursor: PointerValue<'m>,
    path: PointerValue<'m>,
    counters: HashMap<usize, PointerValue<'m>>,
    ends: HashMap<EdgeKey, InstructionValue<'m>>,
    checks: Vec<(IntValue<'m>, Slow<'m>)>,
}

type Built<T = ()> = Result<T, BuilderError>;

impl<'m> Emitter<'_, 'm> {
    fn function(&mut self) -> Built {
        let fast = self.fast;
        let outer = outermost(&fast.graph, &fast.shapes);
        for (n, node) in fast.graph.nodes.iter().enumerate() {
            if node.dead {
                self.pass_on(n)?;
                continue;
            }
            let edges = &fast.paths.edges[n];
            if node.fresh {
                self.builder.position_before(&node.first);
                if !node.jumped {
                    self.reload(n)?;
                }
                self.check()?;
                self.set_path(n, None)?;
            }
            self.records(n, &fast.choice.records[n])?;
            for l in &fast.graph.before[n] {
                if let Some(counter) = self.counters.get(l) {
                    self.builder.position_before(&node.last);
                    self.builder
                        .build_store(*counter, self.context.i64_type().const_zero())?;
                }
            }
            if outer[n].is_some_and(|(l, _)| fast.graph.headers[l] != n) {
                continue;
            }
            for e in edges {
                self.edge(n, e)?;
            }
            if let Some(l) = fast.recorded_loop_at(n) {
                self.back_edge(n, l)?;
            }
        }
        Ok(())
    }

    /// The leaves of a node.
    fn records(&mut self, n: usize, records: &[Record]) -> Built {
        let node = &self.fast.graph.nodes[n];
        let (mut at, mut base) = (0, None);
        // All places before anything is inserted: several leaves may follow one instruction.
        let place = |r: &Record| match r.source.val().instruction() {
            Some(i) if r.order > node.first_order => i.get_next_instruction().unwrap_or(node.last),
            _ => node.first,
        };
        let places: Vec<_> = records.iter().map(place).collect();
        for (r, place) in records.iter().zip(grouped(&places)) {
            self.builder.position_before(&place);
            let base = match base {
                Some(base) => base,
                None => *base.insert(self.load_cursor()?),
            };
            self.leaf(base, at, r)?;
            at += u64::from(r.width);
        }
        if let Some(base) = base {
            let next = self.offset(base, at)?;
            self.builder.build_store(self.cursor, next)?;
        }
        Ok(())
    }

    fn leaf(&self, base: PointerValue<'m>, at: u64, r: &Record) -> Built {
        let builder = &self.builder;
        let ty = match r.width {
            1 => self.context.i8_type(),
            2 => self.context.i16_type(),
            4 => self.context.i32_type(),
            _ => self.context.i64_type(),
        };
        match r.source {
            Source::Value(v) if v.basic().is_pointer_value() => self.put(base, at, v.basic()),
            Source::Value(v) => self.put(base, at, ir::to_u64(builder, v.operand(), ty)),
            Source::Lane(v, i) => self.put(base, at, ir::lane(builder, v.operand(), i)),
            Source::Mask(v) => self.put(base, at, ir::mask_to_u64(builder, v.operand(), ty)),
        }
    }

    /// Code of an edge, or of the end of a segment.
    fn edge(&mut self, n: usize, e: &Out) -> Built {
        let fast = self.fast;
        match e.to {
            To::End => {
                self.builder.position_before(&fast.graph.nodes[n].last);
                self.id(n, e.increment)?;
                if fast.graph.nodes[n].last.get_opcode() == InstructionOpcode::IndirectBr {
                    return Ok(());
                }
                self.sync(n)
            }
            To::Leave(t) => {
                self.builder.position_before(&self.ends[&(e.from, t)]);
                self.count(n)?;
                self.id(n, e.increment)
            }
            To::LoopCut(_) => Ok(()),
            To::Node(t) => {
                if !fast.edge_has_code(n, e) {
                    return Ok(());
                }
                self.builder.position_before(&self.ends[&(e.from, t)]);
                self.count(n)?;
                if fast.paths.sums[t] == Sum::Varies {
                    let path = self.path_plus(n, e.increment)?;
                    self.builder.build_store(self.path, path)?;
                }
                Ok(())
            }
            To::Cut(t) => {
                self.builder.position_before(&self.ends[&(e.from, t)]);
                self.count(n)?;
                self.id(n, e.increment)?;
                if fast.checked.contains(&(n, t)) {
                    self.check()?;
                }
                self.set_path(t, None)
            }
        }
    }

    /// Count of a recorded loop, on the edge that leaves it.
    fn count(&self, n: usize) -> Built {
        let Some(counter) = self
            .fast
            .recorded_loop_at(n)
            .and_then(|l| self.counters.get(&l))
        else {
            return Ok(());
        };
        let count = self
            .builder
            .build_load(self.context.i64_type(), *counter, "")?;
        let base = self.load_cursor()?;
        self.put(base, 0, count)?;
        let next = self.offset(base, COUNT_BYTES)?;
        self.builder.build_store(self.cursor, next)?;
        Ok(())
    }

    /// Back edge of a recorded loop.
    fn back_edge(&mut self, n: usize, l: usize) -> Built {
        let fast = self.fast;
        let (Some(c), Some(counter)) = (fast.shapes[l].collapsed(), self.counters.get(&l)) else {
            return Ok(());
        };
        let counter = *counter;
        self.builder.position_before(&self.ends[&(c.latch, n)]);
        let i64_type = self.context.i64_type();
        let count = self.builder.build_load(i64_type, counter, "")?;
        let one = i64_type.const_int(1, false);
        let next = self
            .builder
            .build_int_add(count.into_int_value(), one, "")?;
        self.builder.build_store(counter, next)?;
        if !c.records {
            return Ok(());
        }
        let cut = fast.paths.edges[n]
            .iter()
            .find(|e| matches!(e.to, To::LoopCut(_)));
        let (Some(cut), Some(base)) = (cut, fast.paths.base(n, Some(l))) else {
            return Ok(());
        };
        let slow = Slow::LoopCut {
            counter,
            increment: u64::from(cut.increment),
            resume: self.path_address(base),
        };
        self.compare(slow)
    }

    /// The address that stands for a path of this function.
    fn path_address(&self, path: u32) -> PointerValue<'m> {
        ir::global_offset(self.targets.ids, self.first_path + u64::from(path))
    }

    fn path_plus(&self, n: usize, increment: u32) -> Built<PointerValue<'m>> {
        match self.fast.paths.sums[n] {
            Sum::Is(k) => Ok(self.path_address(k + increment)),
            _ => {
                let path = self.load(self.path)?;
                self.offset(path, u64::from(increment))
            }
        }
    }

    /// The segment that starts at `n` has its first path.
    fn set_path(&self, n: usize, resumes: Option<usize>) -> Built {
        if self.fast.paths.sums[n] == Sum::Varies
            && let Some(base) = self.fast.paths.base(n, resumes)
        {
            self.builder
                .build_store(self.path, self.path_address(base))?;
        }
        Ok(())
    }

    /// Writes the id of the path that ends here.
    fn id(&self, n: usize, increment: u32) -> Built {
        let path = self.path_plus(n, increment)?;
        let base = self.load_cursor()?;
        self.put(base, 0, path)?;
        let next = self.offset(base, ID_BYTES as u64)?;
        self.builder.build_store(self.cursor, next)?;
        Ok(())
    }

    fn check(&mut self) -> Built {
        self.compare(Slow::Flush)
    }

    /// Compares here; the slow path is added when all code is in place.
    fn compare(&mut self, slow: Slow<'m>) -> Built {
        let cursor = self.load_cursor()?;
        let limit = ir::global_offset(self.targets.tls, self.targets.limit);
        let limit = self.load(limit)?;
        let full = self
            .builder
            .build_int_compare(IntPredicate::UGE, cursor, limit, "")?;
        self.checks.push((full, slow));
        Ok(())
    }

    fn finish_checks(&mut self) -> Built {
        for (condition, slow) in std::mem::take(&mut self.checks) {
            let end = ir::split_unlikely(condition);
            self.builder.position_before(&end);
            let mut cursor = self.load_cursor()?;
            if let Slow::LoopCut {
                counter, increment, ..
            } = slow
            {
                let i64_type = self.context.i64_type();
                let count = self.builder.build_load(i64_type, counter, "")?;
                self.put(cursor, 0, count)?;
                let path = self.load(self.path)?;
                let id = self.offset(path, increment)?;
                self.put(cursor, COUNT_BYTES, id)?;
                cursor = self.offset(cursor, COUNT_BYTES + ID_BYTES as u64)?;
            }
            let call = self
                .builder
                .build_direct_call(self.targets.flush, &[cursor.into()], "")?;
            call.set_call_convention(PRESERVE_ALL);
            let next = call
                .try_as_basic_value()
                .expect_basic("flush returns the cursor");
            self.builder.build_store(self.cursor, next)?;
            if let Slow::LoopCut {
                counter, resume, ..
            } = slow
            {
                self.builder
                    .build_store(counter, self.context.i64_type().const_zero())?;
                self.builder.build_store(self.path, resume)?;
            }
        }
        Ok(())
    }

    /// After a call that is followed by a return: the cursor goes where the caller looks for it.
    fn pass_on(&self, n: usize) -> Built {
        let node = &self.fast.graph.nodes[n];
        let returns = node.last.get_opcode() == InstructionOpcode::Return;
        if returns && (node.carried || self.carried.argument.is_some()) {
            self.builder.position_before(&node.first);
            self.reload(n)?;
            self.sync(n)?;
        }
        Ok(())
    }

    /// Cursor from where it is at a fresh start.
    fn reload(&self, n: usize) -> Built {
        let from = match &self.fast.graph.nodes[n] {
            node if node.carried => self.carried.slot,
            _ if n == 0 => self.carried.argument,
            _ => None,
        };
        let value = self.load(from.unwrap_or_else(|| self.thread_local()))?;
        self.builder.build_store(self.cursor, value)?;
        Ok(())
    }

    /// Cursor to where it is looked for after the end of a segment.
    fn sync(&self, n: usize) -> Built {
        let node = &self.fast.graph.nodes[n];
        let to = match node.last.get_opcode() {
            _ if node.carries => self.carried.slot,
            InstructionOpcode::Return => self.carried.argument,
            _ => None,
        };
        let value = self.load_cursor()?;
        let slot = to.unwrap_or_else(|| self.thread_local());
        self.builder.build_store(slot, value)?;
        Ok(())
    }

    fn thread_local(&self) -> PointerValue<'m> {
        ir::global_offset(self.targets.tls, self.targets.cursor)
    }

    fn load_cursor(&self) -> Built<PointerValue<'m>> {
        self.load(self.cursor)
    }

    fn load(&self, from: PointerValue<'m>) -> Built<PointerValue<'m>> {
        let ptr = from.get_type();
        Ok(self.builder.build_load(ptr, from, "")?.into_pointer_value())
    }

    /// Unaligned store at `base + at`.
    fn put(&self, base: PointerValue<'m>, at: u64, value: impl BasicValue<'m>) -> Built {
        let to = self.offset(base, at)?;
        let store = self.builder.build_store(to, value)?;
        store
            .set_alignment(1)
            .expect("a store has an alignment, and 1 is one");
        Ok(())
    }

    fn offset(&self, base: PointerValue<'m>, bytes: u64) -> Built<PointerValue<'m>> {
        ir::offset(&self.builder, base, bytes)
    }
}

//! Inserts the code of the fast form.
//!
//! Leaves are stored at the cursor where their node executes, and ids where segments end. The path
//! sum is kept as the address `ids + base + increments`, and only where it is not a constant.
//! Cursor, path and loop counters are allocas while code is inserted and become SSA registers at
//! the end.

use std::collections::{BTreeMap, HashMap};

use contech_trace::abi::ID_BYTES;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, IntValue, PointerValue};

use self::edges::{EdgeKey, LoopCut, split_edges};
use super::Fast;
use super::leaves::Record;
use super::paths::{Sum, outermost};
use crate::carry::Carried;
use crate::emit::{Built, Targets, Writer, text};
use crate::ir;
use crate::plan::FunctionPlan;

mod edges;

/// Bytes of a recorded trip count.
const COUNT_BYTES: u64 = contech_trace::abi::COUNT_BYTES as u64;

/// Instruments one function, whose path 0 has the id `ids + first_path`.
pub(crate) fn emit<'m>(
    module: &Module<'m>,
    f: FunctionValue<'m>,
    plan: &FunctionPlan<'m>,
    fast: &Fast,
    (targets, first_path): (Targets<'m>, u64),
    carried: Carried<'m>,
) -> Result<(), String> {
    let ends = split_edges(plan, fast)?;
    let writer = Writer::new(module, f, targets)?;
    let (context, builder) = (writer.context, &writer.builder);
    let path = builder.build_alloca(ir::ptr_type(module), "contech.path").map_err(text)?;
    let mut allocas = vec![writer.cursor, path];
    let mut counters = BTreeMap::new();
    for (l, shape) in fast.shapes.iter().enumerate() {
        // Counts of loops within collapsed loops are always computed.
        if shape.as_ref().is_ok_and(|c| c.count.is_none()) {
            let counter = builder.build_alloca(context.i64_type(), "contech.count");
            counters.insert(l, counter.map_err(text)?);
        }
    }
    allocas.extend(counters.values());
    let cuts = Vec::new();
    let mut emitter =
        Emitter { writer, plan, fast, first_path, carried, path, counters, ends, cuts };
    emitter.function().map_err(text)?;
    emitter.writer.finish_checks().map_err(text)?;
    emitter.finish_cuts().map_err(text)?;
    // In a function that is not optimised a PHI costs a copy through memory on every edge, which is
    // more than a slot costs.
    if !ir::has_attribute(f, "optnone") {
        ir::promote(&allocas);
    }
    Ok(())
}

struct Emitter<'a, 'm> {
    writer: Writer<'m>,
    plan: &'a FunctionPlan<'m>,
    fast: &'a Fast,
    first_path: u64,
    carried: Carried<'m>,
    path: PointerValue<'m>,
    counters: BTreeMap<usize, PointerValue<'m>>,
    ends: HashMap<EdgeKey, InstructionValue<'m>>,
    cuts: Vec<(IntValue<'m>, LoopCut<'m>)>,
}

/// Most leaves that are stored together: all of them stay in registers until the last is known.
const GROUP: usize = 4;

/// The places where the leaves that become known at `places` are stored, in order. Where the
/// program stores in between, a few leaves are stored together: a processor merges neighbouring
/// stores into one write, but not across other stores.
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

impl<'m> Emitter<'_, 'm> {
    fn function(&mut self) -> Built {
        let fast = self.fast;
        let outer = outermost(&fast.graph, &fast.shapes);
        for (n, node) in fast.graph.nodes.iter().enumerate() {
            if node.dead {
                self.pass_on(n)?;
                continue;
            }
            let (edges, piece) = (&fast.paths.edges[n], &self.plan.pieces[n]);
            self.writer.builder.position_before(&piece.start);
            if let Some(from) = piece.found_in(self.carried) {
                self.writer.reload(piece.start, from)?;
            }
            if fast.checks.before.contains(&n) {
                self.writer.check()?;
            }
            if node.fresh {
                self.set_path(n)?;
            }
            self.records(n, &fast.choice.records[n])?;
            for l in &fast.graph.before[n] {
                if let Some(counter) = self.counters.get(l) {
                    self.writer.builder.position_before(&piece.last);
                    self.writer
                        .builder
                        .build_store(*counter, self.writer.context.i64_type().const_zero())?;
                }
            }
            if outer[n].is_some_and(|(l, _)| fast.graph.loops[l].header != n) {
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

    /// The address that stands for a path of this function.
    fn path_address(&self, path: u32) -> PointerValue<'m> {
        self.writer.id(self.first_path + u64::from(path))
    }

    fn path_plus(&self, n: usize, increment: u32) -> Built<PointerValue<'m>> {
        match self.fast.paths.sums[n] {
            Sum::Is(k) => Ok(self.path_address(k + increment)),
            _ => {
                let path = self.writer.load(self.path)?;
                ir::offset(&self.writer.builder, path, u64::from(increment))
            }
        }
    }

    /// Gives the segment that starts at `n` its first path.
    fn set_path(&self, n: usize) -> Built {
        if self.fast.paths.sums[n] == Sum::Varies
            && let Some(base) = self.fast.paths.base(n, None)
        {
            self.writer.builder.build_store(self.path, self.path_address(base))?;
        }
        Ok(())
    }

    /// Writes the id of the path that ends here.
    fn id(&self, n: usize, increment: u32) -> Built {
        let path = self.path_plus(n, increment)?;
        self.writer.append(path, ID_BYTES as u64)
    }

    /// Handles a return right after a call, where nothing is written: the cursor moves from the
    /// place where the call left it to the place where the caller looks for it.
    fn pass_on(&self, n: usize) -> Built {
        let piece = &self.plan.pieces[n];
        let (found, left) = (piece.found_in(self.carried), piece.left_in(self.carried));
        if found.flatten() != left {
            self.writer.reload(piece.start, found.flatten())?;
            self.writer.sync(piece.start, left)?;
        }
        Ok(())
    }

    /// Stores the leaves of a node.
    fn records(&mut self, n: usize, records: &[Record]) -> Built {
        let piece = &self.plan.pieces[n];
        // All places are found before anything is inserted, because several leaves may follow one
        // instruction.
        let place = |r: &Record| match r.after.and_then(|after| after.instruction()) {
            Some(i) => i.get_next_instruction().unwrap_or(piece.last),
            None => piece.start,
        };
        let places: Vec<_> = records.iter().map(place).collect();
        let values = records.iter().zip(grouped(&places));
        let values = values.map(|(r, place)| (place, r.source, u64::from(r.width)));
        self.writer.values(values)
    }
}

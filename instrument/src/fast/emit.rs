//! Inserts the code of the fast form.
//!
//! Leaves are stored at the cursor where their node executes, and ids where segments end. The path
//! sum is kept as the address `ids + base + increments`, and only where it is not a constant.
//! Cursor, path and loop counters are allocas while code is inserted and become SSA registers at
//! the end.

use std::collections::HashMap;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue, IntValue, PointerValue};

use self::checks::Slow;
use self::edges::{EdgeKey, split_edges};
use super::Fast;
use super::paths::outermost;
use super::scev;
use crate::carry::Carried;
use crate::emit::Targets;
use crate::ir;

mod checks;
mod edges;
mod records;
mod state;

/// Bytes of a recorded trip count.
const COUNT_BYTES: u64 = contech_trace::abi::COUNT_BYTES as u64;

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
        // Counts of loops within collapsed loops are always computed.
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

/// Whether the function is not optimised: then a PHI costs a copy through memory on every edge,
/// which is more than a slot costs.
fn is_optnone(f: FunctionValue<'_>) -> bool {
    let kind = Attribute::get_named_enum_kind_id("optnone");
    f.get_enum_attribute(AttributeLoc::Function, kind).is_some()
}

fn text(e: BuilderError) -> String {
    format!("cannot insert recording code: {e}")
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
                    self.builder.build_store(*counter, self.context.i64_type().const_zero())?;
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
}

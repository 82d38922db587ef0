//! The fast form of a function: path ids and leaf values instead of block ids and addresses.
//! `contech_trace::fast` says what they mean. `scev` asks LLVM, `graph` has the pieces as nodes,
//! `collapse` decides about loops, `leaves` decides what is recorded where, `paths` numbers the
//! segments' paths, `checks` says where room is checked, `emit` inserts the code.
//!
//! The naive form is made of the same parts: each piece is a segment with one path, whose id is the
//! block's, and records its operands.

mod checks;
mod collapse;
pub(crate) mod emit;
mod graph;
mod leaves;
mod paths;
mod scev;

use contech_plain::say;
use contech_program::BlockId;
use contech_program::path::{Leaf, PathLoop, PathNode};
use contech_trace::fast as table;
use contech_trace::fast::FastFunction;
use inkwell::values::FunctionValue;

use self::checks::Checks;
use self::collapse::Shape;
use self::graph::Graph;
pub(crate) use self::leaves::Globals;
use self::leaves::{Choice, MAX_NODE_BYTES, Record};
use self::paths::{Paths, To};
pub(crate) use self::scev::Analysis;
use self::scev::Sym;
use crate::memop::Value;
use crate::plan::{FunctionPlan, Piece};

/// A function with more nodes stays in the naive form, because some steps take quadratic time.
const MAX_NODES: usize = 20_000;

/// Everything decided about one function.
#[derive(Debug)]
pub(crate) struct Fast {
    graph: Graph,
    shapes: Vec<Shape>,
    choice: Choice,
    paths: Paths,
    checks: Checks,
}

/// Asks LLVM about a function. May add blocks around loops.
///
/// # Errors
/// Why the function stays in naive form.
pub(crate) fn open(f: FunctionValue<'_>) -> Result<Analysis<'_>, &'static str> {
    Ok(Analysis::open(f, &graph::calling_blocks(f)?))
}

/// For each operand of a node its expression, and the pointer itself, where it is one.
type Operands = Vec<(Sym, Option<Value>)>;

fn operands<'m>(plan: &FunctionPlan<'m>, analysis: &Analysis<'m>) -> Vec<Operands> {
    let of_piece = |piece: &Piece<'m>| {
        let values = piece.ops.iter().flat_map(|op| op.values.iter().map(move |v| (*v, op.inst)));
        values.map(|(value, at)| operand(analysis, value, at)).collect()
    };
    plan.pieces.iter().map(of_piece).collect()
}

fn operand<'m>(
    analysis: &Analysis<'m>,
    value: Value,
    at: inkwell::values::InstructionValue<'m>,
) -> (Sym, Option<Value>) {
    let whole = Sym::leaf(value, 64);
    let Value::Plain(v) = value else {
        return (whole, None);
    };
    let is_address = v.basic().is_pointer_value() && v.instruction().is_some();
    (analysis.value(v, at).unwrap_or(whole), is_address.then_some(value))
}

impl Fast {
    /// Decides about a function.
    ///
    /// # Errors
    /// Why the function stays in naive form.
    pub(crate) fn of<'m>(
        plan: &FunctionPlan<'m>,
        analysis: &Analysis<'m>,
        globals: &mut Globals<'m>,
    ) -> Result<Self, &'static str> {
        if plan.pieces.len() > MAX_NODES {
            return Err("very many blocks");
        }
        let graph = Graph::build(plan, Some(analysis)).ok_or("control flow not understood")?;
        let operands = operands(plan, analysis);
        let shapes = collapse::shapes(&graph, analysis, &operands);
        let choice = leaves::choose(&graph, analysis, &shapes, &operands, globals);
        let bytes: Vec<usize> =
            choice.records.iter().map(|r| r.iter().map(|r| usize::from(r.width)).sum()).collect();
        if bytes.iter().any(|b| *b > MAX_NODE_BYTES) {
            return Err("a block with very many values to record");
        }
        let paths = paths::number(&graph, &shapes, &bytes).ok_or("too many paths")?;
        let checks = Checks::of_paths(&graph, &paths);
        Ok(Fast { graph, shapes, choice, paths, checks })
    }

    /// The naive form of a function.
    pub(crate) fn naive(plan: &FunctionPlan<'_>) -> Self {
        let graph =
            Graph::build(plan, None).expect("only a loop may have a block that is not here");
        let of_piece = |piece: &Piece<'_>| {
            let ops = piece.ops.iter();
            let values = ops.flat_map(|op| op.values.iter().map(|v| (op.inst, *v)));
            values.map(|(inst, value)| Record::naive(piece, inst, value)).collect()
        };
        let records = plan.pieces.iter().map(of_piece).collect();
        let paths = Paths::naive(plan);
        let checks = Checks::of_pieces(&graph, plan, &paths.own);
        let choice = Choice { records, ..Choice::default() };
        Fast { graph, shapes: Vec::new(), choice, paths, checks }
    }

    pub(crate) fn path_count(&self) -> u32 {
        self.paths.starts.last().map_or(0, |s| s.base + s.paths)
    }

    /// The function's table; `first` is the distance of its first path id from the module's first.
    pub(crate) fn table(&self, plan: &FunctionPlan<'_>, function: u32, first: u32) -> FastFunction {
        let nodes = plan.pieces.iter().enumerate().map(|(n, piece)| self.node(n, piece));
        let starts = self.paths.starts.iter();
        let starts = starts.map(|s| table::Start { base: first + s.base, ..*s });
        let loops = (0..self.shapes.len()).map(|l| self.loop_entry(l)).collect();
        FastFunction::new(function, self.choice.slots, nodes, loops, starts.collect())
    }

    fn node(&self, n: usize, piece: &Piece<'_>) -> (PathNode, Vec<table::Edge>) {
        let leaves = self.choice.records[n].iter().map(|r| Leaf { slot: r.slot, width: r.width });
        let edges = self.paths.edges[n].iter().map(|e| table::Edge {
            target: match e.to {
                To::Node(t) => table::Target::Node(index(t)),
                To::Cut(t) => table::Target::Cut(index(t)),
                To::End | To::Leave(_) => table::Target::End,
                To::LoopCut(l) => table::Target::LoopCut(index(l)),
            },
            increment: e.increment,
            step: e.step,
        });
        let node = PathNode {
            block: (!piece.silent).then(|| BlockId::new(piece.id)),
            leaves: leaves.collect(),
            operands: self.choice.operands[n].clone(),
        };
        (node, edges.collect())
    }

    fn loop_entry(&self, l: usize) -> PathLoop {
        let Ok(c) = &self.shapes[l] else {
            return PathLoop::Plain;
        };
        PathLoop::Collapsed {
            body: c.body.iter().map(|n| index(*n)).collect(),
            last: index(c.last),
            count: self.choice.counts[l].clone(),
        }
    }

    /// Prints one line for `--contech-explain`, and one per loop. `naive` says why the form is the
    /// naive one.
    pub(crate) fn explain(&self, name: &str, plan: &FunctionPlan<'_>, naive: Option<&str>) {
        let leaves: usize = self.choice.records.iter().map(Vec::len).sum();
        if let Some(why) = naive {
            let written = plan.pieces.iter().filter(|p| !p.silent);
            let (blocks, ops) = written.fold((0, 0), |(n, ops), p| (n + 1, ops + p.ops.len()));
            let (bytes, checks) = (self.paths.own.iter().sum::<usize>(), self.checks.count());
            say!(
                "contech: {name}: naive form ({why}): {blocks} blocks, {ops} memory operations, {bytes} bytes if each block runs once, {checks} room checks"
            );
        } else {
            say!(
                "contech: {name}: fast form: {} nodes, {} segment starts, {} paths, {leaves} leaves",
                self.graph.nodes.len(),
                self.paths.starts.len(),
                self.path_count(),
            );
        }
        for (reason, n) in &plan.unrecorded {
            say!("contech: {name}: not recorded: {reason} ({n} x)");
        }
        for (l, shape) in self.shapes.iter().enumerate() {
            let header = &plan.pieces[self.graph.loops[l].header];
            let line = crate::source::line(header.last);
            match shape {
                Err(why) => {
                    say!("contech: {name}: loop at line {line}: by iteration: {why}");
                }
                Ok(c) => {
                    let count = if c.count.is_some() { "computed" } else { "recorded" };
                    let inside = if c.records { "leaves" } else { "nothing" };
                    say!(
                        "contech: {name}: loop at line {line}: collapsed: {inside} per iteration, trip count {count}"
                    );
                }
            }
        }
    }
}

/// The table's indices are 32 bits; `MAX_NODES` keeps every index far below.
fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

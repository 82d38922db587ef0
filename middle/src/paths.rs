//! The path tables of a trace in the form of the graph.

use contech_trace::fast::{Count, Expr as From, FastFunction, Item, Loop, LoopStep, Plan};
use taskgraph::BlockId;
use taskgraph::path::{Expr, Leaf, Path, PathFunction, PathLoop, PathNode, Step};

/// A function of a module whose block 0 is `first_block`, with the addresses of globals put in.
pub(crate) fn function(f: &FastFunction, first_block: u32, globals: &[u64]) -> PathFunction {
    let node = |n: &contech_trace::fast::Node| PathNode {
        block: n.block.map(|b| BlockId::new(first_block.saturating_add(b))),
        leaves: n
            .leaves
            .iter()
            .map(|l| Leaf {
                slot: l.slot,
                width: l.width,
            })
            .collect(),
        operands: n.operands.iter().map(|e| expr(e, globals)).collect(),
    };
    let of_loop = |l: &Loop| match l {
        Loop::Plain => PathLoop::Plain,
        Loop::Collapsed {
            body, last, count, ..
        } => PathLoop::Collapsed {
            body: body.clone(),
            last: *last,
            count: match count {
                Count::Computed(e) => Some(expr(e, globals)),
                Count::Recorded => None,
            },
        },
    };
    PathFunction {
        slots: f.slots,
        nodes: f.nodes.iter().map(node).collect(),
        loops: f.loops.iter().map(of_loop).collect(),
    }
}

/// A path of the function with this dense index.
pub(crate) fn path(function: u32, plan: &Plan) -> Path {
    let step = |item: &Item| match *item {
        Item::Node(n) => Some(Step::Node(n)),
        Item::Loop {
            index,
            cut,
            resumed,
        } => Some(Step::Loop {
            index,
            cut,
            resumed,
        }),
        Item::Step(LoopStep::Enter(l)) => Some(Step::Enter(l)),
        Item::Step(LoopStep::Next(l)) => Some(Step::Next(l)),
        Item::Step(LoopStep::None) => None,
    };
    Path {
        function,
        fresh: plan.fresh,
        steps: plan.items.iter().filter_map(step).collect(),
    }
}

fn expr(e: &From, globals: &[u64]) -> Expr {
    let boxed = |e: &From| Box::new(expr(e, globals));
    match e {
        From::Const(c) => Expr::Const(*c),
        From::Slot(i) => Expr::Slot(*i),
        From::Iter(i) => Expr::Iter(*i),
        From::Global(i) => Expr::Const(globals.get(*i as usize).copied().unwrap_or(0)),
        From::Add(terms) => Expr::Add(terms.iter().map(|t| expr(t, globals)).collect()),
        From::Mul(a, b) => Expr::Mul(boxed(a), boxed(b)),
        From::Zext(bits, a) => Expr::Zext(*bits, boxed(a)),
        From::Sext(bits, a) => Expr::Sext(*bits, boxed(a)),
        From::Udiv(bits, a, b) => Expr::Udiv(*bits, boxed(a), boxed(b)),
    }
}

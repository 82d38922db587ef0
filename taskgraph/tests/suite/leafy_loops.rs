//! Random loops whose iterations store leaves: batches give the accesses that each execution gives
//! by itself.

use crate::recorder::{Recorder, info_of};
use proptest::prelude::*;
use taskgraph::path::{Expr, Leaf, Path, PathFunction, PathLoop, PathNode, Step};
use taskgraph::{Access, BlockId, MemOp, TaskId};

const WIDTHS: [u8; 3] = [1, 4, 6];

/// A node of a body: its leaf (which slot and width), and the terms of its address.
type Node = (Option<(u32, usize)>, Vec<(u32, u8, u64)>);

#[derive(Clone, Debug)]
struct Shape {
    nodes: Vec<Node>,
    last: usize,
    /// The trip count of each execution, whether it is cut and resumed, and a seed of its leaves.
    runs: Vec<(u64, bool, u64)>,
}

fn shape() -> impl Strategy<Value = Shape> {
    let term = (0..5u32, 0..5u8, 1..50u64);
    let node = (prop::option::of((1..4u32, 0..WIDTHS.len())), prop::collection::vec(term, 1..4));
    // Some runs fill several batches, of which none may have room for a last iteration.
    let trips = prop_oneof![30 => 0..40u64, 1 => 2000..9000u64];
    let runs = prop::collection::vec((trips, any::<bool>(), any::<u64>()), 1..12);
    (prop::collection::vec(node, 1..8), 0..8usize, runs).prop_map(|(nodes, last, runs)| Shape {
        last: last % nodes.len() + 1,
        nodes,
        runs,
    })
}

/// A term of an address: a slot or the iteration number, plain or with low bits extended.
fn term(&(which, kind, factor): &(u32, u8, u64)) -> Expr {
    let of = match which {
        4 => Expr::Iter(0),
        slot => Expr::Slot(slot),
    };
    let more = Expr::Add(vec![of.clone(), Expr::Const(factor)]);
    let extended = match kind {
        0 => Expr::Sext(8, Box::new(of)),
        1 => Expr::Zext(16, Box::new(more)),
        2 => Expr::Sext(32, Box::new(more)),
        _ => of,
    };
    Expr::Mul(Box::new(Expr::Const(factor)), Box::new(extended))
}

fn function(shape: &Shape) -> PathFunction {
    let leaf = |(slot, width): (u32, usize)| Leaf { slot, width: WIDTHS[width] };
    let body = |(leaf_of, terms): &Node| PathNode {
        block: Some(BlockId::new(0)),
        leaves: leaf_of.map(leaf).into_iter().collect(),
        operands: vec![Expr::Add(terms.iter().map(term).collect())],
    };
    let entry = PathNode {
        block: Some(BlockId::new(0)),
        leaves: (0..4).map(|slot| leaf((slot, 2))).collect(),
        operands: vec![Expr::Slot(0)],
    };
    PathFunction {
        slots: 4,
        nodes: std::iter::once(entry).chain(shape.nodes.iter().map(body)).collect(),
        loops: vec![PathLoop::Collapsed {
            body: (1..=u32::try_from(shape.nodes.len()).unwrap()).collect(),
            last: u32::try_from(shape.last).unwrap(),
            count: None,
        }],
    }
}

/// Path 0 is the entry and the loop, path 1 the same but cut; path 2 goes on after it.
fn path(number: u32) -> Option<Path> {
    let own = Step::Loop { index: 0, cut: number == 1, resumed: number == 2 };
    let fresh = number < 2;
    let entry = fresh.then_some(Step::Node(0));
    // After the loop, its first node shows what the loop has left.
    let steps = entry.into_iter().chain([own, Step::Node(0)]);
    let steps = steps.take(if number == 1 { 2 } else { 3 }).collect();
    (number < 3).then_some(Path { function: 0, fresh, steps })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn batches_and_single_accesses_are_those_of_each_execution(shape in shape()) {
        let info = info_of(&[1], vec![MemOp::load(8)]);
        let mut r = Recorder::new(&info, &function(&shape), 3);
        for &(count, cut, seed) in &shape.runs {
            let mut x = seed | 1;
            let mut value = |width: usize| {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (x >> 16).to_le_bytes()[..usize::from(WIDTHS[width])].to_vec()
            };
            let mut iterations = |bytes: &mut Vec<u8>, n: u64, last: usize| {
                for i in 0..=n {
                    let nodes = if i == n { last } else { shape.nodes.len() };
                    for (leaf, _) in &shape.nodes[..nodes] {
                        bytes.extend(leaf.map(|(_, width)| value(width)).unwrap_or_default());
                    }
                }
                bytes.extend([0xee; 6]);
            };
            let mut bytes: Vec<u8> = (0..24).collect();
            let last = if cut { 0 } else { shape.last };
            iterations(&mut bytes, count, last);
            let exit = [0x40; 24];
            if !cut {
                bytes.extend(exit);
            }
            prop_assert!(r.segment((u32::from(cut), path(u32::from(cut))), &bytes, &[count]));
            if cut {
                let mut bytes = Vec::new();
                iterations(&mut bytes, count / 2, shape.last);
                bytes.extend(exit);
                prop_assert!(r.segment((2, path(2)), &bytes, &[count / 2]));
            }
        }
        let graph = r.graph(Vec::new());
        let task = graph.task(TaskId::default()).unwrap();
        let mut all: Vec<Access> = Vec::new();
        task.for_each_access(|access| all.push(access)).unwrap();
        let mut single: Vec<Access> = Vec::new();
        task.for_each_block(|block| single.extend(block.accesses())).unwrap();
        prop_assert_eq!(single, all);
    }
}

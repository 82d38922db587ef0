//! Functions stored as paths: reading gives what their blocks would have given.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::recorder::{Recorder, info_of};
use taskgraph::path::{Expr, Leaf, Path, PathFunction, PathLoop, PathNode, PathTable, Step};
use taskgraph::{
    Access, BlockCounts, BlockExec, BlockId, MemOp, Piece, Reader, StaticInfo, TaskGraph, TaskId,
};

fn times(l: u32, k: u64) -> Expr {
    Expr::Mul(Box::new(Expr::Const(k)), Box::new(Expr::Iter(l)))
}

fn sum(terms: &[Expr]) -> Expr {
    Expr::Add(terms.to_vec())
}

fn node(block: u32, leaves: &[(u32, u8)], operands: Vec<Expr>) -> PathNode {
    let leaf = |&(slot, width): &(u32, u8)| Leaf { slot, width };
    PathNode {
        block: Some(BlockId::new(block)),
        leaves: leaves.iter().map(leaf).collect(),
        operands,
    }
}

fn collapsed(body: &[u32], count: Option<Expr>) -> PathLoop {
    PathLoop::Collapsed { body: body.to_vec(), last: u32::try_from(body.len()).unwrap(), count }
}

/// Slot 0 is an address, slot 1 a number, slot 2 an index. Loop 0 is plain, loop 1 has loop 3 as
/// inner loop, loop 2 has an index as leaf and a recorded count, loop 3 is affine, and loop 4 leaves
/// after the first of its two nodes, each of which has a leaf.
fn function() -> PathFunction {
    let both = || sum(&[Expr::Slot(0), Expr::Slot(2)]);
    let signed = Expr::Sext(8, Box::new(Expr::Slot(2)));
    PathFunction {
        slots: 3,
        nodes: vec![
            node(0, &[(0, 6), (1, 4)], vec![]),
            node(1, &[], vec![sum(&[Expr::Slot(0), times(3, 8), times(1, 100)])]),
            node(2, &[(2, 1)], vec![both()]),
            node(3, &[], vec![]),
            node(2, &[(2, 2)], vec![sum(&[both(), times(4, 1 << 20)])]),
            node(1, &[(1, 4)], vec![sum(&[Expr::Slot(0), Expr::Slot(1)])]),
            node(1, &[], vec![sum(&[Expr::Slot(0), signed, times(0, 3)])]),
        ],
        loops: vec![
            PathLoop::Plain,
            collapsed(&[3, 1], Some(Expr::Const(2))),
            collapsed(&[2], None),
            collapsed(&[1], Some(Expr::Slot(1))),
            PathLoop::Collapsed { body: vec![4, 5], last: 1, count: None },
        ],
    }
}

fn info() -> Arc<StaticInfo> {
    info_of(&[0, 1, 1, 0], vec![MemOp::load(8), MemOp::store(4)])
}

fn path(number: u32) -> Option<Path> {
    let cut = |index, cut, resumed| Step::Loop { index, cut, resumed };
    let (fresh, steps) = match number {
        // Entry, affine loop, exit.
        0 => (true, vec![Step::Node(0), cut(3, false, false), Step::Node(3)]),
        // Entry, and the loop with leaves, cut when the buffer was full; then the rest.
        1 => (true, vec![Step::Node(0), cut(2, true, false)]),
        2 => (false, vec![cut(2, false, true), Step::Node(3)]),
        // Entry, and the nest.
        3 => (true, vec![Step::Node(0), cut(1, false, false)]),
        // A plain loop, one iteration each.
        4 => (true, vec![Step::Node(0), Step::Enter(0), Step::Node(1)]),
        5 => (false, vec![Step::Next(0), Step::Node(1), Step::Node(2), Step::Node(6)]),
        // The loop that leaves in its middle; the same, cut and resumed.
        7 => (true, vec![Step::Node(0), cut(4, false, false), Step::Node(5)]),
        8 => (true, vec![Step::Node(0), cut(4, true, false)]),
        9 => (false, vec![cut(4, false, true), Step::Node(2)]),
        _ => return None,
    };
    Some(Path { function: 0, fresh, steps })
}

fn segment(r: &mut Recorder, number: u32, bytes: &[u8], counts: &[u64]) -> bool {
    r.segment((number, path(number)), bytes, counts)
}

fn entry(address: u64, n: u32) -> Vec<u8> {
    [&address.to_le_bytes()[..6], &n.to_le_bytes()].concat()
}

/// The accessed addresses, after comparing the ways to read them.
fn addresses(graph: &TaskGraph<Vec<u8>>) -> Vec<u64> {
    let task = graph.task(TaskId::default()).unwrap();
    let mut all: Vec<Access> = Vec::new();
    task.for_each_access(|a| all.push(a)).unwrap();
    let mut lent = Vec::new();
    task.for_each_block(|block| lent.extend(block.accesses())).unwrap();
    assert_eq!(lent, all);
    assert_eq!(all.len() as u64, task.access_count());
    all.iter().map(|a| a.addr).collect()
}

#[test]
fn an_affine_loop_is_one_run_and_reads_as_its_iterations() {
    let info = info();
    let mut r = Recorder::new(&info, &function(), 10);
    assert!(segment(&mut r, 0, &entry(0x7000, 99), &[]));
    assert_eq!(r.encoder.record_count(), 1);
    let graph = r.graph(Vec::new());
    let expected: Vec<u64> = (0..100).map(|i| 0x7000 + 8 * i).collect();
    assert_eq!(addresses(&graph), expected);
    let task = graph.task(TaskId::default()).unwrap();
    assert_eq!((task.block_count(), task.read_count()), (102, 100));
    let (mut runs, mut strided) = (0, Vec::new());
    task.for_each_batch(|batch| {
        for piece in batch.pieces() {
            if let Piece::Run(run) = piece {
                runs += run.iterations();
                assert!(run.for_each_strided(|s| strided.push((s.access.addr, s.stride))));
            }
        }
    })
    .unwrap();
    assert_eq!((runs, strided), (100, vec![(0x7000, 8)]));
}

#[test]
fn a_loop_with_leaves_goes_on_after_a_cut_also_in_another_frame() {
    let info = info();
    for cut_frame in [false, true] {
        let mut r = Recorder::new(&info, &function(), 10);
        let mut frames = Vec::new();
        let first = [entry(0x1000, 0), vec![1, 2, 3], vec![0; 6]].concat();
        assert!(segment(&mut r, 1, &first, &[3]));
        if cut_frame {
            frames.extend(r.encoder.finish());
        }
        // Two more times back, then the last iteration.
        assert!(segment(&mut r, 2, &[[4, 5, 255].to_vec(), vec![0; 6]].concat(), &[2]));
        let graph = r.graph(frames);
        assert_eq!(addresses(&graph), [1, 2, 3, 4, 5, 255].map(|i| 0x1000 + i), "{cut_frame}");
    }
}

#[test]
fn executions_of_loops_whose_addresses_are_masked_are_counted_as_one() {
    let info = info();
    let mut f = function();
    f.nodes[1].operands = vec![Expr::Zext(16, Box::new(f.nodes[1].operands[0].clone()))];
    let mut r = Recorder::new(&info, &f, 10);
    assert!(segment(&mut r, 3, &entry(0xfff0, 1000), &[]));
    let graph = r.graph(Vec::new());
    let expected: Vec<u64> = (0..3)
        .flat_map(|outer| (0..=1000).map(move |i| (0xfff0 + 100 * outer + 8 * i) & 0xffff))
        .collect();
    assert_eq!(addresses(&graph), expected);
    let task = graph.task(TaskId::default()).unwrap();
    let (mut counts, mut pieces) = (BlockCounts::new(), 0);
    let mut reader = Reader::new(&graph, 1).without_accesses();
    reader.open(&task);
    while let Some(batch) = reader.next().unwrap() {
        pieces += batch.pieces().count();
        batch.pieces().for_each(|piece| counts.add_piece(&piece));
    }
    // For each of the three iterations of the outer loop, its own block and the inner loop.
    assert!(pieces <= 7, "{pieces}");
    let mut one_by_one = BTreeMap::new();
    let count = |block: &BlockExec<'_>| *one_by_one.entry(block.id()).or_insert(0) += 1;
    task.for_each_block(count).unwrap();
    assert_eq!(counts.iter().collect::<BTreeMap<_, _>>(), one_by_one);
}

#[test]
fn what_is_carried_from_path_to_path_is_the_same_in_batches() {
    let info = info();
    let mut r = Recorder::new(&info, &function(), 10);
    let (mut frames, mut expected) = (Vec::new(), Vec::new());
    let mut x = 1u64;
    let mut random = |n: u64| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (x >> 40) % n
    };
    for _ in 0..4_000 {
        let base = 0x10_0000 + (random(1 << 20) << 4);
        match random(4) {
            0 => {
                assert!(segment(&mut r, 0, &entry(base, 30), &[]));
                expected.extend((0..=30).map(|i| base + 8 * i));
            }
            1 => {
                r.encoder.block(BlockId::new(2), &[base]);
                expected.push(base);
            }
            _ => {
                assert!(segment(&mut r, 4, &entry(base, 0), &[]));
                expected.push(base);
                for i in 1..=random(6) {
                    let leaf = random(256);
                    assert!(segment(&mut r, 5, &[u8::try_from(leaf).unwrap()], &[]));
                    let signed = leaf.wrapping_sub(if leaf > 127 { 256 } else { 0 });
                    expected.extend([base, base + leaf, base.wrapping_add(signed) + 3 * i]);
                    if random(500) == 0 {
                        frames.extend(r.encoder.finish());
                    }
                }
            }
        }
    }
    assert!(frames.len() > 1);
    assert_eq!(addresses(&r.graph(frames)), expected);
}

#[test]
fn a_loop_of_more_iterations_than_bytes_is_refused_and_leaves_nothing() {
    let info = info();
    let mut r = Recorder::new(&info, &function(), 10);
    assert!(segment(&mut r, 0, &entry(0x1000, 4), &[]));
    for n in [1 << 20, u64::MAX] {
        assert!(!segment(&mut r, 7, &entry(0x2000, 4), &[n]));
    }
    assert_eq!(r.encoder.record_count(), 1);
    let graph = r.graph(Vec::new());
    let expected: Vec<u64> = (0..5).map(|i| 0x1000 + 8 * i).collect();
    assert_eq!(addresses(&graph), expected);
}

#[test]
fn a_path_that_is_not_known_or_does_not_fit_is_refused() {
    let info = info();
    let mut r = Recorder::new(&info, &function(), 10);
    assert!(
        !segment(&mut r, 6, &[], &[])
            && !segment(&mut r, 10, &[], &[])
            && !segment(&mut r, u32::MAX, &[], &[])
    );
    assert!(!segment(&mut r, 5, &[1], &[]));
    assert!(r.encoder.finish().is_none());
}

#[test]
fn a_function_out_of_range_is_refused() {
    let info = info();
    let faults: [fn(&mut PathFunction); 6] = [
        |f| f.nodes[0].block = Some(BlockId::new(4)),
        |f| f.nodes[1].operands.clear(),
        |f| f.nodes[0].leaves[0].slot = 3,
        |f| f.nodes[0].leaves[0].width = 3,
        |f| f.loops[2] = collapsed(&[9], None),
        |f| f.loops[2] = collapsed(&[], None),
    ];
    for (i, fault) in faults.into_iter().enumerate() {
        let mut f = function();
        assert!(PathTable::new(&info, vec![f.clone().into()], 1).is_ok());
        fault(&mut f);
        assert!(PathTable::new(&info, vec![f.into()], 1).is_err(), "fault {i}");
    }
}

//! Random programs of loops within loops: every way to read a task gives the same actions.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::recorder::{Recorder, graph_of, info_of, record};
use proptest::prelude::*;
use taskgraph::path::{Expr, Leaf, Path, PathFunction, PathLoop, PathNode, Step};
use taskgraph::{
    Access, Action, AllocKind, Batch, BlockCounts, BlockId, Counts, FrameSpan, MemOp, OpKind,
    Piece, Reader, TaskGraph, TaskId,
};

const BLOCKS: u32 = 8;
const LOOPS: u32 = 3;

/// A loop: the nodes of its body after its own first node, the nodes of the last iteration, and the
/// kind of its trip count.
type Loop = (Vec<u32>, u32, u32);

/// A random program: its loops, and the executed paths with the leaves of each path's entry.
#[derive(Clone, Debug)]
struct Shape {
    loops: Vec<Loop>,
    paths: Vec<(u32, bool)>,
    runs: Vec<(u32, u8, u8)>,
    /// How often all of that comes.
    times: u8,
    /// By block and loop, as bits: whether the block's address changes with the loop.
    moves: u32,
}

fn shape() -> impl Strategy<Value = Shape> {
    let one = (prop::collection::vec(0..BLOCKS + LOOPS, 0..3), 1..4u32, 0..5u32);
    (
        prop::collection::vec(one, LOOPS as usize),
        prop::collection::vec((0..LOOPS, any::<bool>()), 1..5),
        prop::collection::vec((0..5u32, 0..9u8, 0..6u8), 1..12),
        prop_oneof![4 => 1..20u8, 1 => 200..=255u8],
        prop_oneof![Just(u32::MAX), any::<u32>()],
    )
        .prop_map(|(loops, paths, runs, times, moves)| Shape {
            loops,
            paths,
            runs,
            times,
            moves,
        })
}

/// Blocks 0 to 7, of which the odd ones have an access. Nodes 0 to 7 are these blocks, and node 8 +
/// n is the first of loop n. The last node is the entry, whose two leaves are an address and a
/// number.
fn function(shape: &Shape) -> PathFunction {
    let five = || Box::new(Expr::Const(5));
    let operand = |n: u32| {
        let iterations = (0..LOOPS).map(|l| {
            let moves = shape.moves >> (LOOPS * n + l) & 1;
            let factor = Box::new(Expr::Const(u64::from(moves * (8 * l + n))));
            let number = match shape.moves >> 30 {
                0 if l == 0 => Expr::Zext(2, Box::new(Expr::Iter(l))),
                // It does not come again soon.
                1 => Expr::Zext(6, Box::new(Expr::Mul(five(), Box::new(Expr::Iter(l))))),
                _ => Expr::Iter(l),
            };
            Expr::Mul(factor, Box::new(number))
        });
        Expr::Add([Expr::Slot(0)].into_iter().chain(iterations).collect())
    };
    let node = |block: u32| PathNode {
        block: Some(BlockId::new(block)),
        leaves: vec![],
        operands: (block % 2 == 1).then(|| operand(block)).into_iter().collect(),
    };
    let mut nodes: Vec<PathNode> = (0..BLOCKS).map(node).collect();
    nodes.extend((0..LOOPS).map(|l| node(2 * l % BLOCKS)));
    nodes.push(PathNode {
        leaves: vec![Leaf { slot: 0, width: 6 }, Leaf { slot: 1, width: 1 }],
        ..node(0)
    });
    // A cut before the first iteration leaves a number that would be a trip count of its own.
    let low = |l| Expr::Zext(2, Box::new(Expr::Iter(l)));
    let one = |(l, (body, last, kind)): (u32, &Loop)| {
        // Inner loops come after outer ones.
        let inside = |n: &&u32| **n < BLOCKS || **n - BLOCKS > l;
        let mut nodes = vec![BLOCKS + l];
        nodes.extend(body.iter().filter(inside));
        let last = (*last).min(u32::try_from(nodes.len()).unwrap());
        let count = match kind {
            0 => Expr::Const(3),
            1 => Expr::Slot(1),
            2 => Expr::Const(0),
            // The count is the number of executions of an outer loop, or of the loop itself.
            3 => low(0),
            _ => Expr::Add(vec![Expr::Slot(1), low(l)]),
        };
        PathLoop::Collapsed { body: nodes, last, count: Some(count) }
    };
    PathFunction { slots: 2, nodes, loops: (0..).zip(&shape.loops).map(one).collect() }
}

/// Path 2n is the entry and a loop, and path 2n + 1 goes on with the same loop.
fn path(shape: &Shape, number: u32) -> Option<Path> {
    let &(index, cut) = shape.paths.get(number as usize / 2)?;
    let fresh = number.is_multiple_of(2);
    let own = Step::Loop { index, cut: cut && fresh, resumed: cut && !fresh };
    let mut steps = if fresh { vec![Step::Node(BLOCKS + LOOPS)] } else { vec![] };
    steps.extend([own, Step::Node(1)]);
    // A path without loops goes on, too.
    if number == 9 {
        steps = vec![Step::Next(0), Step::Node(1), Step::Node(2)];
    }
    Some(Path { function: 0, fresh, steps })
}

/// Operations of all kinds with one operand.
fn operation(n: u32) -> MemOp {
    match n % 4 {
        0 => MemOp::load(8),
        1 => MemOp::new(OpKind::Rmw, 8, 0),
        2 => MemOp::store(4),
        _ => MemOp { flags: MemOp::CONST_LEN, const_len: 24, ..MemOp::new(OpKind::Set, 0, 0) },
    }
}

/// The graph, as one task or as several ones that share frames.
fn graph(shape: &Shape, split: bool) -> Option<TaskGraph<Vec<u8>>> {
    let ops = (0..BLOCKS / 2).map(operation).collect();
    let info = info_of(&(0..BLOCKS).map(|b| b % 2).collect::<Vec<_>>(), ops);
    let mut recorder = Recorder::new(&info, &function(shape), 10);
    let mut begun = false;
    let mut frames = Vec::new();
    // For each task, its spans by number of frame, and what is counted before it.
    let mut tasks = vec![(Vec::new(), Counts::default())];
    let mut from = 0;
    let runs = (0..shape.times).flat_map(|time| shape.runs.iter().map(move |run| (time, *run)));
    for (time, (which, address, count)) in runs {
        let number = 2 * which + u32::from(begun && address % 3 == 0);
        let Some(known) = path(shape, number) else {
            let kind = AllocKind::Malloc;
            recorder.encoder.action(&Action::Alloc { addr: 64, size: 8, kind });
            continue;
        };
        let mut bytes = Vec::new();
        if split && address % 4 == 1 {
            recorder.encoder.cut();
            let end = recorder.encoder.record_count();
            tasks.last_mut().unwrap().0.push((frames.len(), from..end));
            tasks.push((Vec::new(), recorder.encoder.counts()));
            from = end;
        }
        if known.fresh {
            bytes = [&[address, 1, 0, 0, 0, 0][..], &[count]].concat();
        }
        if !recorder.segment((number, path(shape, number)), &bytes, &[]) {
            return None;
        }
        begun = true;
        if count == 5 && time % 100 == 0 {
            let end = recorder.encoder.record_count();
            tasks.last_mut().unwrap().0.push((frames.len(), from..end));
            frames.extend(recorder.encoder.finish());
            from = 0;
        }
    }
    let end = recorder.encoder.record_count();
    tasks.last_mut().unwrap().0.push((frames.len(), from..end));
    frames.extend(recorder.encoder.finish());
    tasks.push((Vec::new(), recorder.encoder.counts()));
    let (writer, frames) = recorder.written(frames);
    let records = (0..).zip(tasks.iter().zip(&tasks[1..]));
    let records = records.map(|(seq, (task, next))| {
        let spans = task.0.iter().filter(|(_, records)| !records.is_empty());
        let spans = spans.map(|(at, records)| FrameSpan {
            first_record: records.start,
            records: records.end - records.start,
            ..frames[*at]
        });
        record(seq, spans.collect(), next.1.since(task.1))
    });
    Some(graph_of(writer, &records.collect::<Vec<_>>()))
}

/// An action: a block and its accesses, or something else.
type Seen = (Option<BlockId>, Vec<Access>);

fn seen(action: Action<'_>) -> Seen {
    match action {
        Action::Block(block) => (Some(block.id()), block.accesses().collect()),
        _ => (None, Vec::new()),
    }
}

/// The actions of a piece, with those of loops in parts that are cut at places that differ from
/// piece to piece.
fn actions(piece: &Piece<'_>, out: &mut Vec<Seen>) {
    let cut = out.len() as u64 % (piece.actions() + 1);
    let before = out.len();
    match piece {
        Piece::Blocks(all) => {
            let mut own = Vec::new();
            for part in [all.part(0..cut), all.part(cut..u64::MAX)] {
                let accesses = part.accesses().len();
                let first = own.len();
                let mut passed = 0;
                for at in 0..part.len() {
                    let one = part.part(at..at + 1);
                    passed += one.accesses().len();
                    own.push((one.blocks().next(), one.accesses().iter().collect()));
                }
                assert_eq!(accesses, passed);
                let each = part.each();
                let each: Vec<Seen> = each.map(|(b, a)| (Some(b), a.iter().collect())).collect();
                assert_eq!(each, own[first..]);
                let blocks = own[first..].iter().map(|one| one.0);
                assert!(part.blocks().map(Some).eq(blocks));
                let mut times = BTreeMap::new();
                part.for_each_times(|b, n| *times.entry(Some(b)).or_insert(0) += n);
                for one in &own[first..] {
                    *times.get_mut(&one.0).unwrap() -= 1;
                }
                assert!(times.into_values().all(|left| left == 0));
            }
            out.extend(own);
        }
        Piece::Run(run) => {
            let mut batch = Batch::default();
            batch.expand(run, 0..cut);
            batch.pieces().for_each(|part| actions(&part, out));
            batch.expand(run, cut..run.executions());
            batch.pieces().for_each(|part| actions(&part, out));
        }
        Piece::Nest(nest) => {
            for part in [nest.part(0..cut), nest.part(cut..u64::MAX)] {
                out.extend(crate::turns::executions(&part));
            }
        }
        Piece::Action(action) => out.push(seen(*action)),
        _ => unreachable!(),
    }
    assert_eq!((out.len() - before) as u64, piece.actions());
    if let Some(last) = piece.last_block() {
        assert_eq!(out.last().and_then(|one| one.0), Some(last));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn pieces_counts_and_single_actions_agree(shape in shape()) {
        let Some(graph) = graph(&shape, false) else { return Ok(()) };
        let task = graph.task(TaskId::default()).unwrap();
        let mut one_by_one = Vec::new();
        task.for_each_action(|action| one_by_one.push(seen(action))).unwrap();
        for enough in [1, one_by_one.len() / 2] {
            let mut first = Vec::new();
            let read = task.try_for_each_action(|action| {
                first.push(seen(action));
                match first.len() < enough {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            });
            read.unwrap();
            prop_assert_eq!(&first[..], &one_by_one[..enough.max(1).min(one_by_one.len())]);
        }
        let last = one_by_one.iter().rev().find_map(|one| one.0);
        prop_assert_eq!(task.last_block().unwrap(), last);
        let mut added = BlockCounts::new();
        for nests in [false, true] {
            let mut reader = Reader::new(&graph, 1);
            if nests {
                reader = reader.with_nests();
            }
            let mut pieces = Vec::new();
            added.clear();
            reader.open(&task);
            while let Some(batch) = reader.next().unwrap() {
                for piece in batch.pieces() {
                    added.add_piece(&piece);
                    actions(&piece, &mut pieces);
                }
            }
            prop_assert_eq!(&pieces, &one_by_one);
        }
        let mut bare = Reader::new(&graph, 1).without_accesses();
        let (mut passed, mut without) = (0, BlockCounts::new());
        bare.open(&task);
        while let Some(batch) = bare.next().unwrap() {
            for piece in batch.pieces() {
                without.add_piece(&piece);
                passed += piece.actions();
                if let Piece::Blocks(blocks) = piece {
                    prop_assert!(blocks.accesses().addresses().is_empty());
                }
            }
        }
        prop_assert_eq!(passed, one_by_one.len() as u64);
        let mut counted = BlockCounts::new();
        task.count_blocks(&mut counted).unwrap();
        let mut expected = BTreeMap::new();
        for block in one_by_one.iter().filter_map(|one| one.0) {
            *expected.entry(block).or_insert(0u64) += 1;
        }
        prop_assert_eq!(counted.iter().collect::<BTreeMap<_, _>>(), expected.clone());
        let (mut between, mut runs) = (Vec::new(), vec![0]);
        task.count_between(|counts, _| {
            between.push(counts.iter().map(|(_, times)| times).sum::<u64>());
            ControlFlow::Continue(())
        }).unwrap();
        let mut calls = 0;
        task.count_between(|_, _| {
            calls += 1;
            ControlFlow::Break(())
        }).unwrap();
        prop_assert_eq!(calls, 1);
        for (block, _) in &one_by_one {
            match block {
                Some(_) => *runs.last_mut().unwrap() += 1,
                None => runs.push(0),
            }
        }
        prop_assert_eq!(between, runs);
        prop_assert_eq!(added.iter().collect::<BTreeMap<_, _>>(), expected.clone());
        prop_assert_eq!(without.iter().collect::<BTreeMap<_, _>>(), expected);
    }
    #[test]
    fn a_reader_of_many_tasks_finds_what_each_does_whichever_are_asked_for(
        shape in shape(),
        asked in prop::collection::vec(0..9u8, 1..9),
    ) {
        let Some(graph) = graph(&shape, true) else { return Ok(()) };
        let mut reader = Reader::new(&graph, 1);
        for (task, asked) in graph.tasks().zip(asked.into_iter().cycle()) {
            let task = task.unwrap();
            let mut alone = Vec::new();
            task.for_each_action(|action| alone.push(seen(action))).unwrap();
            // Some tasks are left out, and some are asked for twice.
            for _ in 0..asked.min(2) {
                reader.open(&task);
                let mut found = Vec::new();
                while let Some(batch) = reader.next().unwrap() {
                    batch.pieces().for_each(|piece| actions(&piece, &mut found));
                }
                prop_assert_eq!(&found, &alone);
                prop_assert!(reader.next().unwrap().is_none());
            }
            // Or a task is read in two parts.
            let cut = usize::from(asked) % (task.spans().len() + 1);
            let mut found = Vec::new();
            for spans in [0..cut, cut..usize::MAX] {
                reader.open_spans(&task, spans);
                while let Some(batch) = reader.next().unwrap() {
                    batch.pieces().for_each(|piece| actions(&piece, &mut found));
                }
            }
            prop_assert_eq!(&found, &alone);
        }
    }
    #[test]
    fn tasks_of_a_part_are_read_alone_as_in_the_whole(shape in shape()) {
        let Some(whole) = graph(&shape, false) else { return Ok(()) };
        let whole = whole.task(TaskId::default()).unwrap();
        let mut all = Vec::new();
        whole.for_each_action(|action| all.push(seen(action))).unwrap();
        let parts = graph(&shape, true).unwrap();
        // From the last to the first, a frame is decoded for each task alone.
        let ids: Vec<TaskId> = parts.tasks().map(|task| task.unwrap().id()).collect();
        for id in ids.into_iter().rev() {
            let task = parts.task(id).unwrap();
            let mut accesses = Vec::new();
            task.for_each_access(|access| accesses.push(access)).unwrap();
            let mut own = Vec::new();
            task.for_each_action(|action| own.push(seen(action))).unwrap();
            let end = all.split_off(all.len() - own.len());
            prop_assert_eq!(&own, &end);
            prop_assert!(end.into_iter().flat_map(|one| one.1).eq(accesses));
        }
        prop_assert!(all.is_empty());
    }
}

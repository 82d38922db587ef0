//! Random graphs, against reachability.

use std::collections::{BTreeMap, BTreeSet};

use taskgraph::builder::GraphBuilder;
use taskgraph::{BlockId, ContextId, MemOp, OpKind, TaskId};

use super::program::{X, report};
use crate::graphs::{ancestors, graph};
use fastrand::Rng;

/// Bytes of a page of the detector's shadow.
const PAGE: u64 = 16 << 10;

/// An access: its task, address and length, and operation.
type Accessed = (TaskId, u64, u64, MemOp);

/// Random contexts, edges and accesses; every access at a line of its own, which names it. With
/// fills, most stores are of several pages.
fn random(seed: u64, steps: u64, fills: bool) -> (GraphBuilder, BTreeMap<u32, Accessed>) {
    let mut random = Rng::with_seed(seed);
    let mut b = GraphBuilder::new();
    let mut contexts = vec![b.context("main")];
    b.work(contexts[0], 0, 1, |_| {});
    let mut tasks: Vec<TaskId> = vec![TaskId::new(contexts[0], 0)];
    let mut accesses = BTreeMap::new();
    let mut seqs: BTreeMap<ContextId, u32> = BTreeMap::from([(contexts[0], 1)]);
    for step in 0..steps {
        if contexts.len() < 4 && random.u64(..100) < 15 {
            let parent = contexts[random.u64(..contexts.len() as u64) as usize];
            contexts.push(b.create(parent));
            *seqs.get_mut(&parent).expect("known") += 1;
            let child = contexts[contexts.len() - 1];
            b.work(child, step * 10, step * 10, |_| {});
            seqs.insert(child, 1);
            continue;
        }
        // One ends and is joined, and makes room for another.
        if contexts.len() > 1 && random.u64(..100) < 10 {
            let at = 1 + random.u64(..contexts.len() as u64 - 1) as usize;
            let child = contexts.swap_remove(at);
            let parent = contexts[random.u64(..contexts.len() as u64) as usize];
            b.join(parent, child);
            *seqs.get_mut(&parent).expect("known") += 1;
            continue;
        }
        let context = contexts[random.u64(..contexts.len() as u64) as usize];
        let id = TaskId::new(context, seqs[&context]);
        let mut executions: Vec<(BlockId, Vec<u64>)> = Vec::new();
        for _ in 0..random.u64(..4) {
            let size = [1, 2, 4, 8][random.u64(..4) as usize];
            let addr = X + random.u64(..20);
            let op = if random.u64(..100) < 50 { MemOp::load(size) } else { MemOp::store(size) };
            let fill = fills && op.kind == OpKind::Store && random.u64(..100) < 80;
            let (addr, size, op) = match (fill, fills) {
                (true, _) => {
                    let at = X + random.u64(..4) * PAGE - random.u64(..3) * 4;
                    let length = random.u64(..4) * PAGE + random.u64(..20);
                    (at, length, MemOp::new(OpKind::Set, 0, 0))
                }
                (_, true) => (X + random.u64(..4) * PAGE + addr % 20, u64::from(size), op),
                _ => (addr, u64::from(size), op),
            };
            let op = MemOp {
                flags: if !fill && random.u64(..100) < 20 { MemOp::ATOMIC } else { 0 },
                ..op
            };
            let line = 100 + accesses.len() as u32;
            executions.push((
                b.block("f", "random.c", line, std::slice::from_ref(&op)),
                if fill { vec![addr, size] } else { vec![addr] },
            ));
            accesses.insert(line, (id, addr, size, op));
        }
        let added = b.work(context, step * 10 + random.u64(..40), step * 10 + 60, |w| {
            executions.iter().for_each(|(block, operands)| w.block(*block, operands));
        });
        assert_eq!(added, id);
        *seqs.get_mut(&context).expect("known") += 1;
        for _ in 0..random.u64(..3) {
            let from = tasks[random.u64(..tasks.len() as u64) as usize];
            if from.context != context {
                b.edge(from, id);
            }
        }
        tasks.push(id);
    }
    (b, accesses)
}

/// The first and the last of some bytes, and the first ones of pages among them: what is found of a
/// page must be found of each of its bytes.
fn sampled(bytes: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
    let few = bytes.end.saturating_sub(bytes.start) < 64;
    let all = bytes.clone().take(if few { 64 } else { 1 });
    let pages = bytes.clone().skip(1).filter(|byte| byte % PAGE == 0);
    all.chain(pages).chain(bytes.last())
}

fn racy_bytes_equal_those_of_reachability(fills: bool) {
    let mut racy_graphs = 0;
    for seed in 1..200 {
        let (builder, accesses) = random(seed, 5 + seed % 60, fills);
        let graph = graph(builder);
        let ancestors = ancestors(&graph);
        let unordered = |a: &TaskId, b: &TaskId| {
            a.context != b.context && !ancestors[a].contains(b) && !ancestors[b].contains(a)
        };
        let writes = |op: &MemOp| matches!(op.kind, OpKind::Store | OpKind::Set);
        let mut real: BTreeMap<(u32, u32), std::ops::Range<u64>> = BTreeMap::new();
        for (line_a, (task_a, addr_a, size_a, a)) in &accesses {
            for (line_b, (task_b, addr_b, size_b, b)) in accesses.range(line_a + 1..) {
                let atomic = a.flags & b.flags & MemOp::ATOMIC != 0;
                if (writes(a) || writes(b)) && !atomic && unordered(task_a, task_b) {
                    let common = *addr_a.max(addr_b)..(addr_a + size_a).min(addr_b + size_b);
                    if !common.is_empty() {
                        real.insert((*line_a, *line_b), common);
                    }
                }
            }
        }
        let report = report(&graph);
        let mut covered = Vec::new();
        for race in &report.races {
            let lines = (race.a.place.line, race.b.place.line);
            let bytes =
                real.get(&lines).unwrap_or_else(|| panic!("seed {seed}: {lines:?} is no race"));
            assert!(bytes.contains(&race.address), "seed {seed}: {lines:?} at {:#x}", race.address);
            covered.push(bytes);
        }
        let racy: BTreeSet<u64> = real.values().cloned().flat_map(sampled).collect();
        assert!(
            racy.iter().all(|byte| covered.iter().any(|bytes| bytes.contains(byte))),
            "seed {seed}: {racy:x?} but {covered:x?}"
        );
        racy_graphs += usize::from(!racy.is_empty());
    }
    assert!(racy_graphs > 50, "only {racy_graphs} graphs have races: the test says little");
}

#[test]
fn racy_bytes_equal_those_of_reachability_and_every_pair_is_real() {
    racy_bytes_equal_those_of_reachability(false);
}

#[test]
fn so_they_do_where_stores_fill_several_pages_of_the_shadow() {
    racy_bytes_equal_those_of_reachability(true);
}

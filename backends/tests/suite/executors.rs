//! What is about processors goes by executor: a graph whose executors execute many contexts gives
//! what the same accesses give if each executor is one context.

use contech_backends::analysis::Graph;
use contech_backends::cache::Cache;
use contech_backends::sharing::Sharing;
use fastrand::Rng;
use taskgraph::builder::GraphBuilder;
use taskgraph::{BlockId, ContextId, MemOp};

use crate::graphs::{found, graph, json};

/// A stretch of what an executor does: which of its contexts it does it for, and what.
struct Stretch {
    executor: u32,
    context: usize,
    start: u64,
    end: u64,
    /// Whether it writes, and where.
    accesses: Vec<(bool, u64)>,
}

const EXECUTORS: u32 = 3;
/// Contexts of each executor, and those that any executor goes on with.
const OWN: usize = 4;
const MOVED: usize = 3;
const ALL: usize = OWN * EXECUTORS as usize + MOVED;

/// Executors that are never idle.
fn stretches(random: &mut Rng) -> Vec<Stretch> {
    let mut all = Vec::new();
    let mut clocks = [0; EXECUTORS as usize];
    let mut moved = [0; MOVED];
    for at in 0..400 {
        // All are at work from the start on.
        let executor = if at < EXECUTORS { at } else { random.u32(..EXECUTORS) };
        let clock = &mut clocks[executor as usize];
        let start = *clock;
        *clock += if at < EXECUTORS { 1 } else { [1, 3, 40, 250, 3000][random.usize(..5)] };
        let own = executor as usize * OWN + random.usize(..OWN);
        let any = random.usize(..MOVED);
        // It takes longer than a slice to go from one executor to another.
        let goes_on = moved[any] + 6000 <= start && random.u8(..3) == 0;
        let context = if goes_on {
            moved[any] = *clock;
            OWN * EXECUTORS as usize + any
        } else {
            own
        };
        let accesses =
            (0..=random.u64(..30)).map(|_| (random.bool(), 0x1000 + 8 * random.u64(..60)));
        all.push(Stretch { executor, context, start, end: *clock, accesses: accesses.collect() });
    }
    all
}

/// The graph, with the contexts of the stretches or with a context for each executor.
fn built(all: &[Stretch], by_context: bool) -> Graph {
    let mut b = GraphBuilder::new();
    let blocks: [BlockId; 2] =
        [MemOp::load(8), MemOp::store(8)].map(|op| b.block("f", "a.c", 1, &[op]));
    let number = if by_context { ALL } else { EXECUTORS as usize };
    let contexts: Vec<ContextId> = (0..number).map(|_| b.context("")).collect();
    for one in all {
        let context = match by_context {
            true => contexts[one.context],
            false => contexts[one.executor as usize],
        };
        b.execute(context, one.executor);
        b.work(context, one.start, one.end, |work| {
            for &(write, address) in &one.accesses {
                work.block(blocks[usize::from(write)], &[address]);
            }
        });
    }
    for (number, &context) in contexts.iter().enumerate() {
        // Each context has a task, whose executor there must be.
        if by_context && !all.iter().any(|one| one.context == number) {
            b.execute(context, 0);
        }
    }
    graph(b)
}

#[test]
fn what_executors_do_for_many_contexts_is_what_they_do_for_one() {
    for seed in 0..60 {
        let all = stretches(&mut Rng::with_seed(seed));
        let [many, one] = [true, false].map(|by_context| built(&all, by_context));
        for slice in ["0", "100", "5000"] {
            let sharing = |graph| json(&found::<Sharing>(&format!("--slice {slice}"), graph));
            assert_eq!(sharing(&many), sharing(&one), "{seed}, {slice}");
        }
        let private =
            |graph| json(&found::<Cache>("--private --sizes 64..4K --ways 1,full", graph));
        assert_eq!(private(&many), private(&one), "{seed}");
    }
}

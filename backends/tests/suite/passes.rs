//! The driver: several analyses in one pass see what each sees alone, and by time what one action
//! after the other gives.

use crate::graphs::affine::random_contexts;
use crate::graphs::{found, graph, json, options};
use anyhow::Result;
use contech_backends::analysis::{
    Analysis, Graph, Moment, Order, Part, Reads, Task, Windows, run, run_all,
};
use contech_backends::cache::Cache;
use contech_backends::memuse::{self, MemUse};
use contech_backends::races::{self, Races};
use contech_backends::sharing::{self, Sharing};
use taskgraph::builder::GraphBuilder;
use taskgraph::{Access, Action, AllocKind, BlockId, MemOp, Piece, SyncOp};

/// An action: context, time, block and accesses; neither for an action that is no execution.
type Seen = (u32, u64, Option<BlockId>, Vec<Access>);

/// What is noted of a piece: whether it is a synchronisation that is no task, and its actions.
type Noted = (bool, Vec<Seen>);

/// Notes all pieces, with or without synchronisation.
struct Log<const SYNCHRONISATION: bool>(Order);

impl<const SYNCHRONISATION: bool> Analysis for Log<SYNCHRONISATION> {
    const NAME: &'static str = "log";
    const ABOUT: &'static str = "Every action";
    const ORDER: Order = Order::Topological;
    const READS: Reads = Reads::Pieces;
    const SYNCHRONISATION: bool = SYNCHRONISATION;
    type Config = Order;
    type Shard = Vec<Noted>;
    type Report = Vec<Noted>;

    fn new(order: Order, _: &Graph) -> Result<Self> {
        Ok(Self(order))
    }

    fn order(&self) -> Order {
        self.0
    }

    fn shard(&self) -> Vec<Noted> {
        Vec::new()
    }

    fn piece(&self, seen: &mut Vec<Noted>, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        let mut own = Vec::new();
        match piece {
            Piece::Blocks(blocks) => {
                let each = blocks.each();
                own.extend(each.map(|(block, accesses)| (Some(block), accesses.iter().collect())));
            }
            Piece::Run(run) => run.for_each_block(|block| {
                own.push((Some(block.id()), block.accesses().collect()));
            }),
            Piece::Nest(nest) => nest.for_each_block(|block| own.push((Some(block), Vec::new()))),
            _ => own.push((None, Vec::new())),
        }
        assert_eq!(own.len() as u64, piece.actions());
        let timed = (0..).zip(own);
        let timed =
            timed.map(|(i, (block, accesses))| (at.context, at.later(i).time(), block, accesses));
        let sync = matches!(piece, Piece::Action(Action::Sync { .. }));
        seen.push((sync, timed.collect()));
        Ok(())
    }

    fn finish(self, _: &Graph, shards: Vec<Vec<Noted>>) -> Result<Vec<Noted>> {
        Ok(shards.concat())
    }
}

fn actions(pieces: Vec<Noted>) -> Vec<Seen> {
    pieces.into_iter().flat_map(|piece| piece.1).collect()
}

/// All actions in an order.
fn log(order: Order, graph: &Graph) -> Vec<Seen> {
    actions(run::<Log<true>>(order, graph).expect("readable"))
}

fn one_by_one(context: u32, time: u64, action: &Action<'_>) -> Seen {
    match action {
        Action::Block(block) => (context, time, Some(block.id()), block.accesses().collect()),
        _ => (context, time, None, Vec::new()),
    }
}

fn each_graph(test: impl Fn(&Graph)) {
    let folder = tempfile::tempdir().expect("temporary folder");
    for seed in 0..20 {
        let contexts = 1 + u32::try_from(seed % 4).expect("small");
        test(&random_contexts(seed, contexts, &folder.path().join("graph.tg")));
    }
}

#[test]
fn pieces_by_time_are_the_actions_in_the_order_of_time() {
    each_graph(|graph| {
        for slice_ns in [0, 7, 100, 1_000_000] {
            let mut expected = Vec::new();
            let see = |action: &Action<'_>| one_by_one(0, 0, action);
            crate::by_time::by_time(graph, slice_ns, see, |context, time, (_, _, block, all)| {
                expected.push((context, time, block, all));
            })
            .expect("readable");
            let got = log(Order::ByTime { slice_ns }, graph);
            assert!(got == expected, "slice {slice_ns}");
        }
    });
}

#[test]
fn threads_from_which_others_took_the_processor_run_at_the_same_time() {
    let mut b = GraphBuilder::new();
    let block = b.block("body", "a.c", 1, &[]);
    let main = b.context("main");
    let [one, other] = [(); 2].map(|()| b.create(main));
    for (thread, end) in [(one, 100), (other, 200)] {
        b.work(thread, end - 20, end, |w| {
            (0..4).for_each(|_| w.block(block, &[]));
        });
        b.seen(thread, 0);
    }
    let graph = graph(b);
    let seen = log(Order::ByTime { slice_ns: 0 }, &graph);
    let times: Vec<(u32, u64)> = seen.iter().map(|seen| (seen.0, seen.1)).collect();
    let first = [(1, 12), (2, 25), (1, 37), (1, 62)];
    assert_eq!(times[..4], first);
    assert_eq!(times[4..], [(2, 75), (1, 87), (2, 125), (2, 175)]);
}

#[test]
fn stretches_have_what_happens_in_them_and_allocations_in_order() {
    each_graph(|graph| {
        let exact = log(Order::ByTime { slice_ns: 0 }, graph);
        let of = |log: &[Seen], context| {
            let own = log.iter().filter(|seen| seen.0 == context);
            own.cloned().collect::<Vec<Seen>>()
        };
        let others = |log: &[Seen]| {
            let others = log.iter().filter(|seen| seen.2.is_none());
            others.cloned().collect::<Vec<Seen>>()
        };
        for ns in [1, 40, 1000, 1 << 40] {
            let got = log(Order::Stretches { ns }, graph);
            assert!(got.is_sorted_by_key(|seen| seen.1 / ns), "{ns}");
            assert!(others(&got) == others(&exact), "{ns}");
            assert!((0..4).all(|context| of(&got, context) == of(&exact, context)), "{ns}");
        }
        let memory = |slice_ns| {
            let options = memuse::Options { slice_ns, ..options::<MemUse>("") };
            json(&run::<MemUse>(options, graph).expect("readable"))
        };
        assert_eq!(memory(None), memory(Some(0)));
    });
}

#[test]
fn every_order_by_task_gives_the_actions_of_the_tasks() {
    each_graph(|graph| {
        let mut expected = Vec::new();
        for task in graph.tasks() {
            let task: Task<'_> = task.expect("readable");
            let mut at = Moment::first(task.id().context.get(), &task);
            task.for_each_action(|action| {
                expected.push(one_by_one(at.context, at.time(), &action));
                at = at.later(1);
            })
            .expect("readable");
        }
        for order in [Order::Topological, Order::PerContext, Order::PerExecutor, Order::Any] {
            assert!(log(order, graph) == expected, "{order:?}");
        }
    });
}

#[test]
fn analyses_in_one_pass_see_what_each_sees_alone() {
    each_graph(|graph| {
        let orders = [
            Order::Topological,
            Order::PerContext,
            Order::PerExecutor,
            Order::Any,
            Order::ByTime { slice_ns: 50 },
            Order::ByTime { slice_ns: 0 },
        ];
        let mut logs = orders.map(|order| Part::new(Log::<true>(order)));
        let mut caches = Part::new(Cache::new(options::<Cache>(""), graph).expect("options"));
        let mut memory = Part::new(MemUse::new(options::<MemUse>(""), graph).expect("options"));
        let [a, b, f, c, d, e] = &mut logs;
        run_all(graph, &mut [a, &mut caches, b, f, c, &mut memory, d, e]).expect("readable");
        for (order, part) in orders.into_iter().zip(logs) {
            let alone = log(order, graph);
            assert!(actions(part.finish(graph).expect("a result")) == alone, "{order:?}");
        }
        let caches = caches.finish(graph).expect("a result");
        assert_eq!(json(&caches), json(&found::<Cache>("", graph)));
        let memory = memory.finish(graph).expect("a result");
        assert_eq!(json(&memory), json(&found::<MemUse>("", graph)));
    });
}

/// How many actions each piece has, and whether that is a synchronisation that is no task.
fn lengths(pieces: &[Noted]) -> Vec<(usize, bool)> {
    pieces.iter().map(|(sync, seen)| (seen.len(), *sync)).collect()
}

#[test]
fn synchronisation_cuts_the_pieces_of_those_who_want_it_or_follow_time() {
    let mut b = GraphBuilder::new();
    let block = b.block("f", "f.c", 1, &[MemOp::load(8)]);
    let main = b.context("main");
    b.work(main, 0, 100, |w| {
        w.block(block, &[0x1000]);
        w.sync(SyncOp::MutexLock, 0xfeed);
        w.block(block, &[0x2000]);
        w.sync(SyncOp::MutexUnlock, 0xfeed);
        w.alloc(0x3000, 16, AllocKind::Malloc);
        w.block(block, &[0x3000]);
    });
    let graph = graph(b);
    let cut = [(1, false), (1, true), (1, false), (1, true), (1, false), (1, false)];
    let whole = [(2, false), (1, false), (1, false)];
    let slices = Order::ByTime { slice_ns: 0 };
    let unwanted = |order| lengths(&run::<Log<false>>(order, &graph).unwrap());
    for order in [Order::Topological, Order::PerContext, Order::Any] {
        assert_eq!(unwanted(order), whole);
        assert_eq!(lengths(&run::<Log<true>>(order, &graph).unwrap()), cut);
    }
    assert_eq!(unwanted(slices), cut);
    let mut wanted = Part::new(Log::<true>(Order::Topological));
    let mut unwanted = Part::new(Log::<false>(Order::Topological));
    run_all(&graph, &mut [&mut unwanted, &mut wanted]).unwrap();
    assert_eq!(lengths(&wanted.finish(&graph).unwrap()), cut);
    assert_eq!(lengths(&unwanted.finish(&graph).unwrap()), cut, "they read the same batches");
}

/// Two contexts that add to words of one line, which nothing orders.
fn counters(executions: u64) -> Graph {
    let mut b = GraphBuilder::new();
    let block = b.block("count", "c.c", 7, &[MemOp::load(8), MemOp::store(8)]);
    let main = b.context("main");
    let thread = b.create(main);
    for (context, word) in [(main, 0x1000), (thread, 0x1008)] {
        b.work(context, 0, 8 * executions, |w| {
            for at in 0..executions {
                // One word of both comes again and again.
                let word = if at % 64 == 0 { 0x1000 } else { word };
                w.block(block, &[word, word]);
            }
        });
    }
    graph(b)
}

#[test]
fn windows_of_a_run_stand_for_all_of_it_and_it_is_said() {
    let graph = counters(1 << 21);
    let accesses = graph.summary().accesses;
    let windows = || Windows::within(accesses, accesses / 4);
    let all = found::<Sharing>("", &graph);
    let some = sharing::Options { windows: windows(), ..options::<Sharing>("") };
    let some = run::<Sharing>(some, &graph).unwrap();
    assert_eq!((all.windows, some.windows), (None, Some(4)));
    let [all, some] = [&all, &some].map(|report| report.totals[0]);
    assert_eq!(some.cold, all.cold, "a line is used first once");
    let near = |some: u64, all: u64| some.abs_diff(all) < all / 50;
    assert!(near(some.misses(), all.misses()), "{some:?} {all:?}");
    assert!(near(some.false_misses, all.false_misses));

    let all = found::<Races>("", &graph);
    let some = races::Options { windows: windows(), ..options::<Races>("") };
    let some = run::<Races>(some, &graph).unwrap();
    assert_eq!((all.windows, some.windows), (None, Some(4)));
    assert_eq!(all.accesses, accesses);
    assert!(near(4 * some.accesses, accesses), "{}", some.accesses);
    let said = "Races were looked for in one of 4 windows";
    assert!(some.sentence().contains(said) && !all.sentence().contains(said));
    assert!(!some.races.is_empty() && some.races.len() <= all.races.len());
}

//! Tasks that wait in a call of the system which nothing recorded: `sigwait`, `sleep`, a read from
//! a terminal.
//!
//! Such a call is time of the task it happens in, and a thread that sleeps through the run would
//! seem to be the longest chain of work. A task is taken to wait when it lasts a millisecond or
//! more, executes few blocks for its time, one of them ends in a call that is known to wait, and
//! none in a call of other code that was not recorded: a library that compresses takes its time
//! working, though the result is written then.
//!
//! A task of few blocks and no such call, which moves little data, cannot take long: its thread
//! could have run, but the system gave the processor to another. A lock that two threads on one
//! processor hand to each other looks like that, because the one that is woken runs in place of the
//! other.

use rustc_hash::FxHashSet;
use taskgraph::{Block, BlockId, StaticInfo, Task, TaskKind};

/// Time for each block of a task that does not work: at a hundred nanoseconds each they are less
/// than a hundredth of it.
const BLOCK_NS: u64 = 10_000;
/// Time for each block of a task that works in code that was not recorded: its blocks are less than
/// a tenth of it.
const WORKS_NS: u64 = 1000;
/// Shorter waits are not looked for.
pub(crate) const LEAST_NS: u64 = 1_000_000;

/// Functions of the C library and the system that wait, and do nothing else for long.
const WAITING: [&str; 38] = [
    "accept",
    "accept4",
    "clock_nanosleep",
    "connect",
    "epoll_pwait",
    "epoll_wait",
    "fgetc",
    "fgets",
    "fread",
    "getc",
    "getchar",
    "getline",
    "msgrcv",
    "nanosleep",
    "pause",
    "poll",
    "ppoll",
    "pselect",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "select",
    "semop",
    "sigsuspend",
    "sigtimedwait",
    "sigwait",
    "sigwaitinfo",
    "sleep",
    "system",
    "usleep",
    "wait",
    "wait3",
    "wait4",
    "waitid",
    "waitpid",
    "write",
];

/// How functions of the C and C++ libraries begin that neither wait nor work for long.
const QUICK: [&str; 25] = [
    "__", "abort", "ato", "calloc", "clock", "close", "exit", "fflush", "fprintf", "fputs", "free",
    "get", "malloc", "mem", "operator", "perror", "printf", "put", "realloc", "sig", "std::",
    "str", "thrd_", "time", "tss_",
];

/// How functions begin that are operations of their own in the graph, so that no time of them
/// belongs to the task that calls them, and functions of the recorder itself. The pass names atomic
/// operations, fences and the turns of loops that wait as if they were called. Who yields has given
/// the processor to others until the call returns. The C++ library's conditions and threads call
/// those of `pthread`.
const OPERATIONS: [&str; 12] = [
    "__contech_",
    "atomic operation",
    "cnd_",
    "fence",
    "mtx_",
    "pthread_",
    "sched_yield",
    "sem_",
    "std::condition_variable",
    "std::thread::",
    "thrd_yield",
    TURN,
];
const TURN: &str = "turn of a wait";
/// Who has no processor for less time than this is not looked for.
pub(super) const STARVED_NS: u64 = 50_000;
/// A task that moves less than a byte in so many nanoseconds does not spend its time on that.
const BYTE_NS: u64 = 100;

/// What a task of few blocks spends its time in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongCall {
    /// It waits there; the block that ends in the call.
    Waits(BlockId),
    /// Code works there that was not recorded; the block that ends in the call.
    Works(BlockId),
    /// Nothing that it does: it had no processor.
    Starved,
}

impl LongCall {
    /// The block that ends in the call, if there is one.
    pub fn block(self) -> Option<BlockId> {
        match self {
            Self::Waits(block) | Self::Works(block) => Some(block),
            Self::Starved => None,
        }
    }
}

/// The blocks that end a turn of a loop that waits.
pub(crate) fn turns(info: &StaticInfo) -> FxHashSet<BlockId> {
    let ends_turn = |block: &Block| matches!(&block.call, Some(call) if call.callee == TURN);
    let blocks = (0..).map(BlockId::new).zip(&info.blocks);
    let turns = blocks.filter(|(_, block)| ends_turn(block));
    turns.map(|(id, _)| id).collect()
}

/// Whether a call is an operation of its own in the graph.
pub(crate) fn is_operation(callee: &str) -> bool {
    OPERATIONS.iter().any(|start| callee.starts_with(start))
}

/// What a task spends its time in, where that can be told.
pub(crate) fn long_call<D: AsRef<[u8]>>(task: &Task<'_, D>) -> Option<LongCall> {
    if task.kind() != TaskKind::Work
        || task.duration_ns() < STARVED_NS
        || !(1..=task.duration_ns() / WORKS_NS).contains(&task.block_count())
        || !task.has_all_code()
    {
        return None;
    }
    let idle = task.block_count() <= task.duration_ns() / BLOCK_NS;
    let (mut waits, mut works) = (None, None);
    // Only a recorder knows the processors; times that were made up need not fit the work.
    let recorded = task.graph().meta().processors > 0;
    let mut starved = idle && recorded && task.bytes_accessed() < task.duration_ns() / BYTE_NS;
    // The call of a block is of code that was not recorded when the next block does not begin a
    // function.
    let mut outside = None;
    let read = task.for_each_block(|block| {
        let about = block.about();
        if about.is_some_and(|about| about.flags & Block::ENTRY == 0) {
            works = works.or(outside);
        }
        outside = None;
        let callee = about.and_then(|about| Some(about.call.as_ref()?.callee.as_str()));
        match callee {
            Some(callee) if is_operation(callee) => {}
            Some(callee) if WAITING.binary_search(&callee).is_ok() => waits = Some(block.id()),
            Some(callee) if !QUICK.iter().any(|quick| callee.starts_with(quick)) => {
                outside = Some(block.id());
            }
            Some(_) => starved = false,
            None => {}
        }
    });
    // Damage is reported by whoever needs the blocks.
    read.ok()?;
    let waits = waits.filter(|_| idle);
    let call = works.map(LongCall::Works).or(waits.map(LongCall::Waits));
    let call = call.filter(|_| task.duration_ns() >= LEAST_NS);
    // The last call of all may be one that was not recorded, too.
    let starved = starved && outside.or(works).or(waits).is_none();
    call.or(starved.then_some(LongCall::Starved))
}

/// Whether a task that works in the call of `block` calls other code, too, that was not recorded
/// and may work for long: which of the calls takes the time is not known.
pub(crate) fn calls_others<D: AsRef<[u8]>>(task: &Task<'_, D>, block: BlockId) -> bool {
    let name = |block: &Block| Some(block.call.as_ref()?.callee.clone());
    let info = task.graph().info();
    let Some(known) = info.block(block).and_then(name) else {
        return false;
    };
    let works = |callee: &String| {
        let begins = |with: &&str| callee.starts_with(*with);
        !OPERATIONS.iter().chain(&QUICK).any(begins)
            && WAITING.binary_search(&callee.as_str()).is_err()
            && *callee != known
    };
    let (mut outside, mut others) = (false, false);
    let read = task.for_each_block(|block| {
        let about = block.about();
        others |= outside && about.is_some_and(|about| about.flags & Block::ENTRY == 0);
        outside = about.and_then(name).is_some_and(|callee| works(&callee));
    });
    read.is_ok() && (others || outside)
}

#[cfg(test)]
mod tests {
    use taskgraph::builder::GraphBuilder;
    use taskgraph::{CallSite, MemOp, OpKind};

    use super::*;

    fn calls(b: &mut GraphBuilder, block: BlockId, callee: &str) {
        let call = CallSite { callee: callee.into(), line: 3, inlined: 0 };
        b.info_mut().blocks[block.index()].call = Some(call);
    }

    #[test]
    fn the_names_are_sorted() {
        assert!(WAITING.is_sorted());
    }

    #[test]
    fn a_long_task_of_few_blocks_that_calls_sigwait_waits_and_no_other() {
        let mut b = GraphBuilder::new();
        let [waits, works] = ["sigwait", "compute"].map(|callee| {
            let block = b.block("handler", "a.c", 3, &[]);
            calls(&mut b, block, callee);
            block
        });
        // What is synchronisation is recorded, and takes no time otherwise.
        let initialises = b.block("initialises", "a.c", 3, &[]);
        calls(&mut b, initialises, "sem_init");
        let main = b.context("main");
        let mut at = 0;
        for (block, times, ns) in [
            (waits, 1, LEAST_NS),
            (works, 1, LEAST_NS),
            (waits, 1, LEAST_NS / 2),
            (waits, 101, LEAST_NS),
            (waits, 10_000, 100 * LEAST_NS),
            (initialises, 1, LEAST_NS),
        ] {
            b.work(main, at, at + ns, |w| (0..times).for_each(|_| w.block(block, &[])));
            at += ns;
        }
        let graph = b.build().expect("a valid graph");
        let found: Vec<bool> = graph
            .tasks()
            .map(|task| matches!(long_call(&task.expect("readable")), Some(LongCall::Waits(_))))
            .collect();
        assert_eq!(found, [true, false, false, false, true, false]);
    }

    #[test]
    fn a_task_that_has_nothing_to_do_for_so_long_had_no_processor() {
        let mut b = GraphBuilder::new();
        b.meta_mut().processors = 2;
        let nothing = b.block("body", "a.c", 3, &[]);
        let moves = b.block("body", "a.c", 4, &[MemOp::new(OpKind::Set, 0, 0)]);
        let frees = b.block("body", "a.c", 5, &[]);
        let tries = b.block("body", "a.c", 6, &[]);
        calls(&mut b, frees, "free");
        calls(&mut b, tries, "atomic operation");
        let main = b.context("main");
        b.work(main, 0, STARVED_NS, |w| w.block(nothing, &[]));
        b.work(main, STARVED_NS, 2 * STARVED_NS - 1, |w| w.block(nothing, &[]));
        b.work(main, 2 * STARVED_NS, 3 * STARVED_NS, |w| {
            w.block(moves, &[0x1000, 1 << 20]);
        });
        b.work(main, 3 * STARVED_NS, 4 * STARVED_NS, |w| {
            w.block(frees, &[]);
        });
        b.work(main, 4 * STARVED_NS, 5 * STARVED_NS, |w| {
            w.block(tries, &[]);
        });
        let graph = b.build().expect("a valid graph");
        let tasks = graph.tasks().map(|task| task.expect("readable"));
        let found: Vec<_> = tasks.map(|task| long_call(&task)).collect();
        let starved = Some(LongCall::Starved);
        assert_eq!(found, [starved, None, None, None, starved]);
    }

    #[test]
    fn a_library_that_works_before_the_result_is_written_does_not_wait() {
        let mut b = GraphBuilder::new();
        let mut block = |name: &str, callee: &str| {
            let block = b.block(name, "a.c", 3, &[]);
            if !callee.is_empty() {
                calls(&mut b, block, callee);
            }
            block
        };
        let compress = block("pack", "BZ2_compress");
        let write = block("pack", "write");
        let after = block("pack", "");
        let goes_on = block("pack", "save");
        let save = block("save", "write");
        b.info_mut().blocks[save.index()].flags |= Block::ENTRY;
        for other in [compress, write, after, goes_on] {
            b.info_mut().blocks[other.index()].flags &= !Block::ENTRY;
        }
        let main = b.context("main");
        let tasks: [&[BlockId]; 4] = [
            &[compress, write, after],
            &[goes_on, save, after],
            // Where the task ends, so does the time in it.
            &[write, after, compress],
            &[compress, after],
        ];
        for (i, blocks) in (0..).zip(tasks) {
            b.work(main, i * LEAST_NS, (i + 1) * LEAST_NS, |w| {
                blocks.iter().for_each(|&block| w.block(block, &[]));
            });
        }
        let graph = b.build().expect("a valid graph");
        let found: Vec<_> = graph.tasks().map(|task| long_call(&task.expect("readable"))).collect();
        let [works, waits] = [LongCall::Works, LongCall::Waits];
        assert_eq!(
            found,
            [Some(works(compress)), Some(waits(save)), Some(waits(write)), Some(works(compress)),]
        );
    }
}

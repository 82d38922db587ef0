//! Tasks that wait in a call of the system which nothing recorded: `sigwait`, `sleep`, a read from a terminal.
//!
//! Such a call is time of the task it happens in, and a thread that sleeps through the run would seem to be the longest
//! chain of work. A task is taken to wait when it lasts a millisecond or more, executes a few blocks only, and one of
//! them ends in a call that is known to wait.

use taskgraph::{BlockId, Task, TaskKind};

/// Blocks of a task that does not work: at a hundred nanoseconds each they are less than a hundredth of it.
const MOST_BLOCKS: u64 = 100;
/// Shorter waits are not looked for.
const LEAST_NS: u64 = 1_000_000;

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

/// The block that ends in the call a task waits in; `None` when it does not.
#[must_use]
pub(super) fn waiting_call<D: AsRef<[u8]>>(task: &Task<'_, D>) -> Option<BlockId> {
    if task.kind() != TaskKind::Work
        || task.duration_ns() < LEAST_NS
        || !(1..=MOST_BLOCKS).contains(&task.block_count())
    {
        return None;
    }
    let mut found = None;
    let read = task.for_each_block(|block| {
        let call = block.about().and_then(|about| about.call.as_ref());
        if call.is_some_and(|call| WAITING.binary_search(&call.callee.as_str()).is_ok()) {
            found = Some(block.id());
        }
    });
    // Damage is reported by whoever needs the blocks.
    read.ok().and(found)
}

#[cfg(test)]
mod tests {
    use taskgraph::CallSite;
    use taskgraph::builder::GraphBuilder;

    use super::*;

    #[test]
    fn the_names_are_sorted() {
        assert!(WAITING.is_sorted());
    }

    #[test]
    fn a_long_task_of_few_blocks_that_calls_sigwait_waits_and_no_other() {
        let mut b = GraphBuilder::new();
        let [waits, works] = ["sigwait", "compute"].map(|callee| {
            let block = b.block("handler", "a.c", 3, &[]);
            b.info_mut().blocks[block.index()].call = Some(CallSite {
                callee: callee.into(),
                line: 3,
            });
            block
        });
        let main = b.context("main");
        let mut at = 0;
        for (block, times, ns) in [
            (waits, 1, LEAST_NS),
            (works, 1, LEAST_NS),
            (waits, 1, LEAST_NS / 2),
            (waits, 101, LEAST_NS),
        ] {
            b.work(main, at, at + ns, |w| {
                (0..times).for_each(|_| w.block(block, &[]))
            });
            at += ns;
        }
        let graph = b.build().expect("a valid graph");
        let found: Vec<bool> = graph
            .tasks()
            .map(|task| waiting_call(&task.expect("readable")).is_some())
            .collect();
        assert_eq!(found, [true, false, false, false]);
    }
}

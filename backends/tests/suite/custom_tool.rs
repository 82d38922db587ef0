//! The tool of `examples/lock_hold.rs`, which could be outside of the workspace: its source is
//! compiled here, too.

#[allow(dead_code, reason = "a whole command; its main is not called")]
#[path = "../../examples/lock_hold.rs"]
mod lock_hold;

use crate::graphs::graph;
use contech_backends::analysis::run;
use lock_hold::{Hold, LockHold, Options};
use taskgraph::SyncOp;
use taskgraph::builder::GraphBuilder;

#[test]
fn the_times_a_lock_is_held_are_added_over_contexts() {
    let mut b = GraphBuilder::new();
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    let other = b.create(main);
    for (context, lock, from, to) in
        [(main, 7, 100, 130), (main, 8, 200, 205), (other, 7, 300, 370)]
    {
        b.sync_at(context, lock, SyncOp::MutexLock, from - 5, from);
        b.work(context, from, to, |_| {});
        b.sync_at(context, lock, SyncOp::MutexUnlock, to, to);
    }
    let graph = graph(b);
    let locks = |at_least| run::<LockHold>(Options { at_least }, &graph).expect("a graph").locks;
    let seven = Hold { lock: 7, times: 2, total_ns: 100, longest_ns: 70 };
    let eight = Hold { lock: 8, times: 1, total_ns: 5, longest_ns: 5 };
    assert_eq!(locks(0), [seven, eight]);
    assert_eq!(locks(6), [seven]);
}

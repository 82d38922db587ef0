//! Queues of messages and sets of semaphores of the system, and bytes that the kernel moves from
//! one descriptor to another.

use std::ffi::c_int;

use contech_trace::event::SyncOp::{Receive, Send};

use super::{can_order, object, receive, send, sort_of};
use crate::active::Active;
use crate::real::Ptr;

const POSIX_QUEUE: u64 = 10;
const QUEUE: u64 = 11;
const SEMAPHORES: u64 = 12;

/// The object of a queue: one of POSIX is known by its inode, one of System V by its number.
fn queue(number: c_int, posix: bool) -> Option<Ptr> {
    if !can_order() {
        return None;
    }
    match posix {
        true => Some(object(POSIX_QUEUE, sort_of(number)?.1)),
        false => Some(object(QUEUE, number.unsigned_abs().into())),
    }
}

/// Records that `call` puts a message into a queue.
pub(crate) fn enqueues(
    a: Active,
    number: c_int,
    posix: bool,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if let Some(object) = queue(number, posix) {
        a.instant(Send, object, 0);
    }
    call()
}

/// Records that `call` takes a message from a queue.
pub(crate) fn dequeues(
    a: Active,
    number: c_int,
    posix: bool,
    call: impl FnOnce() -> isize,
) -> isize {
    taken(a, queue(number, posix), call, |&bytes| bytes >= 0)
}

fn taken<R>(
    a: Active,
    object: Option<Ptr>,
    call: impl FnOnce() -> R,
    done: impl FnOnce(&R) -> bool,
) -> R {
    let before = a.now();
    let result = call();
    if let Some(object) = object
        && done(&result)
    {
        a.in_order(Receive, object, 0, before, a.since(before));
    }
    result
}

/// Records that `call` gives units of semaphores, takes some, or waits for none.
pub(crate) fn operates(
    a: Active,
    set: c_int,
    list: Ptr,
    count: usize,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let set = can_order().then(|| object(SEMAPHORES, set.unsigned_abs().into()));
    let gives = |n: usize| {
        // SAFETY: the program hands the kernel so many operations.
        unsafe { (*list.cast::<libc::sembuf>().add(n)).sem_op > 0 }
    };
    let given = (0..count).filter(|&n| gives(n)).count();
    if let Some(set) = set
        && given > 0
    {
        a.instant(Send, set, 0);
    }
    taken(a, set.filter(|_| given < count), call, |&done| done == 0)
}

/// Records that `call` gives semaphores values, or asks for them.
pub(crate) fn sets(a: Active, set: c_int, what: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let set = can_order().then(|| object(SEMAPHORES, set.unsigned_abs().into()));
    match what {
        libc::SETVAL | libc::SETALL => {
            if let Some(set) = set {
                a.instant(Send, set, 0);
            }
            call()
        }
        libc::GETVAL | libc::GETALL => taken(a, set, call, |&value| value >= 0),
        _ => call(),
    }
}

/// Records that `call` moves bytes.
pub(crate) fn moves(a: Active, from: c_int, to: c_int, call: impl FnOnce() -> isize) -> isize {
    // Who gets the bytes comes after this thread, but not after those of whom this thread had them
    // only in this call.
    receive(a, from, || send(a, to, call))
}

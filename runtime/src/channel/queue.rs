//! Queues of messages and sets of semaphores of the system, and bytes that the kernel moves from
//! one descriptor to another.

use std::ffi::c_int;

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
    a.sends(queue(number, posix));
    call()
}

/// Records that `call` takes a message from a queue.
pub(crate) fn dequeues(
    a: Active,
    number: c_int,
    posix: bool,
    call: impl FnOnce() -> isize,
) -> isize {
    let object = queue(number, posix);
    a.receives(call, |&bytes| object.filter(|_| bytes >= 0))
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
    a.sends(set.filter(|_| given > 0));
    a.receives(call, |&done| set.filter(|_| given < count && done == 0))
}

/// Records that `call` gives semaphores values, or asks for them.
pub(crate) fn sets(a: Active, set: c_int, what: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let set = can_order().then(|| object(SEMAPHORES, set.unsigned_abs().into()));
    match what {
        libc::SETVAL | libc::SETALL => {
            a.sends(set);
            call()
        }
        libc::GETVAL | libc::GETALL => a.receives(call, |&value| set.filter(|_| value >= 0)),
        _ => call(),
    }
}

/// Records that `call` moves bytes.
pub(crate) fn moves(a: Active, from: c_int, to: c_int, call: impl FnOnce() -> isize) -> isize {
    // Who gets the bytes comes after this thread, but not after those of whom this thread had them
    // only in this call.
    receive(a, from, || send(a, to, call))
}

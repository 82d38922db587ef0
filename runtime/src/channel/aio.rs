//! Reads and writes that the C library makes in the background (`aio_read`, `lio_listio`). Who
//! starts one comes before who learns that it is done, and before who gets what it writes.

use std::ffi::c_int;

use contech_trace::event::SyncOp::{Receive, Send};
use libc::aiocb;

use super::{can_order, learns, object, object_of, sends_signal};
use crate::active::Active;
use crate::real::{Ptr, real};

/// A request is known by the address of its control block.
const REQUEST: u64 = 13;

fn request(block: Ptr) -> Ptr {
    object(REQUEST, block.addr() as u64)
}

/// Records that the requests are about to be made.
fn begin(a: Active, block: Ptr, writes: bool) {
    if block.is_null() || !can_order() {
        return;
    }
    // SAFETY: the program hands this control block to the C library.
    let about = unsafe { &*block.cast::<aiocb>() };
    a.sends(object_of(about.aio_fildes, true).filter(|_| writes));
    a.instant(Send, request(block), 0);
    announces(a, &about.aio_sigevent);
}

/// Records who will be told of the end by a signal.
fn announces(a: Active, how: &libc::sigevent) {
    if how.sigev_notify == libc::SIGEV_SIGNAL {
        sends_signal(a, how.sigev_signo);
    }
}

/// Records that the thread knows that a request is done.
fn end(a: Active, block: Ptr) {
    if block.is_null() || !can_order() {
        return;
    }
    a.instant(Receive, request(block), 0);
    // SAFETY: as in `begin`. The C library notes there what is done.
    let about = unsafe { &*block.cast::<aiocb>() };
    if about.aio_lio_opcode == libc::LIO_READ {
        learns(a, about.aio_fildes);
    }
}

/// Records that `call` makes a request, which writes or not.
pub(crate) fn starts(a: Active, block: Ptr, writes: bool, call: impl FnOnce() -> c_int) -> c_int {
    begin(a, block, writes);
    call()
}

/// Records that `call` asks how far a request is.
pub(crate) fn asks(a: Active, block: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if result != libc::EINPROGRESS {
        end(a, block);
    }
    result
}

/// Records that `call` takes the result of a request, which is done.
pub(crate) fn finishes(a: Active, block: Ptr, call: impl FnOnce() -> isize) -> isize {
    let result = call();
    end(a, block);
    result
}

/// The control blocks of a list.
fn blocks<'a>(list: Ptr, count: c_int) -> impl Iterator<Item = Ptr> + 'a {
    (0..usize::try_from(count).unwrap_or(0)).map(move |n| {
        // SAFETY: the program hands a list of so many entries to the C library.
        unsafe { list.cast::<Ptr>().add(n).read() }
    })
}

/// Records that `call` waits for one of several requests.
pub(crate) fn awaits(a: Active, list: Ptr, count: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let result = a.sleep(call);
    if result == 0 {
        for block in blocks(list, count).filter(|block| !block.is_null()) {
            // SAFETY: as above.
            if unsafe { (real().aio_error)(block) } != libc::EINPROGRESS {
                end(a, block);
            }
        }
    }
    result
}

/// Records that `call` makes several requests, and perhaps waits for all.
pub(crate) fn lists(
    a: Active,
    mode: c_int,
    list: Ptr,
    count: c_int,
    how: Ptr,
    call: impl FnOnce() -> c_int,
) -> c_int {
    for block in blocks(list, count).filter(|block| !block.is_null()) {
        // SAFETY: as above.
        let what = unsafe { (*block.cast::<aiocb>()).aio_lio_opcode };
        if what != libc::LIO_NOP {
            begin(a, block, what == libc::LIO_WRITE);
        }
    }
    if mode != libc::LIO_WAIT {
        // SAFETY: the program hands it to the C library, or null.
        if let Some(how) = unsafe { how.cast::<libc::sigevent>().as_ref() } {
            announces(a, how);
        }
        return call();
    }
    let result = a.sleep(call);
    // An error may be that of one request, and says that all are done.
    for block in blocks(list, count) {
        end(a, block);
    }
    result
}

//! Streams of the C library (`FILE`) whose descriptors order. What is put into a stream goes
//! through the descriptor in that call or in a later one, and what is taken from it has come in
//! that call or in an earlier one.
//!
//! Only streams that the program opens on a pipe, a socket or a counter are looked at, so a program
//! that has none pays for a load in each call.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use contech_interpose::exports;

use super::{object_of, sort_of, theirs};
use crate::active::Active;
use crate::real::{Ptr, real};

/// The addresses of these streams. What finds no room orders nothing.
static STREAMS: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];
/// True once there was one.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whether no stream orders.
#[inline(always)]
pub(crate) fn has_no_streams() -> bool {
    !ANY.load(Relaxed)
}

fn find(stream: usize) -> Option<&'static AtomicUsize> {
    STREAMS.iter().find(|known| known.load(Relaxed) == stream)
}

/// What goes through the descriptor of a stream goes through this object.
fn object(stream: Ptr, sends: bool) -> Option<Ptr> {
    find(stream.addr())?;
    // SAFETY: the program passes a stream that it has opened.
    object_of(unsafe { libc::fileno(stream.cast()) }, sends)
}

/// Notes which stream `call` opens.
pub(crate) fn opens(call: impl FnOnce() -> Ptr) -> Ptr {
    let stream = call();
    if !stream.is_null() {
        forget(stream);
        // SAFETY: the stream was opened here.
        let file = unsafe { libc::fileno(stream.cast()) };
        if let Some((libc::S_IFIFO | libc::S_IFSOCK | 0, _)) = sort_of(file)
            && let Some(free) = find(0)
        {
            free.store(stream.addr(), Relaxed);
            ANY.store(true, Relaxed);
        }
    }
    stream
}

fn forget(stream: Ptr) {
    if let Some(known) = find(stream.addr()) {
        known.store(0, Relaxed);
    }
}

fn sends(a: Active, stream: Ptr) {
    a.sends(object(stream, true));
}

/// Records that `call` puts something into the stream, or all streams if it is null, or lets go of
/// what is in it.
pub(crate) fn puts<R>(a: Active, stream: Ptr, call: impl FnOnce() -> R) -> R {
    if stream.is_null() {
        for known in &STREAMS {
            let stream = known.load(Relaxed);
            if stream != 0 {
                sends(a, std::ptr::with_exposed_provenance_mut(stream));
            }
        }
    } else {
        sends(a, stream);
    }
    call()
}

/// Records that `call` closes the stream.
pub(crate) fn closes(a: Active, stream: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    sends(a, stream);
    forget(stream);
    call()
}

/// Records that `call` takes something from the stream, or learns that nothing more will come.
pub(crate) fn gets<R>(a: Active, stream: Ptr, call: impl FnOnce() -> R) -> R {
    let Some(object) = object(stream, false) else {
        return call();
    };
    a.receives(call, |_| Some(object))
}

/// Exports functions whose arguments only the real ones can read. The stub calls this before, with
/// the stream and the caller's stack pointer, and jumps to the real function.
macro_rules! before {
    ($($name:ident: $does:ident;)*) => {$(
        const _: () = {
            unsafe extern "C" fn hook(stream: Ptr, top: *const usize) -> usize {
                if !has_no_streams()
                    // SAFETY: the return address is below the caller's stack pointer.
                    && let Some(a) = theirs(unsafe { *top.sub(1) })
                {
                    $does(a, stream);
                }
                real().$name as usize
            }
            exports! { $name [before] = hook; }
        };
    )*};
}

before! {
    fprintf: sends;
    __fprintf_chk: sends;
    fscanf: takes;
    __isoc99_fscanf: takes;
}

/// Waits until there is something to take from the stream, and records that it has come.
fn takes(a: Active, stream: Ptr) {
    // SAFETY: the program passes a stream that it has opened. One byte that was just read can be
    // put back.
    gets(a, stream, || unsafe {
        let byte = libc::fgetc(stream.cast());
        libc::ungetc(byte, stream.cast())
    });
}

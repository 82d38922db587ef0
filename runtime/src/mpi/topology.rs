//! Records communicators that are made of others, and freed.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::collective::meets;
use super::model::Request;
use super::{call, state};

/// Records that all ranks of a communicator meet. Each may get a new communicator, whose handle is
/// then at `new`.
pub(super) fn divides(on: usize, new: usize, real: impl FnOnce() -> c_int) -> c_int {
    makes(new, || meets(SyncOp::MpiComm, on, 0, real))
}

/// Makes a communicator known that `real` makes. Only ranks of the new one meet, which makes no
/// task.
pub(super) fn makes(new: usize, real: impl FnOnce() -> c_int) -> c_int {
    let result = real();
    if let (0, Some(call)) = (result, call()) {
        call.made(new);
    }
    result
}

/// Does so once the request is complete.
pub(super) fn makes_later(new: usize, request: usize, real: impl FnOnce() -> c_int) -> c_int {
    let result = real();
    if let (0, Some(call)) = (result, call()) {
        call.keep(request, Request::Communicator(new));
    }
    result
}

/// Forgets a communicator that `real` frees, because another one may get its handle.
pub(super) fn forgets(at: usize, real: impl FnOnce() -> c_int) -> c_int {
    let call = call();
    let handle = call.as_ref().map(|c| c.abi.handle_in(at, 0));
    let result = real();
    if let (0, Some(handle)) = (result, handle) {
        state::with(|t| t.communicators.remove(&handle));
    }
    result
}

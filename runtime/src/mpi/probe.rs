//! Probes that find a message, and receives of what a probe has matched.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::abi::int_at;
use super::model::{Receive, Request};
use super::state;
use super::{Call, call};

/// Records a probe that says at `flag` whether it has found something. One that finds nothing is
/// not recorded, because programs repeat it again and again.
pub(super) fn looks(flag: usize, real: impl FnOnce() -> c_int) -> c_int {
    let call = call();
    let result = real();
    if let (0, Some(call)) = (result, call)
        && int_at(flag, 0) != 0
    {
        call.mark(SyncOp::MpiProbe);
    }
    result
}

/// Records a probe that takes a message, if the int at `found` is not 0 (or `found` itself is). The
/// program receives that message later.
pub(super) fn matches(
    source: usize,
    tag: usize,
    communicator: usize,
    message: usize,
    found: usize,
    status: usize,
    real: impl FnOnce(usize) -> c_int,
) -> c_int {
    let Some(call) = call() else {
        return real(status);
    };
    let receive = call.posting(source, tag, communicator);
    let mut own = [0; 4];
    let (result, status) = call.with_status(status, &mut own, real);
    if result == 0 && (found == 0 || int_at(found, 0) != 0) {
        let (source, tag) = call.abi.envelope(status);
        let receive = Receive { source, tag, ..receive };
        let handle = call.abi.handle_in(message, 0);
        state::with(|t| t.messages.insert(handle, receive));
        call.mark(SyncOp::MpiProbe);
    }
    result
}

/// Records that `real` receives the message that a probe has matched.
pub(super) fn receives_matched(message: usize, real: impl FnOnce() -> c_int) -> c_int {
    matched(message, real, |call, receive| {
        call.received(&receive, 0, &mut call.took());
    })
}

/// Records that `real` begins to receive the message that a probe has matched.
pub(super) fn posts_matched(message: usize, request: usize, real: impl FnOnce() -> c_int) -> c_int {
    matched(message, real, |call, receive| call.keep(request, Request::Receive(receive)))
}

fn matched(
    message: usize,
    real: impl FnOnce() -> c_int,
    then: impl FnOnce(&Call, Receive),
) -> c_int {
    let call = call();
    let taken = call.as_ref().and_then(|call| {
        let handle = call.abi.handle_in(message, 0);
        state::with(|t| t.messages.remove(&handle))
    });
    let result = real();
    if let (0, Some(call), Some(receive)) = (result, call, taken) {
        then(&call, receive);
    }
    result
}

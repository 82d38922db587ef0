//! Records collective operations, blocking and non-blocking ones, with the fences of windows. Other
//! one-sided communication leaves marks.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::abi::int;
use super::state::{self, Request};
use super::{Call, call};

/// Records a blocking operation. Its number is drawn before it, because all ranks call the
/// operations of a communicator in one order.
pub(super) fn meets(
    what: SyncOp,
    communicator: usize,
    root: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(call) = call() else { return real() };
    let with = call.communicator(communicator);
    let number = with.next();
    let result = real();
    if result == 0 {
        if with.between {
            call.mark(SyncOp::MpiNeighbours);
        } else {
            let meeting = with.meeting(what, int(root));
            call.event(what, with.name, number, meeting);
        }
    }
    result
}

/// Records the begin of a non-blocking operation. `request` is the address of its request.
pub(super) fn begins(
    what: SyncOp,
    communicator: usize,
    root: usize,
    request: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(call) = call() else { return real() };
    let with = call.communicator(communicator);
    let number = with.next();
    let result = real();
    if result == 0 && !with.between {
        let meeting = with.meeting(what, int(root));
        call.event(SyncOp::MpiBegin, with.name, number, meeting);
        let end = Request::Collective(with.name, number, meeting);
        call.keep(request, end);
    }
    result
}

/// Records a call as a mark, if it succeeds.
pub(super) fn marks(mark: SyncOp, real: impl FnOnce() -> c_int) -> c_int {
    let call = call();
    let result = real();
    if let (0, Some(call)) = (result, call) {
        call.mark(mark);
    }
    result
}

/// Records that all ranks of a communicator make a window, whose handle is then at `window`.
pub(super) fn opens(on: usize, window: usize, real: impl FnOnce() -> c_int) -> c_int {
    let result = meets(SyncOp::MpiFence, on, 0, real);
    if let (0, Some(call)) = (result, call()) {
        let handle = call.abi.handle_in(window, 0);
        let communicator = call.communicator(on);
        state::with(|t| t.windows.insert(handle, communicator));
    }
    result
}

/// Records a call in which all ranks that share the window meet.
fn all(handle: Option<u64>, call: Option<Call>, real: impl FnOnce() -> c_int) -> c_int {
    let known = handle.and_then(|h| state::with(|t| t.windows.get(&h).cloned()));
    let number = known.as_ref().map(|c| c.next());
    let result = real();
    if let (0, Some(call), Some(with), Some(number)) = (result, call, known, number) {
        let meeting = with.meeting(SyncOp::MpiFence, 0);
        call.event(SyncOp::MpiFence, with.name, number, meeting);
    }
    result
}

pub(super) fn fences(window: usize, real: impl FnOnce() -> c_int) -> c_int {
    let call = call();
    let handle = call.as_ref().map(|c| c.abi.handle(window));
    all(handle, call, real)
}

pub(super) fn closes(window: usize, real: impl FnOnce() -> c_int) -> c_int {
    let call = call();
    let handle = call.as_ref().map(|c| c.abi.handle_in(window, 0));
    let result = all(handle, call, real);
    if let Some(handle) = handle {
        state::with(|t| t.windows.remove(&handle));
    }
    result
}

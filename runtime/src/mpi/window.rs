//! Records fences of windows as collective operations. Other one-sided communication leaves marks.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::collective::meets;
use super::{Call, call, state};

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

//! Records collective operations, blocking and non-blocking ones, and calls of which only a mark is
//! left.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::abi::int;
use super::call;
use super::model::Request;

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

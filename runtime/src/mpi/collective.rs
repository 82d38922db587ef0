//! Records collective operations, blocking and non-blocking ones, with the fences of windows. Other
//! one-sided communication leaves marks.

use std::ffi::c_int;
use std::sync::Arc;

use contech_trace::event::SyncOp;

use super::abi::int;
use super::state::{self, Communicator, Request};
use super::{Call, after, around};

/// Records a blocking operation of all ranks of the communicator that `with` finds. Its number is
/// drawn before it, because all ranks call the operations of a communicator in one order.
fn meet(
    what: SyncOp,
    root: c_int,
    with: impl FnOnce(&Call) -> Option<Arc<Communicator>>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let numbered = |call: &Call| with(call).map(|with| (with.next(), with));
    around(numbered, real, |call, (number, with)| {
        if with.between {
            call.mark(SyncOp::MpiNeighbours);
        } else {
            call.event(what, with.name, number, with.meeting(what, root));
        }
    })
}

pub(super) fn meets(
    what: SyncOp,
    communicator: usize,
    root: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    meet(what, int(root), |call| Some(call.communicator(communicator)), real)
}

/// Records the begin of a non-blocking operation. `request` is the address of its request.
pub(super) fn begins(
    what: SyncOp,
    communicator: usize,
    root: usize,
    request: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let numbered = |call: &Call| {
        let with = call.communicator(communicator);
        Some((with.next(), with))
    };
    around(numbered, real, |call, (number, with)| {
        if !with.between {
            let meeting = with.meeting(what, int(root));
            call.event(SyncOp::MpiBegin, with.name, number, meeting);
            call.keep(request, Request::Collective(with.name, number, meeting));
        }
    })
}

/// Records a call as a mark, if it succeeds.
pub(super) fn marks(mark: SyncOp, real: impl FnOnce() -> c_int) -> c_int {
    around(|_| Some(()), real, |call, ()| call.mark(mark))
}

/// Records that all ranks of a communicator make a window, whose handle is then at `window`.
pub(super) fn opens(on: usize, window: usize, real: impl FnOnce() -> c_int) -> c_int {
    let meets = || meets(SyncOp::MpiFence, on, 0, real);
    after(meets, |call| {
        let handle = call.abi.handle_in(window, 0);
        let communicator = call.communicator(on);
        state::with(|t| t.windows.insert(handle, communicator));
    })
}

/// Records a call in which all ranks that share the window meet.
pub(super) fn fences(window: usize, real: impl FnOnce() -> c_int) -> c_int {
    let with = |call: &Call| {
        let handle = call.abi.handle(window);
        state::with(|t| t.windows.get(&handle).cloned())
    };
    meet(SyncOp::MpiFence, 0, with, real)
}

/// The same of a call that ends the window.
pub(super) fn closes(window: usize, real: impl FnOnce() -> c_int) -> c_int {
    let with = |call: &Call| {
        let handle = call.abi.handle_in(window, 0);
        state::with(|t| t.windows.remove(&handle))
    };
    meet(SyncOp::MpiFence, 0, with, real)
}

//! Messages from one rank to another: blocking and non-blocking sends and receives, and probes.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::abi::{int, int_at};
use super::state::{self, Receive, Request};
use super::{Call, around, call};

impl Call {
    /// Draws a send's place in the order; `None` if the send goes to no rank.
    fn sending(&self, to: usize) -> Option<u64> {
        (int(to) != self.abi.proc_null).then(state::posted)
    }

    /// A receive that is posted now.
    pub(super) fn posting(&self, source: usize, tag: usize, communicator: usize) -> Receive {
        let communicator = self.communicator(communicator);
        Receive { communicator, source: int(source), tag: int(tag), posted: state::posted() }
    }
}

pub(super) fn sends(
    to: usize,
    tag: usize,
    communicator: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    around(
        |call| call.sending(to),
        real,
        |call, posted| {
            let communicator = call.communicator(communicator);
            let peer = communicator.peer(int(to), int(tag));
            call.event(SyncOp::MpiSend, communicator.name, posted, peer);
        },
    )
}

/// Records that `real` posts a receive, which ends with the request.
pub(super) fn posts(
    source: usize,
    tag: usize,
    communicator: usize,
    request: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    around(
        |call| Some(call.posting(source, tag, communicator)),
        real,
        |call, receive| call.keep(request, Request::Receive(receive)),
    )
}

pub(super) fn receives(
    source: usize,
    tag: usize,
    communicator: usize,
    status: usize,
    real: impl FnOnce(usize) -> c_int,
) -> c_int {
    exchange(None, (source, tag), communicator, status, real)
}

pub(super) fn exchanges(
    to: usize,
    send_tag: usize,
    source: usize,
    tag: usize,
    communicator: usize,
    status: usize,
    real: impl FnOnce(usize) -> c_int,
) -> c_int {
    exchange(Some((to, send_tag)), (source, tag), communicator, status, real)
}

/// Records a receive, or a send and a receive in one call as two tasks, the send first.
fn exchange(
    to: Option<(usize, usize)>,
    (source, tag): (usize, usize),
    communicator: usize,
    status: usize,
    real: impl FnOnce(usize) -> c_int,
) -> c_int {
    let posted = |call: &Call| {
        let receive = call.posting(source, tag, communicator);
        (receive, to.and_then(|(to, tag)| Some((to, tag, call.sending(to)?))))
    };
    with_status(posted, status, real, |call, (receive, sent), status| {
        let mut took = call.took();
        if let Some((to, tag, posted)) = sent {
            let with = &receive.communicator;
            let peer = with.peer(int(to), int(tag));
            call.at(SyncOp::MpiSend, with.name, posted, peer, took.0, 0);
        }
        call.received(&receive, status, &mut took);
    })
}

/// Does what [`around`] does for a call that has a status. If the program wants none, the call gets
/// another one.
fn with_status<T>(
    before: impl FnOnce(&Call) -> T,
    status: usize,
    real: impl FnOnce(usize) -> c_int,
    then: impl FnOnce(&Call, T, usize),
) -> c_int {
    let Some(call) = call() else {
        return real(status);
    };
    let noted = before(&call);
    let mut own = [0u64; 4];
    let none = status == call.abi.ignore;
    let status = if none { own.as_mut_ptr().expose_provenance() } else { status };
    let result = real(status);
    if result == 0 {
        then(&call, noted, status);
    }
    result
}

/// Records a probe that says at `flag` whether it has found something. One that finds nothing is
/// not recorded, because programs repeat it again and again.
pub(super) fn looks(flag: usize, real: impl FnOnce() -> c_int) -> c_int {
    around(
        |_| Some(()),
        real,
        |call, ()| {
            if int_at(flag, 0) != 0 {
                call.mark(SyncOp::MpiProbe);
            }
        },
    )
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
    let posted = |call: &Call| call.posting(source, tag, communicator);
    with_status(posted, status, real, |call, receive, status| {
        if found == 0 || int_at(found, 0) != 0 {
            let (source, tag) = call.abi.envelope(status);
            let receive = Receive { source, tag, ..receive };
            let handle = call.abi.handle_in(message, 0);
            state::with(|t| t.messages.insert(handle, receive));
            call.mark(SyncOp::MpiProbe);
        }
    })
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
    let taken = |call: &Call| {
        let handle = call.abi.handle_in(message, 0);
        state::with(|t| t.messages.remove(&handle))
    };
    around(taken, real, then)
}

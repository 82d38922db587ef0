//! Messages from one rank to another: blocking and non-blocking sends and receives, and probes.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::abi::{int, int_at};
use super::state::{self, Receive, Request};
use super::{Call, call};

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

    /// Calls `real` with the program's status, or with another one if the program wants none.
    /// Returns the result and the address of the status.
    pub(super) fn with_status(
        &self,
        status: usize,
        own: &mut [u64; 4],
        real: impl FnOnce(usize) -> c_int,
    ) -> (c_int, usize) {
        let none = status == self.abi.ignore;
        let status = if none { own.as_mut_ptr().expose_provenance() } else { status };
        (real(status), status)
    }
}

pub(super) fn sends(
    to: usize,
    tag: usize,
    communicator: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(call) = call() else { return real() };
    let posted = call.sending(to);
    let result = real();
    if let (0, Some(posted)) = (result, posted) {
        let communicator = call.communicator(communicator);
        let peer = communicator.peer(int(to), int(tag));
        call.event(SyncOp::MpiSend, communicator.name, posted, peer);
    }
    result
}

/// Records that `real` posts a receive, which ends with the request.
pub(super) fn posts(
    source: usize,
    tag: usize,
    communicator: usize,
    request: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let call = call();
    let receive = call.as_ref().map(|c| c.posting(source, tag, communicator));
    let result = real();
    if let (0, Some(call), Some(receive)) = (result, call, receive) {
        call.keep(request, Request::Receive(receive));
    }
    result
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
    let Some(call) = call() else {
        return real(status);
    };
    let receive = call.posting(source, tag, communicator);
    let sent = to.and_then(|(to, tag)| Some((to, tag, call.sending(to)?)));
    let mut own = [0; 4];
    let (result, status) = call.with_status(status, &mut own, real);
    if result == 0 {
        let mut took = call.took();
        if let Some((to, tag, posted)) = sent {
            let with = &receive.communicator;
            let peer = with.peer(int(to), int(tag));
            call.at(SyncOp::MpiSend, with.name, posted, peer, took.0, 0);
        }
        call.received(&receive, status, &mut took);
    }
    result
}

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

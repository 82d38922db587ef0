//! Probes, and receives of what a probe has matched.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::abi::int_at;
use super::collective::marks;
use super::entry::pmpi;
use super::model::{Receive, Request};
use super::point::Status;
use super::state;
use super::{Call, call};

marks! {
    probe Probe (source tag communicator status) MpiProbe;
}

pub(crate) extern "C-unwind" fn iprobe(
    source: usize,
    tag: usize,
    communicator: usize,
    flag: usize,
    status: usize,
) -> c_int {
    let call = call();
    let result = pmpi!(Iprobe(source, tag, communicator, flag, status));
    // A probe that finds nothing is not recorded, because programs repeat it again and again.
    if let (0, Some(call)) = (result, call)
        && int_at(flag, 0) != 0
    {
        call.mark(SyncOp::MpiProbe);
    }
    result
}

pub(crate) extern "C-unwind" fn mprobe(
    source: usize,
    tag: usize,
    communicator: usize,
    message: usize,
    status: usize,
) -> c_int {
    matching(source, tag, communicator, status, message, None, |status| {
        pmpi!(Mprobe(source, tag, communicator, message, status))
    })
}

pub(crate) extern "C-unwind" fn improbe(
    source: usize,
    tag: usize,
    communicator: usize,
    flag: usize,
    message: usize,
    status: usize,
) -> c_int {
    let found = Some(flag);
    matching(source, tag, communicator, status, message, found, |status| {
        pmpi!(Improbe(source, tag, communicator, flag, message, status))
    })
}

/// Records a probe that takes a message. The program receives that message later.
fn matching(
    source: usize,
    tag: usize,
    communicator: usize,
    status: usize,
    message: usize,
    found: Option<usize>,
    real: impl FnOnce(usize) -> c_int,
) -> c_int {
    let Some(call) = call() else {
        return real(status);
    };
    let receive = call.posting(communicator, source, tag);
    let mut own: Status = [0; 4];
    let status = call.status_for(status, &mut own);
    let result = real(status);
    if result == 0 && found.is_none_or(|flag| int_at(flag, 0) != 0) {
        let (source, tag) = call.abi.envelope(status);
        let receive = Receive { source, tag, ..receive };
        let handle = call.abi.handle_in(message, 0);
        state::with(|t| t.messages.insert(handle, Request::Receive(receive)));
        call.mark(SyncOp::MpiProbe);
    }
    result
}

pub(crate) extern "C-unwind" fn mrecv(
    data: usize,
    count: usize,
    kind: usize,
    message: usize,
    status: usize,
) -> c_int {
    let call = call();
    let matched = call.as_ref().and_then(|c| take(c, message));
    let result = pmpi!(Mrecv(data, count, kind, message, status));
    if let (0, Some(call), Some(Request::Receive(receive))) = (result, call, matched) {
        call.received(&receive, 0, &mut call.took());
    }
    result
}

pub(crate) extern "C-unwind" fn imrecv(
    data: usize,
    count: usize,
    kind: usize,
    message: usize,
    request: usize,
) -> c_int {
    let call = call();
    let matched = call.as_ref().and_then(|c| take(c, message));
    let result = pmpi!(Imrecv(data, count, kind, message, request));
    if let (0, Some(call), Some(matched)) = (result, call, matched) {
        call.keep(request, matched);
    }
    result
}

fn take(call: &Call, message: usize) -> Option<Request> {
    let handle = call.abi.handle_in(message, 0);
    state::with(|t| t.messages.remove(&handle))
}

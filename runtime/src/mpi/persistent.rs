//! Persistent requests, and requests that are freed or cancelled.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_trace::event::SyncOp;

use super::abi::int;
use super::model::{Receive, Request};
use super::{Call, call, request, state};

/// True once a request was cancelled. From then on each status is looked at.
static CANCELS: AtomicBool = AtomicBool::new(false);

pub(super) fn may_be_cancelled() -> bool {
    CANCELS.load(Relaxed)
}

/// Records that `real` makes a request that sends or receives each time it is started.
pub(super) fn prepares(
    send: bool,
    peer: usize,
    tag: usize,
    communicator: usize,
    request: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let result = real();
    if let (0, Some(call)) = (result, call()) {
        let communicator = call.communicator(communicator);
        let message = Receive { communicator, source: int(peer), tag: int(tag), posted: 0 };
        call.keep(request, Request::Persistent { send, message, goes_on: false });
    }
    result
}

impl Call {
    /// Prepares the start of a persistent request. If it is a send, returns what is sent.
    fn starting(&self, handle: u64) -> Option<Receive> {
        let posted = state::posted();
        state::with(|t| match t.requests.get_mut(&handle)?.front_mut()? {
            Request::Persistent { send, message, goes_on } => {
                message.posted = posted;
                *goes_on = !*send;
                send.then(|| message.clone())
            }
            _ => None,
        })
    }
}

/// Records that `real` starts persistent requests.
pub(super) fn starts(count: usize, requests: usize, real: impl FnOnce() -> c_int) -> c_int {
    let Some(call) = call() else { return real() };
    let count = usize::try_from(int(count)).unwrap_or(0);
    let begun: Vec<_> =
        (0..count).filter_map(|at| call.starting(call.abi.handle_in(requests, at))).collect();
    let result = real();
    if result == 0 {
        for sent in begun.iter().filter(|sent| sent.source != call.abi.proc_null) {
            let peer = sent.communicator.peer(sent.source, sent.tag);
            call.event(SyncOp::MpiSend, sent.communicator.name, sent.posted, peer);
        }
    }
    result
}

pub(super) fn frees(request: usize, real: impl FnOnce() -> c_int) -> c_int {
    let call = call();
    let handle = call.as_ref().map(|c| c.abi.handle_in(request, 0));
    let result = real();
    if let (0, Some(handle)) = (result, handle) {
        request::forget(handle);
    }
    result
}

pub(super) fn cancels(real: impl FnOnce() -> c_int) -> c_int {
    CANCELS.store(true, Relaxed);
    real()
}

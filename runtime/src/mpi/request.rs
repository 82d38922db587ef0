//! What requests stand for until they are complete, freed or cancelled; persistent requests.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_trace::event::SyncOp;

use super::abi::int;
use super::entry::{pmpi, stored};
use super::state::{self, Receive, Request};
use super::{Call, after, around};

impl Call {
    /// Whether only the status tells source and tag of the message.
    pub(super) fn is_wild(&self, source: c_int, tag: c_int) -> bool {
        source == self.abi.any_source || tag == self.abi.any_tag
    }

    /// Keeps what the request at an address stands for.
    pub(super) fn keep(&self, at: usize, request: Request) {
        let handle = self.abi.handle_in(at, 0);
        if handle != self.abi.handle(self.abi.no_request.word()) {
            state::with(|t| t.requests.entry(handle).or_default().push_back(request));
        }
    }

    /// What a request stands for.
    pub(super) fn known(&self, handle: u64) -> Option<Request> {
        state::with(|t| t.requests.get(&handle)?.front().cloned())
    }

    /// Takes a request that is complete, and records what it stands for. `status` is that of the
    /// request, or 0. Returns whether anything was recorded.
    pub(super) fn complete(&self, handle: u64, status: usize, took: &mut (u64, u64)) -> bool {
        match take(handle) {
            Some(
                Request::Receive(receive)
                | Request::Persistent { message: receive, goes_on: true, .. },
            ) => self.received(&receive, status, took),
            Some(Request::Collective(name, number, meeting)) => {
                self.further(SyncOp::MpiEnd, name, number, meeting, took);
                true
            }
            Some(Request::Communicator(at)) => {
                self.made(at);
                false
            }
            Some(Request::Persistent { .. }) | None => false,
        }
    }

    /// Records the end of a receive. Returns false if it got no message.
    pub(super) fn received(&self, receive: &Receive, status: usize, took: &mut (u64, u64)) -> bool {
        let mut envelope = (receive.source, receive.tag);
        if status != 0 {
            if self.is_cancelled(status) {
                return false;
            }
            envelope = self.abi.envelope(status);
        }
        if envelope.0 == self.abi.proc_null || self.is_wild(envelope.0, envelope.1) {
            return false;
        }
        let communicator = &receive.communicator;
        let peer = communicator.peer(envelope.0, envelope.1);
        self.further(SyncOp::MpiRecv, communicator.name, receive.posted, peer, took);
        true
    }

    fn is_cancelled(&self, status: usize) -> bool {
        stored::<c_int>(|at| pmpi!(PMPI_Test_cancelled(status, at))) != 0
    }
}

/// Takes what a request stands for. A persistent request stays, at rest.
fn take(handle: u64) -> Option<Request> {
    state::with(|t| {
        let queue: &mut VecDeque<Request> = t.requests.get_mut(&handle)?;
        if let Some(persistent @ Request::Persistent { .. }) = queue.front_mut() {
            let was = persistent.clone();
            if let Request::Persistent { goes_on, .. } = persistent {
                *goes_on = false;
            }
            return Some(was);
        }
        let taken = queue.pop_front();
        if queue.is_empty() {
            t.requests.remove(&handle);
        }
        taken
    })
}

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
    after(real, |call| {
        let communicator = call.communicator(communicator);
        let message = Receive { communicator, source: int(peer), tag: int(tag), posted: 0 };
        call.keep(request, Request::Persistent { send, message, goes_on: false });
    })
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
    let count = usize::try_from(int(count)).unwrap_or(0);
    let begun = |call: &Call| {
        let handles = (0..count).map(|at| call.abi.handle_in(requests, at));
        Some(handles.filter_map(|handle| call.starting(handle)).collect::<Vec<_>>())
    };
    around(begun, real, |call, begun| {
        for sent in begun.iter().filter(|sent| sent.source != call.abi.proc_null) {
            let peer = sent.communicator.peer(sent.source, sent.tag);
            call.event(SyncOp::MpiSend, sent.communicator.name, sent.posted, peer);
        }
    })
}

pub(super) fn frees(request: usize, real: impl FnOnce() -> c_int) -> c_int {
    around(
        |call| Some(call.abi.handle_in(request, 0)),
        real,
        |_, handle| drop(state::with(|t| t.requests.remove(&handle))),
    )
}

pub(super) fn cancels(real: impl FnOnce() -> c_int) -> c_int {
    CANCELS.store(true, Relaxed);
    real()
}

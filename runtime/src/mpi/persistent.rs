//! Persistent requests, and requests that are freed or cancelled.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_trace::event::SyncOp;

use super::abi::int;
use super::entry::pmpi;
use super::model::{Persistent, Request};
use super::request;
use super::{Call, call, state};

/// True once a request was cancelled. From then on each status is looked at.
static CANCELS: AtomicBool = AtomicBool::new(false);

pub(super) fn may_be_cancelled() -> bool {
    CANCELS.load(Relaxed)
}

fn made(send: bool, peer: usize, tag: usize, communicator: usize, request: usize) {
    if let Some(call) = call() {
        let persistent = Persistent {
            send,
            communicator: call.communicator(communicator),
            peer: int(peer),
            tag: int(tag),
            posted: None,
        };
        call.keep(request, Request::Persistent(persistent));
    }
}

macro_rules! inits {
    ($($name:ident $real:ident $send:literal;)*) => {$(
        pub(crate) extern "C-unwind" fn $name(
            data: usize, count: usize, kind: usize, peer: usize, tag: usize, communicator: usize, request: usize,
        ) -> c_int {
            let result = pmpi!($real(data, count, kind, peer, tag, communicator, request));
            if result == 0 {
                made($send, peer, tag, communicator, request);
            }
            result
        }
    )*};
}

inits! {
    send_init Send_init true;
    ssend_init Ssend_init true;
    bsend_init Bsend_init true;
    rsend_init Rsend_init true;
    recv_init Recv_init false;
}

impl Call {
    /// Prepares the start of a persistent request. If it is a send, returns the request and its
    /// place in the order.
    fn starting(&self, handle: u64) -> Option<(Persistent, u64)> {
        let posted = state::posted();
        state::with(|t| match t.requests.get_mut(&handle)?.front_mut()? {
            Request::Persistent(p) if p.send => Some((p.clone(), posted)),
            Request::Persistent(p) => {
                p.posted = Some(posted);
                None
            }
            _ => None,
        })
    }

    fn started(&self, begun: &[(Persistent, u64)]) {
        for (p, posted) in begun {
            if p.peer != self.abi.proc_null {
                let peer = p.communicator.peer(p.peer, p.tag);
                self.event(SyncOp::MpiSend, p.communicator.name, *posted, peer);
            }
        }
    }
}

pub(crate) extern "C-unwind" fn start(request: usize) -> c_int {
    start_all(1, request, || pmpi!(Start(request)))
}

pub(crate) extern "C-unwind" fn startall(count: usize, requests: usize) -> c_int {
    start_all(int(count), requests, || pmpi!(Startall(count, requests)))
}

fn start_all(count: c_int, requests: usize, real: impl FnOnce() -> c_int) -> c_int {
    let Some(call) = call() else { return real() };
    let count = usize::try_from(count).unwrap_or(0);
    let begun: Vec<_> =
        (0..count).filter_map(|at| call.starting(call.abi.handle_in(requests, at))).collect();
    let result = real();
    if result == 0 {
        call.started(&begun);
    }
    result
}

pub(crate) extern "C-unwind" fn free(request: usize) -> c_int {
    let call = call();
    let handle = call.as_ref().map(|c| c.abi.handle_in(request, 0));
    let result = pmpi!(Request_free(request));
    if let (0, Some(handle)) = (result, handle) {
        request::forget(handle);
    }
    result
}

pub(crate) extern "C-unwind" fn cancel(request: usize) -> c_int {
    CANCELS.store(true, Relaxed);
    pmpi!(Cancel(request))
}

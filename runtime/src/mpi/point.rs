//! Messages from one rank to another: blocking and non-blocking sends and receives.

use std::ffi::c_int;
use std::sync::Arc;

use contech_trace::event::SyncOp;

use super::abi::int;
use super::entry::pmpi;
use super::model::Communicator;
use super::model::{Receive, Request};
use super::{Call, call, state};

/// A status, as wide as the widest of all interfaces.
pub(super) type Status = [u64; 4];

impl Call {
    /// Draws a send's place in the order; `None` if the send goes to no rank.
    pub(super) fn sending(&self, to: usize) -> Option<u64> {
        (int(to) != self.abi.proc_null).then(state::posted)
    }

    pub(super) fn sent(&self, posted: u64, communicator: usize, to: usize, tag: usize) {
        let communicator = self.communicator(communicator);
        let peer = communicator.peer(int(to), int(tag));
        self.event(SyncOp::MpiSend, communicator.name, posted, peer);
    }

    /// A receive that is posted now.
    pub(super) fn posting(&self, communicator: usize, source: usize, tag: usize) -> Receive {
        let communicator: Arc<Communicator> = self.communicator(communicator);
        Receive { communicator, source: int(source), tag: int(tag), posted: state::posted() }
    }
}

fn send(to: usize, tag: usize, communicator: usize, real: impl FnOnce() -> c_int) -> c_int {
    let Some(call) = call() else { return real() };
    let posted = call.sending(to);
    let result = real();
    if let (0, Some(posted)) = (result, posted) {
        call.sent(posted, communicator, to, tag);
    }
    result
}

macro_rules! sends {
    ($($name:ident $real:ident $begun:ident $begin:ident;)*) => {$(
        pub(crate) extern "C-unwind" fn $name(
            data: usize, count: usize, kind: usize, to: usize, tag: usize, communicator: usize,
        ) -> c_int {
            send(to, tag, communicator, || pmpi!($real(data, count, kind, to, tag, communicator)))
        }

        pub(crate) extern "C-unwind" fn $begun(
            data: usize, count: usize, kind: usize, to: usize, tag: usize, communicator: usize, request: usize,
        ) -> c_int {
            send(to, tag, communicator, || pmpi!($begin(data, count, kind, to, tag, communicator, request)))
        }
    )*};
}

sends! {
    standard Send isend Isend;
    synchronous Ssend issend Issend;
    buffered Bsend ibsend Ibsend;
    ready Rsend irsend Irsend;
}

impl Call {
    /// The program's status, or `own` if the program wants none.
    pub(super) fn status_for(&self, status: usize, own: &mut Status) -> usize {
        if status == self.abi.ignore { own.as_mut_ptr().expose_provenance() } else { status }
    }
}

pub(crate) extern "C-unwind" fn irecv(
    data: usize,
    count: usize,
    kind: usize,
    source: usize,
    tag: usize,
    communicator: usize,
    request: usize,
) -> c_int {
    let call = call();
    let receive = call.as_ref().map(|c| c.posting(communicator, source, tag));
    let result = pmpi!(Irecv(data, count, kind, source, tag, communicator, request));
    if let (0, Some(call), Some(receive)) = (result, call, receive) {
        call.keep(request, Request::Receive(receive));
    }
    result
}

macro_rules! exchanges {
    ($($name:ident $real:ident ($($argument:ident)*) $to:expr, $from:expr, $communicator:ident;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "as MPI has it")]
        pub(crate) extern "C-unwind" fn $name($($argument: usize,)* status: usize) -> c_int {
            exchange($to, $from, $communicator, status, |status| pmpi!($real($($argument,)* status)))
        }
    )*};
}

exchanges! {
    recv Recv (data count kind source tag on) None, (source, tag), on;
    sendrecv Sendrecv (data count kind to send_tag into room into_kind source tag on) Some((to, send_tag)), (source, tag), on;
    sendrecv_replace Sendrecv_replace (data count kind to send_tag source tag on) Some((to, send_tag)), (source, tag), on;
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
    let receive = call.posting(communicator, source, tag);
    let sent = to.and_then(|(to, tag)| Some((to, tag, call.sending(to)?)));
    let mut own: Status = [0; 4];
    let status = call.status_for(status, &mut own);
    let result = real(status);
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

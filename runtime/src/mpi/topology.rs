//! Records communicators that are made of others, and freed.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::call;
use super::collective::meet;
use super::entry::pmpi;
use super::model::Request;
use super::state;

/// Functions in which all ranks of the old communicator meet. Each may get a new communicator.
macro_rules! meetings {
    ($($name:ident $real:ident ($on:ident $($argument:ident)*) $made:ident;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "as MPI has it")]
        pub(crate) extern "C-unwind" fn $name($on: usize, $($argument: usize,)* $made: usize) -> c_int {
            let result = meet($on, SyncOp::MpiComm, 0, || pmpi!($real($on, $($argument,)* $made)));
            made(result, $made)
        }
    )*};
}

/// Functions in which only ranks of the new communicator meet. They make no task.
macro_rules! others {
    ($($name:ident $real:ident ($($argument:ident)*) $made:ident;)*) => {$(
        pub(crate) extern "C-unwind" fn $name($($argument: usize,)* $made: usize) -> c_int {
            made(pmpi!($real($($argument,)* $made)), $made)
        }
    )*};
}

/// Makes a new communicator known, whose handle is at an address.
fn made(result: c_int, at: usize) -> c_int {
    if let (0, Some(call)) = (result, call()) {
        call.made(at);
    }
    result
}

meetings! {
    dup Comm_dup (on) new;
    dup_with_info Comm_dup_with_info (on info) new;
    split Comm_split (on color key) new;
    split_type Comm_split_type (on kind key info) new;
    create Comm_create (on group) new;
    cart_create Cart_create (on dimensions sizes periods reorder) new;
    cart_sub Cart_sub (on remain) new;
    graph_create Graph_create (on nodes index edges reorder) new;
    dist_graph_create Dist_graph_create (on n sources degrees destinations weights info reorder) new;
    dist_graph_create_adjacent Dist_graph_create_adjacent
        (on indegree sources weights outdegree destinations out_weights info reorder) new;
}

others! {
    create_group Comm_create_group (on group tag) new;
    intercomm_create Intercomm_create (on leader peer remote tag) new;
    intercomm_merge Intercomm_merge (on high) new;
}

pub(crate) extern "C-unwind" fn idup(on: usize, new: usize, request: usize) -> c_int {
    let result = pmpi!(Comm_idup(on, new, request));
    if let (0, Some(call)) = (result, call()) {
        call.keep(request, Request::Communicator(new));
    }
    result
}

pub(crate) extern "C-unwind" fn free(communicator: usize) -> c_int {
    gone(communicator, || pmpi!(Comm_free(communicator)))
}

pub(crate) extern "C-unwind" fn disconnect(communicator: usize) -> c_int {
    gone(communicator, || pmpi!(Comm_disconnect(communicator)))
}

/// Forgets a communicator that was freed, because another one may get its handle.
fn gone(at: usize, real: impl FnOnce() -> c_int) -> c_int {
    let call = call();
    let handle = call.as_ref().map(|c| c.abi.handle_in(at, 0));
    let result = real();
    if let (0, Some(handle)) = (result, handle) {
        state::with(|t| t.communicators.remove(&handle));
    }
    result
}

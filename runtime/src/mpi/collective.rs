//! Records collective operations, blocking and non-blocking ones.

use std::ffi::c_int;

use contech_trace::event::SyncOp;

use super::abi::int;
use super::entry::pmpi;
use super::model::Request;
use super::{Call, call};

/// Records a blocking operation. Its number is drawn before it, because all ranks call the
/// operations of a communicator in one order.
pub(super) fn meet(
    communicator: usize,
    what: SyncOp,
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
fn begin(
    communicator: usize,
    what: SyncOp,
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

macro_rules! collectives {
    ($($name:ident $real:ident $begun:ident $begin:ident ($($argument:ident)*) $what:ident $communicator:ident $root:expr;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "as MPI has it")]
        pub(crate) extern "C-unwind" fn $name($($argument: usize),*) -> c_int {
            meet($communicator, SyncOp::$what, $root, || pmpi!($real($($argument),*)))
        }

        #[allow(clippy::too_many_arguments, reason = "as MPI has it")]
        pub(crate) extern "C-unwind" fn $begun($($argument: usize,)* request: usize) -> c_int {
            begin($communicator, SyncOp::$what, $root, request, || pmpi!($begin($($argument,)* request)))
        }
    )*};
}

collectives! {
    barrier Barrier ibarrier Ibarrier (on) MpiBarrier on 0;
    bcast Bcast ibcast Ibcast (data count kind root on) MpiBcast on root;
    scatter Scatter iscatter Iscatter (data count kind into room as_kind root on) MpiScatter on root;
    scatterv Scatterv iscatterv Iscatterv (data counts places kind into room as_kind root on) MpiScatter on root;
    gather Gather igather Igather (data count kind into room as_kind root on) MpiGather on root;
    gatherv Gatherv igatherv Igatherv (data count kind into rooms places as_kind root on) MpiGather on root;
    reduce Reduce ireduce Ireduce (data into count kind op root on) MpiReduce on root;
    allreduce Allreduce iallreduce Iallreduce (data into count kind op on) MpiAllreduce on 0;
    allgather Allgather iallgather Iallgather (data count kind into room as_kind on) MpiAllgather on 0;
    allgatherv Allgatherv iallgatherv Iallgatherv (data count kind into rooms places as_kind on) MpiAllgather on 0;
    alltoall Alltoall ialltoall Ialltoall (data count kind into room as_kind on) MpiAlltoall on 0;
    alltoallv Alltoallv ialltoallv Ialltoallv (data counts places kind into rooms to as_kind on) MpiAlltoall on 0;
    alltoallw Alltoallw ialltoallw Ialltoallw (data counts places kinds into rooms to as_kinds on) MpiAlltoall on 0;
    reduce_scatter Reduce_scatter ireduce_scatter Ireduce_scatter (data into counts kind op on) MpiReduceScatter on 0;
    reduce_scatter_block Reduce_scatter_block ireduce_scatter_block Ireduce_scatter_block
        (data into count kind op on) MpiReduceScatter on 0;
    scan Scan iscan Iscan (data into count kind op on) MpiScan on 0;
    exscan Exscan iexscan Iexscan (data into count kind op on) MpiExscan on 0;
}

impl Call {
    /// Records a call as a mark, if it succeeded.
    pub(super) fn marked(call: Option<Self>, mark: SyncOp, result: c_int) -> c_int {
        if let (0, Some(call)) = (result, call) {
            call.mark(mark);
        }
        result
    }
}

macro_rules! marks {
    ($($name:ident $real:ident ($($argument:ident)*) $mark:ident;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "as MPI has it")]
        pub(crate) extern "C-unwind" fn $name($($argument: usize),*) -> c_int {
            let call = call();
            let result = pmpi!($real($($argument),*));
            Call::marked(call, SyncOp::$mark, result)
        }
    )*};
}
pub(crate) use marks;

marks! {
    neighbor_allgather Neighbor_allgather (a b c d e f on) MpiNeighbours;
    neighbor_allgatherv Neighbor_allgatherv (a b c d e f g on) MpiNeighbours;
    neighbor_alltoall Neighbor_alltoall (a b c d e f on) MpiNeighbours;
    neighbor_alltoallv Neighbor_alltoallv (a b c d e f g h on) MpiNeighbours;
}

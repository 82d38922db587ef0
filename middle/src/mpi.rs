//! What the events of MPI are in the graph.

use contech_trace::mpi::{Collective, Direction, Mark, Meeting};
use taskgraph::SyncOp;

/// Whether all who take part in the blocking operation come before all.
pub(crate) fn is_barrier(aux: u64) -> bool {
    Meeting::unpack(aux).is_some_and(|m| m.direction() == Direction::All)
}

/// The name of a collective operation.
pub(crate) fn collective(aux: u64) -> SyncOp {
    let Some(meeting) = Meeting::unpack(aux) else {
        return SyncOp::Other;
    };
    match meeting.what {
        Collective::Barrier => SyncOp::MpiBarrier,
        Collective::Bcast => SyncOp::MpiBcast,
        Collective::Scatter => SyncOp::MpiScatter,
        Collective::Gather => SyncOp::MpiGather,
        Collective::Reduce => SyncOp::MpiReduce,
        Collective::Allreduce => SyncOp::MpiAllreduce,
        Collective::Allgather => SyncOp::MpiAllgather,
        Collective::Alltoall => SyncOp::MpiAlltoall,
        Collective::ReduceScatter => SyncOp::MpiReduceScatter,
        Collective::Scan => SyncOp::MpiScan,
        Collective::Exscan => SyncOp::MpiExscan,
        Collective::Comm => SyncOp::MpiComm,
        Collective::Fence => SyncOp::MpiFence,
    }
}

/// The name of a mark.
pub(crate) fn mark(aux: u64) -> SyncOp {
    match Mark::from_u8(aux.to_le_bytes()[0]) {
        Some(Mark::Init) => SyncOp::MpiInit,
        Some(Mark::Finalize) => SyncOp::MpiFinalize,
        Some(Mark::Probe) => SyncOp::MpiProbe,
        Some(Mark::Put) => SyncOp::MpiPut,
        Some(Mark::Get) => SyncOp::MpiGet,
        Some(Mark::Accumulate) => SyncOp::MpiAccumulate,
        Some(Mark::Window) => SyncOp::MpiWindow,
        Some(Mark::Neighbours) => SyncOp::MpiNeighbours,
        Some(Mark::Abort) => SyncOp::MpiAbort,
        None => SyncOp::Other,
    }
}

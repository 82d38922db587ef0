//! The functions of MPI that recorder and observer intercept.

/// Expands `$listener!` with a row for every function:
///
/// ```text
/// name, name of the profiling interface, name the recorder exports: [what the recorder does] [wait state];
/// ```
///
/// The recorder does `(ARGUMENTS) WHAT GIVEN`: its function of that name gets those arguments that
/// are named again (the others have letters), and the call. `as OP` stands for an event. With
/// `status`, the function has one more argument, a status that the recorder may have filled in where
/// the program wants none.
/// `own NAME` is a function of the recorder that takes the arguments itself. Only calls that the
/// observer counts as waiting have a wait state.
#[macro_export]
macro_rules! for_each_mpi_function {
    ($listener:ident!) => { $listener! {
        MPI_Init PMPI_Init __contech_MPI_Init: [(a b) initialises] [];
        MPI_Init_thread PMPI_Init_thread __contech_MPI_Init_thread: [(a b c d) initialises] [];
        MPI_Finalize PMPI_Finalize __contech_MPI_Finalize: [() finalises] [];
        MPI_Abort PMPI_Abort __contech_MPI_Abort: [(a code) aborts code] [];

        MPI_Send PMPI_Send __contech_MPI_Send: [(a b c to tag on) sends to tag on] [Message];
        MPI_Ssend PMPI_Ssend __contech_MPI_Ssend: [(a b c to tag on) sends to tag on] [Message];
        MPI_Bsend PMPI_Bsend __contech_MPI_Bsend: [(a b c to tag on) sends to tag on] [Message];
        MPI_Rsend PMPI_Rsend __contech_MPI_Rsend: [(a b c to tag on) sends to tag on] [Message];
        MPI_Isend PMPI_Isend __contech_MPI_Isend: [(a b c to tag on d) sends to tag on] [];
        MPI_Issend PMPI_Issend __contech_MPI_Issend: [(a b c to tag on d) sends to tag on] [];
        MPI_Ibsend PMPI_Ibsend __contech_MPI_Ibsend: [(a b c to tag on d) sends to tag on] [];
        MPI_Irsend PMPI_Irsend __contech_MPI_Irsend: [(a b c to tag on d) sends to tag on] [];
        MPI_Recv PMPI_Recv __contech_MPI_Recv: [(a b c source tag on) status receives source tag on] [Message];
        MPI_Irecv PMPI_Irecv __contech_MPI_Irecv: [(a b c source tag on request) posts source tag on request] [];
        MPI_Sendrecv PMPI_Sendrecv __contech_MPI_Sendrecv:
            [(a b c to send_tag d e f source tag on) status exchanges to send_tag source tag on] [Message];
        MPI_Sendrecv_replace PMPI_Sendrecv_replace __contech_MPI_Sendrecv_replace:
            [(a b c to send_tag source tag on) status exchanges to send_tag source tag on] [Message];

        MPI_Send_init PMPI_Send_init __contech_MPI_Send_init: [(a b c peer tag on request) prepares true peer tag on request] [];
        MPI_Ssend_init PMPI_Ssend_init __contech_MPI_Ssend_init: [(a b c peer tag on request) prepares true peer tag on request] [];
        MPI_Bsend_init PMPI_Bsend_init __contech_MPI_Bsend_init: [(a b c peer tag on request) prepares true peer tag on request] [];
        MPI_Rsend_init PMPI_Rsend_init __contech_MPI_Rsend_init: [(a b c peer tag on request) prepares true peer tag on request] [];
        MPI_Recv_init PMPI_Recv_init __contech_MPI_Recv_init: [(a b c peer tag on request) prepares false peer tag on request] [];
        MPI_Start PMPI_Start __contech_MPI_Start: [(request) starts 1 request] [];
        MPI_Startall PMPI_Startall __contech_MPI_Startall: [(count requests) starts count requests] [];
        MPI_Request_free PMPI_Request_free __contech_MPI_Request_free: [(request) frees request] [];
        MPI_Cancel PMPI_Cancel __contech_MPI_Cancel: [(a) cancels] [];

        MPI_Probe PMPI_Probe __contech_MPI_Probe: [(a b c d) marks as MpiProbe] [Message];
        MPI_Iprobe PMPI_Iprobe __contech_MPI_Iprobe: [(a b c flag d) looks flag] [];
        MPI_Mprobe PMPI_Mprobe __contech_MPI_Mprobe: [(source tag on message) status matches source tag on message 0] [Message];
        MPI_Improbe PMPI_Improbe __contech_MPI_Improbe: [(source tag on flag message) status matches source tag on message flag] [];
        MPI_Mrecv PMPI_Mrecv __contech_MPI_Mrecv: [(a b c message d) receives_matched message] [Message];
        MPI_Imrecv PMPI_Imrecv __contech_MPI_Imrecv: [(a b c message request) posts_matched message request] [];

        MPI_Wait PMPI_Wait __contech_MPI_Wait: [own wait] [Message];
        MPI_Waitall PMPI_Waitall __contech_MPI_Waitall: [own waitall] [Message];
        MPI_Waitany PMPI_Waitany __contech_MPI_Waitany: [own waitany] [Message];
        MPI_Waitsome PMPI_Waitsome __contech_MPI_Waitsome: [own waitsome] [Message];
        MPI_Test PMPI_Test __contech_MPI_Test: [own test] [];
        MPI_Testall PMPI_Testall __contech_MPI_Testall: [own testall] [];
        MPI_Testany PMPI_Testany __contech_MPI_Testany: [own testany] [];
        MPI_Testsome PMPI_Testsome __contech_MPI_Testsome: [own testsome] [];

        MPI_Barrier PMPI_Barrier __contech_MPI_Barrier: [(on) meets as MpiBarrier on 0] [Message];
        MPI_Ibarrier PMPI_Ibarrier __contech_MPI_Ibarrier: [(on request) begins as MpiBarrier on 0 request] [];
        MPI_Bcast PMPI_Bcast __contech_MPI_Bcast: [(a b c root on) meets as MpiBcast on root] [Message];
        MPI_Ibcast PMPI_Ibcast __contech_MPI_Ibcast: [(a b c root on request) begins as MpiBcast on root request] [];
        MPI_Scatter PMPI_Scatter __contech_MPI_Scatter: [(a b c d e f root on) meets as MpiScatter on root] [Message];
        MPI_Iscatter PMPI_Iscatter __contech_MPI_Iscatter: [(a b c d e f root on request) begins as MpiScatter on root request] [];
        MPI_Scatterv PMPI_Scatterv __contech_MPI_Scatterv: [(a b c d e f g root on) meets as MpiScatter on root] [Message];
        MPI_Iscatterv PMPI_Iscatterv __contech_MPI_Iscatterv: [(a b c d e f g root on request) begins as MpiScatter on root request] [];
        MPI_Gather PMPI_Gather __contech_MPI_Gather: [(a b c d e f root on) meets as MpiGather on root] [Message];
        MPI_Igather PMPI_Igather __contech_MPI_Igather: [(a b c d e f root on request) begins as MpiGather on root request] [];
        MPI_Gatherv PMPI_Gatherv __contech_MPI_Gatherv: [(a b c d e f g root on) meets as MpiGather on root] [Message];
        MPI_Igatherv PMPI_Igatherv __contech_MPI_Igatherv: [(a b c d e f g root on request) begins as MpiGather on root request] [];
        MPI_Reduce PMPI_Reduce __contech_MPI_Reduce: [(a b c d e root on) meets as MpiReduce on root] [Message];
        MPI_Ireduce PMPI_Ireduce __contech_MPI_Ireduce: [(a b c d e root on request) begins as MpiReduce on root request] [];
        MPI_Allreduce PMPI_Allreduce __contech_MPI_Allreduce: [(a b c d e on) meets as MpiAllreduce on 0] [Message];
        MPI_Iallreduce PMPI_Iallreduce __contech_MPI_Iallreduce: [(a b c d e on request) begins as MpiAllreduce on 0 request] [];
        MPI_Allgather PMPI_Allgather __contech_MPI_Allgather: [(a b c d e f on) meets as MpiAllgather on 0] [Message];
        MPI_Iallgather PMPI_Iallgather __contech_MPI_Iallgather: [(a b c d e f on request) begins as MpiAllgather on 0 request] [];
        MPI_Allgatherv PMPI_Allgatherv __contech_MPI_Allgatherv: [(a b c d e f g on) meets as MpiAllgather on 0] [Message];
        MPI_Iallgatherv PMPI_Iallgatherv __contech_MPI_Iallgatherv: [(a b c d e f g on request) begins as MpiAllgather on 0 request] [];
        MPI_Alltoall PMPI_Alltoall __contech_MPI_Alltoall: [(a b c d e f on) meets as MpiAlltoall on 0] [Message];
        MPI_Ialltoall PMPI_Ialltoall __contech_MPI_Ialltoall: [(a b c d e f on request) begins as MpiAlltoall on 0 request] [];
        MPI_Alltoallv PMPI_Alltoallv __contech_MPI_Alltoallv: [(a b c d e f g h on) meets as MpiAlltoall on 0] [Message];
        MPI_Ialltoallv PMPI_Ialltoallv __contech_MPI_Ialltoallv: [(a b c d e f g h on request) begins as MpiAlltoall on 0 request] [];
        MPI_Alltoallw PMPI_Alltoallw __contech_MPI_Alltoallw: [(a b c d e f g h on) meets as MpiAlltoall on 0] [Message];
        MPI_Ialltoallw PMPI_Ialltoallw __contech_MPI_Ialltoallw: [(a b c d e f g h on request) begins as MpiAlltoall on 0 request] [];
        MPI_Reduce_scatter PMPI_Reduce_scatter __contech_MPI_Reduce_scatter: [(a b c d e on) meets as MpiReduceScatter on 0] [Message];
        MPI_Ireduce_scatter PMPI_Ireduce_scatter __contech_MPI_Ireduce_scatter:
            [(a b c d e on request) begins as MpiReduceScatter on 0 request] [];
        MPI_Reduce_scatter_block PMPI_Reduce_scatter_block __contech_MPI_Reduce_scatter_block:
            [(a b c d e on) meets as MpiReduceScatter on 0] [Message];
        MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block __contech_MPI_Ireduce_scatter_block:
            [(a b c d e on request) begins as MpiReduceScatter on 0 request] [];
        MPI_Scan PMPI_Scan __contech_MPI_Scan: [(a b c d e on) meets as MpiScan on 0] [Message];
        MPI_Iscan PMPI_Iscan __contech_MPI_Iscan: [(a b c d e on request) begins as MpiScan on 0 request] [];
        MPI_Exscan PMPI_Exscan __contech_MPI_Exscan: [(a b c d e on) meets as MpiExscan on 0] [Message];
        MPI_Iexscan PMPI_Iexscan __contech_MPI_Iexscan: [(a b c d e on request) begins as MpiExscan on 0 request] [];
        MPI_Neighbor_allgather PMPI_Neighbor_allgather __contech_MPI_Neighbor_allgather: [(a b c d e f g) marks as MpiNeighbours] [];
        MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv __contech_MPI_Neighbor_allgatherv: [(a b c d e f g h) marks as MpiNeighbours] [];
        MPI_Neighbor_alltoall PMPI_Neighbor_alltoall __contech_MPI_Neighbor_alltoall: [(a b c d e f g) marks as MpiNeighbours] [];
        MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv __contech_MPI_Neighbor_alltoallv: [(a b c d e f g h i) marks as MpiNeighbours] [];

        MPI_Comm_dup PMPI_Comm_dup __contech_MPI_Comm_dup: [(on new) divides on new] [];
        MPI_Comm_dup_with_info PMPI_Comm_dup_with_info __contech_MPI_Comm_dup_with_info: [(on a new) divides on new] [];
        MPI_Comm_split PMPI_Comm_split __contech_MPI_Comm_split: [(on a b new) divides on new] [];
        MPI_Comm_split_type PMPI_Comm_split_type __contech_MPI_Comm_split_type: [(on a b c new) divides on new] [];
        MPI_Comm_create PMPI_Comm_create __contech_MPI_Comm_create: [(on a new) divides on new] [];
        MPI_Cart_create PMPI_Cart_create __contech_MPI_Cart_create: [(on a b c d new) divides on new] [];
        MPI_Cart_sub PMPI_Cart_sub __contech_MPI_Cart_sub: [(on a new) divides on new] [];
        MPI_Graph_create PMPI_Graph_create __contech_MPI_Graph_create: [(on a b c d new) divides on new] [];
        MPI_Dist_graph_create PMPI_Dist_graph_create __contech_MPI_Dist_graph_create: [(on a b c d e f g new) divides on new] [];
        MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent __contech_MPI_Dist_graph_create_adjacent:
            [(on a b c d e f g h new) divides on new] [];
        MPI_Comm_create_group PMPI_Comm_create_group __contech_MPI_Comm_create_group: [(a b c new) makes new] [];
        MPI_Intercomm_create PMPI_Intercomm_create __contech_MPI_Intercomm_create: [(a b c d e new) makes new] [];
        MPI_Intercomm_merge PMPI_Intercomm_merge __contech_MPI_Intercomm_merge: [(a b new) makes new] [];
        MPI_Comm_idup PMPI_Comm_idup __contech_MPI_Comm_idup: [(a new request) makes_later new request] [];
        MPI_Comm_free PMPI_Comm_free __contech_MPI_Comm_free: [(on) forgets on] [];
        MPI_Comm_disconnect PMPI_Comm_disconnect __contech_MPI_Comm_disconnect: [(on) forgets on] [];

        MPI_Win_create PMPI_Win_create __contech_MPI_Win_create: [(a b c d on window) opens on window] [];
        MPI_Win_allocate PMPI_Win_allocate __contech_MPI_Win_allocate: [(a b c on d window) opens on window] [];
        MPI_Win_allocate_shared PMPI_Win_allocate_shared __contech_MPI_Win_allocate_shared: [(a b c on d window) opens on window] [];
        MPI_Win_create_dynamic PMPI_Win_create_dynamic __contech_MPI_Win_create_dynamic: [(a on window) opens on window] [];
        MPI_Win_fence PMPI_Win_fence __contech_MPI_Win_fence: [(a window) fences window] [Message];
        MPI_Win_free PMPI_Win_free __contech_MPI_Win_free: [(window) closes window] [];
        MPI_Put PMPI_Put __contech_MPI_Put: [(a b c d e f g h) marks as MpiPut] [];
        MPI_Get PMPI_Get __contech_MPI_Get: [(a b c d e f g h) marks as MpiGet] [];
        MPI_Accumulate PMPI_Accumulate __contech_MPI_Accumulate: [(a b c d e f g h i) marks as MpiAccumulate] [];
        MPI_Get_accumulate PMPI_Get_accumulate __contech_MPI_Get_accumulate: [(a b c d e f g h i j k l) marks as MpiAccumulate] [];
        MPI_Fetch_and_op PMPI_Fetch_and_op __contech_MPI_Fetch_and_op: [(a b c d e f g) marks as MpiAccumulate] [];
        MPI_Compare_and_swap PMPI_Compare_and_swap __contech_MPI_Compare_and_swap: [(a b c d e f g) marks as MpiAccumulate] [];
        MPI_Rput PMPI_Rput __contech_MPI_Rput: [(a b c d e f g h i) marks as MpiPut] [];
        MPI_Rget PMPI_Rget __contech_MPI_Rget: [(a b c d e f g h i) marks as MpiGet] [];
        MPI_Win_lock PMPI_Win_lock __contech_MPI_Win_lock: [(a b c d) marks as MpiWindow] [];
        MPI_Win_unlock PMPI_Win_unlock __contech_MPI_Win_unlock: [(a b) marks as MpiWindow] [];
        MPI_Win_lock_all PMPI_Win_lock_all __contech_MPI_Win_lock_all: [(a b) marks as MpiWindow] [];
        MPI_Win_unlock_all PMPI_Win_unlock_all __contech_MPI_Win_unlock_all: [(a) marks as MpiWindow] [];
        MPI_Win_flush PMPI_Win_flush __contech_MPI_Win_flush: [(a b) marks as MpiWindow] [];
        MPI_Win_flush_all PMPI_Win_flush_all __contech_MPI_Win_flush_all: [(a) marks as MpiWindow] [];
        MPI_Win_flush_local PMPI_Win_flush_local __contech_MPI_Win_flush_local: [(a b) marks as MpiWindow] [];
        MPI_Win_flush_local_all PMPI_Win_flush_local_all __contech_MPI_Win_flush_local_all: [(a) marks as MpiWindow] [];
        MPI_Win_sync PMPI_Win_sync __contech_MPI_Win_sync: [(a) marks as MpiWindow] [];
        MPI_Win_post PMPI_Win_post __contech_MPI_Win_post: [(a b c) marks as MpiWindow] [];
        MPI_Win_start PMPI_Win_start __contech_MPI_Win_start: [(a b c) marks as MpiWindow] [];
        MPI_Win_complete PMPI_Win_complete __contech_MPI_Win_complete: [(a) marks as MpiWindow] [];
        MPI_Win_wait PMPI_Win_wait __contech_MPI_Win_wait: [(a) marks as MpiWindow] [];
    } };
}

//! The functions of MPI that recorder and observer intercept.

/// Expands `$listener!` with a row for every function:
///
/// ```text
/// name, name of the profiling interface, name the recorder exports: [what the recorder does] [wait state];
/// ```
///
/// The recorder does `(ARGUMENTS) WHAT GIVEN`: its function of that name gets those arguments that
/// are named again, and the call. `as OP` stands for an event. With `status`, the function has one
/// more argument, a status that the recorder may have filled in where the program wants none.
/// `own NAME` is a function of the recorder that takes the arguments itself. Only calls that the
/// observer counts as waiting have a wait state.
#[macro_export]
macro_rules! for_each_mpi_function {
    ($listener:ident!) => { $listener! {
        MPI_Init PMPI_Init __contech_MPI_Init: [(count arguments) initialises] [];
        MPI_Init_thread PMPI_Init_thread __contech_MPI_Init_thread: [(count arguments required provided) initialises] [];
        MPI_Finalize PMPI_Finalize __contech_MPI_Finalize: [() finalises] [];
        MPI_Abort PMPI_Abort __contech_MPI_Abort: [(on code) aborts code] [];

        MPI_Send PMPI_Send __contech_MPI_Send: [(data count kind to tag on) sends to tag on] [Message];
        MPI_Ssend PMPI_Ssend __contech_MPI_Ssend: [(data count kind to tag on) sends to tag on] [Message];
        MPI_Bsend PMPI_Bsend __contech_MPI_Bsend: [(data count kind to tag on) sends to tag on] [Message];
        MPI_Rsend PMPI_Rsend __contech_MPI_Rsend: [(data count kind to tag on) sends to tag on] [Message];
        MPI_Isend PMPI_Isend __contech_MPI_Isend: [(data count kind to tag on request) sends to tag on] [];
        MPI_Issend PMPI_Issend __contech_MPI_Issend: [(data count kind to tag on request) sends to tag on] [];
        MPI_Ibsend PMPI_Ibsend __contech_MPI_Ibsend: [(data count kind to tag on request) sends to tag on] [];
        MPI_Irsend PMPI_Irsend __contech_MPI_Irsend: [(data count kind to tag on request) sends to tag on] [];
        MPI_Recv PMPI_Recv __contech_MPI_Recv: [(data count kind source tag on) status receives source tag on] [Message];
        MPI_Irecv PMPI_Irecv __contech_MPI_Irecv: [(data count kind source tag on request) posts source tag on request] [];
        MPI_Sendrecv PMPI_Sendrecv __contech_MPI_Sendrecv:
            [(data count kind to send_tag into room into_kind source tag on) status exchanges to send_tag source tag on] [Message];
        MPI_Sendrecv_replace PMPI_Sendrecv_replace __contech_MPI_Sendrecv_replace:
            [(data count kind to send_tag source tag on) status exchanges to send_tag source tag on] [Message];

        MPI_Send_init PMPI_Send_init __contech_MPI_Send_init:
            [(data count kind peer tag on request) prepares true peer tag on request] [];
        MPI_Ssend_init PMPI_Ssend_init __contech_MPI_Ssend_init:
            [(data count kind peer tag on request) prepares true peer tag on request] [];
        MPI_Bsend_init PMPI_Bsend_init __contech_MPI_Bsend_init:
            [(data count kind peer tag on request) prepares true peer tag on request] [];
        MPI_Rsend_init PMPI_Rsend_init __contech_MPI_Rsend_init:
            [(data count kind peer tag on request) prepares true peer tag on request] [];
        MPI_Recv_init PMPI_Recv_init __contech_MPI_Recv_init:
            [(data count kind peer tag on request) prepares false peer tag on request] [];
        MPI_Start PMPI_Start __contech_MPI_Start: [(request) starts 1 request] [];
        MPI_Startall PMPI_Startall __contech_MPI_Startall: [(count requests) starts count requests] [];
        MPI_Request_free PMPI_Request_free __contech_MPI_Request_free: [(request) frees request] [];
        MPI_Cancel PMPI_Cancel __contech_MPI_Cancel: [(request) cancels] [];

        MPI_Probe PMPI_Probe __contech_MPI_Probe: [(source tag on status) marks as MpiProbe] [Message];
        MPI_Iprobe PMPI_Iprobe __contech_MPI_Iprobe: [(source tag on flag status) looks flag] [];
        MPI_Mprobe PMPI_Mprobe __contech_MPI_Mprobe: [(source tag on message) status matches source tag on message 0] [Message];
        MPI_Improbe PMPI_Improbe __contech_MPI_Improbe:
            [(source tag on flag message) status matches source tag on message flag] [];
        MPI_Mrecv PMPI_Mrecv __contech_MPI_Mrecv: [(data count kind message status) receives_matched message] [Message];
        MPI_Imrecv PMPI_Imrecv __contech_MPI_Imrecv: [(data count kind message request) posts_matched message request] [];

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
        MPI_Bcast PMPI_Bcast __contech_MPI_Bcast: [(data count kind root on) meets as MpiBcast on root] [Message];
        MPI_Ibcast PMPI_Ibcast __contech_MPI_Ibcast: [(data count kind root on request) begins as MpiBcast on root request] [];
        MPI_Scatter PMPI_Scatter __contech_MPI_Scatter:
            [(data count kind into room as_kind root on) meets as MpiScatter on root] [Message];
        MPI_Iscatter PMPI_Iscatter __contech_MPI_Iscatter:
            [(data count kind into room as_kind root on request) begins as MpiScatter on root request] [];
        MPI_Scatterv PMPI_Scatterv __contech_MPI_Scatterv:
            [(data counts places kind into room as_kind root on) meets as MpiScatter on root] [Message];
        MPI_Iscatterv PMPI_Iscatterv __contech_MPI_Iscatterv:
            [(data counts places kind into room as_kind root on request) begins as MpiScatter on root request] [];
        MPI_Gather PMPI_Gather __contech_MPI_Gather:
            [(data count kind into room as_kind root on) meets as MpiGather on root] [Message];
        MPI_Igather PMPI_Igather __contech_MPI_Igather:
            [(data count kind into room as_kind root on request) begins as MpiGather on root request] [];
        MPI_Gatherv PMPI_Gatherv __contech_MPI_Gatherv:
            [(data count kind into rooms places as_kind root on) meets as MpiGather on root] [Message];
        MPI_Igatherv PMPI_Igatherv __contech_MPI_Igatherv:
            [(data count kind into rooms places as_kind root on request) begins as MpiGather on root request] [];
        MPI_Reduce PMPI_Reduce __contech_MPI_Reduce: [(data into count kind op root on) meets as MpiReduce on root] [Message];
        MPI_Ireduce PMPI_Ireduce __contech_MPI_Ireduce:
            [(data into count kind op root on request) begins as MpiReduce on root request] [];
        MPI_Allreduce PMPI_Allreduce __contech_MPI_Allreduce: [(data into count kind op on) meets as MpiAllreduce on 0] [Message];
        MPI_Iallreduce PMPI_Iallreduce __contech_MPI_Iallreduce:
            [(data into count kind op on request) begins as MpiAllreduce on 0 request] [];
        MPI_Allgather PMPI_Allgather __contech_MPI_Allgather:
            [(data count kind into room as_kind on) meets as MpiAllgather on 0] [Message];
        MPI_Iallgather PMPI_Iallgather __contech_MPI_Iallgather:
            [(data count kind into room as_kind on request) begins as MpiAllgather on 0 request] [];
        MPI_Allgatherv PMPI_Allgatherv __contech_MPI_Allgatherv:
            [(data count kind into rooms places as_kind on) meets as MpiAllgather on 0] [Message];
        MPI_Iallgatherv PMPI_Iallgatherv __contech_MPI_Iallgatherv:
            [(data count kind into rooms places as_kind on request) begins as MpiAllgather on 0 request] [];
        MPI_Alltoall PMPI_Alltoall __contech_MPI_Alltoall:
            [(data count kind into room as_kind on) meets as MpiAlltoall on 0] [Message];
        MPI_Ialltoall PMPI_Ialltoall __contech_MPI_Ialltoall:
            [(data count kind into room as_kind on request) begins as MpiAlltoall on 0 request] [];
        MPI_Alltoallv PMPI_Alltoallv __contech_MPI_Alltoallv:
            [(data counts places kind into rooms to as_kind on) meets as MpiAlltoall on 0] [Message];
        MPI_Ialltoallv PMPI_Ialltoallv __contech_MPI_Ialltoallv:
            [(data counts places kind into rooms to as_kind on request) begins as MpiAlltoall on 0 request] [];
        MPI_Alltoallw PMPI_Alltoallw __contech_MPI_Alltoallw:
            [(data counts places kinds into rooms to as_kinds on) meets as MpiAlltoall on 0] [Message];
        MPI_Ialltoallw PMPI_Ialltoallw __contech_MPI_Ialltoallw:
            [(data counts places kinds into rooms to as_kinds on request) begins as MpiAlltoall on 0 request] [];
        MPI_Reduce_scatter PMPI_Reduce_scatter __contech_MPI_Reduce_scatter:
            [(data into counts kind op on) meets as MpiReduceScatter on 0] [Message];
        MPI_Ireduce_scatter PMPI_Ireduce_scatter __contech_MPI_Ireduce_scatter:
            [(data into counts kind op on request) begins as MpiReduceScatter on 0 request] [];
        MPI_Reduce_scatter_block PMPI_Reduce_scatter_block __contech_MPI_Reduce_scatter_block:
            [(data into count kind op on) meets as MpiReduceScatter on 0] [Message];
        MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block __contech_MPI_Ireduce_scatter_block:
            [(data into count kind op on request) begins as MpiReduceScatter on 0 request] [];
        MPI_Scan PMPI_Scan __contech_MPI_Scan: [(data into count kind op on) meets as MpiScan on 0] [Message];
        MPI_Iscan PMPI_Iscan __contech_MPI_Iscan: [(data into count kind op on request) begins as MpiScan on 0 request] [];
        MPI_Exscan PMPI_Exscan __contech_MPI_Exscan: [(data into count kind op on) meets as MpiExscan on 0] [Message];
        MPI_Iexscan PMPI_Iexscan __contech_MPI_Iexscan:
            [(data into count kind op on request) begins as MpiExscan on 0 request] [];
        MPI_Neighbor_allgather PMPI_Neighbor_allgather __contech_MPI_Neighbor_allgather:
            [(a b c d e f on) marks as MpiNeighbours] [];
        MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv __contech_MPI_Neighbor_allgatherv:
            [(a b c d e f g on) marks as MpiNeighbours] [];
        MPI_Neighbor_alltoall PMPI_Neighbor_alltoall __contech_MPI_Neighbor_alltoall:
            [(a b c d e f on) marks as MpiNeighbours] [];
        MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv __contech_MPI_Neighbor_alltoallv:
            [(a b c d e f g h on) marks as MpiNeighbours] [];

        MPI_Comm_dup PMPI_Comm_dup __contech_MPI_Comm_dup: [(on new) divides on new] [];
        MPI_Comm_dup_with_info PMPI_Comm_dup_with_info __contech_MPI_Comm_dup_with_info: [(on info new) divides on new] [];
        MPI_Comm_split PMPI_Comm_split __contech_MPI_Comm_split: [(on color key new) divides on new] [];
        MPI_Comm_split_type PMPI_Comm_split_type __contech_MPI_Comm_split_type: [(on kind key info new) divides on new] [];
        MPI_Comm_create PMPI_Comm_create __contech_MPI_Comm_create: [(on group new) divides on new] [];
        MPI_Cart_create PMPI_Cart_create __contech_MPI_Cart_create: [(on dimensions sizes periods reorder new) divides on new] [];
        MPI_Cart_sub PMPI_Cart_sub __contech_MPI_Cart_sub: [(on remain new) divides on new] [];
        MPI_Graph_create PMPI_Graph_create __contech_MPI_Graph_create: [(on nodes index edges reorder new) divides on new] [];
        MPI_Dist_graph_create PMPI_Dist_graph_create __contech_MPI_Dist_graph_create:
            [(on n sources degrees destinations weights info reorder new) divides on new] [];
        MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent __contech_MPI_Dist_graph_create_adjacent:
            [(on indegree sources weights outdegree destinations out_weights info reorder new) divides on new] [];
        MPI_Comm_create_group PMPI_Comm_create_group __contech_MPI_Comm_create_group: [(on group tag new) makes new] [];
        MPI_Intercomm_create PMPI_Intercomm_create __contech_MPI_Intercomm_create: [(on leader peer remote tag new) makes new] [];
        MPI_Intercomm_merge PMPI_Intercomm_merge __contech_MPI_Intercomm_merge: [(on high new) makes new] [];
        MPI_Comm_idup PMPI_Comm_idup __contech_MPI_Comm_idup: [(on new request) makes_later new request] [];
        MPI_Comm_free PMPI_Comm_free __contech_MPI_Comm_free: [(on) forgets on] [];
        MPI_Comm_disconnect PMPI_Comm_disconnect __contech_MPI_Comm_disconnect: [(on) forgets on] [];

        MPI_Win_create PMPI_Win_create __contech_MPI_Win_create: [(base size unit info on window) opens on window] [];
        MPI_Win_allocate PMPI_Win_allocate __contech_MPI_Win_allocate: [(size unit info on base window) opens on window] [];
        MPI_Win_allocate_shared PMPI_Win_allocate_shared __contech_MPI_Win_allocate_shared:
            [(size unit info on base window) opens on window] [];
        MPI_Win_create_dynamic PMPI_Win_create_dynamic __contech_MPI_Win_create_dynamic: [(info on window) opens on window] [];
        MPI_Win_fence PMPI_Win_fence __contech_MPI_Win_fence: [(assertion window) fences window] [Message];
        MPI_Win_free PMPI_Win_free __contech_MPI_Win_free: [(window) closes window] [];
        MPI_Put PMPI_Put __contech_MPI_Put: [(a b c d e f g window) marks as MpiPut] [];
        MPI_Get PMPI_Get __contech_MPI_Get: [(a b c d e f g window) marks as MpiGet] [];
        MPI_Accumulate PMPI_Accumulate __contech_MPI_Accumulate: [(a b c d e f g h window) marks as MpiAccumulate] [];
        MPI_Get_accumulate PMPI_Get_accumulate __contech_MPI_Get_accumulate:
            [(a b c d e f g h i j k window) marks as MpiAccumulate] [];
        MPI_Fetch_and_op PMPI_Fetch_and_op __contech_MPI_Fetch_and_op: [(a b c d e f window) marks as MpiAccumulate] [];
        MPI_Compare_and_swap PMPI_Compare_and_swap __contech_MPI_Compare_and_swap:
            [(a b c d e f window) marks as MpiAccumulate] [];
        MPI_Rput PMPI_Rput __contech_MPI_Rput: [(a b c d e f g window request) marks as MpiPut] [];
        MPI_Rget PMPI_Rget __contech_MPI_Rget: [(a b c d e f g window request) marks as MpiGet] [];
        MPI_Win_lock PMPI_Win_lock __contech_MPI_Win_lock: [(kind rank assertion window) marks as MpiWindow] [];
        MPI_Win_unlock PMPI_Win_unlock __contech_MPI_Win_unlock: [(rank window) marks as MpiWindow] [];
        MPI_Win_lock_all PMPI_Win_lock_all __contech_MPI_Win_lock_all: [(assertion window) marks as MpiWindow] [];
        MPI_Win_unlock_all PMPI_Win_unlock_all __contech_MPI_Win_unlock_all: [(window) marks as MpiWindow] [];
        MPI_Win_flush PMPI_Win_flush __contech_MPI_Win_flush: [(rank window) marks as MpiWindow] [];
        MPI_Win_flush_all PMPI_Win_flush_all __contech_MPI_Win_flush_all: [(window) marks as MpiWindow] [];
        MPI_Win_flush_local PMPI_Win_flush_local __contech_MPI_Win_flush_local: [(rank window) marks as MpiWindow] [];
        MPI_Win_flush_local_all PMPI_Win_flush_local_all __contech_MPI_Win_flush_local_all: [(window) marks as MpiWindow] [];
        MPI_Win_sync PMPI_Win_sync __contech_MPI_Win_sync: [(window) marks as MpiWindow] [];
        MPI_Win_post PMPI_Win_post __contech_MPI_Win_post: [(group assertion window) marks as MpiWindow] [];
        MPI_Win_start PMPI_Win_start __contech_MPI_Win_start: [(group assertion window) marks as MpiWindow] [];
        MPI_Win_complete PMPI_Win_complete __contech_MPI_Win_complete: [(window) marks as MpiWindow] [];
        MPI_Win_wait PMPI_Win_wait __contech_MPI_Win_wait: [(window) marks as MpiWindow] [];
    } };
}

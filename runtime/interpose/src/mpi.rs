//! The functions of MPI that recorder and observer intercept.

/// Expands `$listener!` with a row for every function:
///
/// ```text
/// name, name of the profiling interface, name the recorder exports: [module and function of the recorder] [wait state];
/// ```
///
/// Only calls that the observer counts as waiting have a wait state.
#[macro_export]
macro_rules! for_each_mpi_function {
    ($listener:ident!) => { $listener! {
        MPI_Init PMPI_Init __contech_MPI_Init: [setup init] [];
        MPI_Init_thread PMPI_Init_thread __contech_MPI_Init_thread: [setup init_thread] [];
        MPI_Finalize PMPI_Finalize __contech_MPI_Finalize: [setup finalize] [];
        MPI_Abort PMPI_Abort __contech_MPI_Abort: [setup abort] [];

        MPI_Send PMPI_Send __contech_MPI_Send: [point standard] [Message];
        MPI_Ssend PMPI_Ssend __contech_MPI_Ssend: [point synchronous] [Message];
        MPI_Bsend PMPI_Bsend __contech_MPI_Bsend: [point buffered] [Message];
        MPI_Rsend PMPI_Rsend __contech_MPI_Rsend: [point ready] [Message];
        MPI_Isend PMPI_Isend __contech_MPI_Isend: [point isend] [];
        MPI_Issend PMPI_Issend __contech_MPI_Issend: [point issend] [];
        MPI_Ibsend PMPI_Ibsend __contech_MPI_Ibsend: [point ibsend] [];
        MPI_Irsend PMPI_Irsend __contech_MPI_Irsend: [point irsend] [];
        MPI_Recv PMPI_Recv __contech_MPI_Recv: [point recv] [Message];
        MPI_Irecv PMPI_Irecv __contech_MPI_Irecv: [point irecv] [];
        MPI_Sendrecv PMPI_Sendrecv __contech_MPI_Sendrecv: [point sendrecv] [Message];
        MPI_Sendrecv_replace PMPI_Sendrecv_replace __contech_MPI_Sendrecv_replace: [point sendrecv_replace] [Message];

        MPI_Send_init PMPI_Send_init __contech_MPI_Send_init: [persistent send_init] [];
        MPI_Ssend_init PMPI_Ssend_init __contech_MPI_Ssend_init: [persistent ssend_init] [];
        MPI_Bsend_init PMPI_Bsend_init __contech_MPI_Bsend_init: [persistent bsend_init] [];
        MPI_Rsend_init PMPI_Rsend_init __contech_MPI_Rsend_init: [persistent rsend_init] [];
        MPI_Recv_init PMPI_Recv_init __contech_MPI_Recv_init: [persistent recv_init] [];
        MPI_Start PMPI_Start __contech_MPI_Start: [persistent start] [];
        MPI_Startall PMPI_Startall __contech_MPI_Startall: [persistent startall] [];
        MPI_Request_free PMPI_Request_free __contech_MPI_Request_free: [persistent free] [];
        MPI_Cancel PMPI_Cancel __contech_MPI_Cancel: [persistent cancel] [];

        MPI_Probe PMPI_Probe __contech_MPI_Probe: [probe probe] [Message];
        MPI_Iprobe PMPI_Iprobe __contech_MPI_Iprobe: [probe iprobe] [];
        MPI_Mprobe PMPI_Mprobe __contech_MPI_Mprobe: [probe mprobe] [Message];
        MPI_Improbe PMPI_Improbe __contech_MPI_Improbe: [probe improbe] [];
        MPI_Mrecv PMPI_Mrecv __contech_MPI_Mrecv: [probe mrecv] [Message];
        MPI_Imrecv PMPI_Imrecv __contech_MPI_Imrecv: [probe imrecv] [];

        MPI_Wait PMPI_Wait __contech_MPI_Wait: [wait wait] [Message];
        MPI_Waitall PMPI_Waitall __contech_MPI_Waitall: [wait waitall] [Message];
        MPI_Waitany PMPI_Waitany __contech_MPI_Waitany: [wait waitany] [Message];
        MPI_Waitsome PMPI_Waitsome __contech_MPI_Waitsome: [wait waitsome] [Message];
        MPI_Test PMPI_Test __contech_MPI_Test: [wait test] [];
        MPI_Testall PMPI_Testall __contech_MPI_Testall: [wait testall] [];
        MPI_Testany PMPI_Testany __contech_MPI_Testany: [wait testany] [];
        MPI_Testsome PMPI_Testsome __contech_MPI_Testsome: [wait testsome] [];

        MPI_Barrier PMPI_Barrier __contech_MPI_Barrier: [collective barrier] [Message];
        MPI_Ibarrier PMPI_Ibarrier __contech_MPI_Ibarrier: [collective ibarrier] [];
        MPI_Bcast PMPI_Bcast __contech_MPI_Bcast: [collective bcast] [Message];
        MPI_Ibcast PMPI_Ibcast __contech_MPI_Ibcast: [collective ibcast] [];
        MPI_Scatter PMPI_Scatter __contech_MPI_Scatter: [collective scatter] [Message];
        MPI_Iscatter PMPI_Iscatter __contech_MPI_Iscatter: [collective iscatter] [];
        MPI_Scatterv PMPI_Scatterv __contech_MPI_Scatterv: [collective scatterv] [Message];
        MPI_Iscatterv PMPI_Iscatterv __contech_MPI_Iscatterv: [collective iscatterv] [];
        MPI_Gather PMPI_Gather __contech_MPI_Gather: [collective gather] [Message];
        MPI_Igather PMPI_Igather __contech_MPI_Igather: [collective igather] [];
        MPI_Gatherv PMPI_Gatherv __contech_MPI_Gatherv: [collective gatherv] [Message];
        MPI_Igatherv PMPI_Igatherv __contech_MPI_Igatherv: [collective igatherv] [];
        MPI_Reduce PMPI_Reduce __contech_MPI_Reduce: [collective reduce] [Message];
        MPI_Ireduce PMPI_Ireduce __contech_MPI_Ireduce: [collective ireduce] [];
        MPI_Allreduce PMPI_Allreduce __contech_MPI_Allreduce: [collective allreduce] [Message];
        MPI_Iallreduce PMPI_Iallreduce __contech_MPI_Iallreduce: [collective iallreduce] [];
        MPI_Allgather PMPI_Allgather __contech_MPI_Allgather: [collective allgather] [Message];
        MPI_Iallgather PMPI_Iallgather __contech_MPI_Iallgather: [collective iallgather] [];
        MPI_Allgatherv PMPI_Allgatherv __contech_MPI_Allgatherv: [collective allgatherv] [Message];
        MPI_Iallgatherv PMPI_Iallgatherv __contech_MPI_Iallgatherv: [collective iallgatherv] [];
        MPI_Alltoall PMPI_Alltoall __contech_MPI_Alltoall: [collective alltoall] [Message];
        MPI_Ialltoall PMPI_Ialltoall __contech_MPI_Ialltoall: [collective ialltoall] [];
        MPI_Alltoallv PMPI_Alltoallv __contech_MPI_Alltoallv: [collective alltoallv] [Message];
        MPI_Ialltoallv PMPI_Ialltoallv __contech_MPI_Ialltoallv: [collective ialltoallv] [];
        MPI_Alltoallw PMPI_Alltoallw __contech_MPI_Alltoallw: [collective alltoallw] [Message];
        MPI_Ialltoallw PMPI_Ialltoallw __contech_MPI_Ialltoallw: [collective ialltoallw] [];
        MPI_Reduce_scatter PMPI_Reduce_scatter __contech_MPI_Reduce_scatter: [collective reduce_scatter] [Message];
        MPI_Ireduce_scatter PMPI_Ireduce_scatter __contech_MPI_Ireduce_scatter: [collective ireduce_scatter] [];
        MPI_Reduce_scatter_block PMPI_Reduce_scatter_block __contech_MPI_Reduce_scatter_block: [collective reduce_scatter_block] [Message];
        MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block __contech_MPI_Ireduce_scatter_block: [collective ireduce_scatter_block] [];
        MPI_Scan PMPI_Scan __contech_MPI_Scan: [collective scan] [Message];
        MPI_Iscan PMPI_Iscan __contech_MPI_Iscan: [collective iscan] [];
        MPI_Exscan PMPI_Exscan __contech_MPI_Exscan: [collective exscan] [Message];
        MPI_Iexscan PMPI_Iexscan __contech_MPI_Iexscan: [collective iexscan] [];
        MPI_Neighbor_allgather PMPI_Neighbor_allgather __contech_MPI_Neighbor_allgather: [collective neighbor_allgather] [];
        MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv __contech_MPI_Neighbor_allgatherv: [collective neighbor_allgatherv] [];
        MPI_Neighbor_alltoall PMPI_Neighbor_alltoall __contech_MPI_Neighbor_alltoall: [collective neighbor_alltoall] [];
        MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv __contech_MPI_Neighbor_alltoallv: [collective neighbor_alltoallv] [];

        MPI_Comm_dup PMPI_Comm_dup __contech_MPI_Comm_dup: [topology dup] [];
        MPI_Comm_dup_with_info PMPI_Comm_dup_with_info __contech_MPI_Comm_dup_with_info: [topology dup_with_info] [];
        MPI_Comm_split PMPI_Comm_split __contech_MPI_Comm_split: [topology split] [];
        MPI_Comm_split_type PMPI_Comm_split_type __contech_MPI_Comm_split_type: [topology split_type] [];
        MPI_Comm_create PMPI_Comm_create __contech_MPI_Comm_create: [topology create] [];
        MPI_Cart_create PMPI_Cart_create __contech_MPI_Cart_create: [topology cart_create] [];
        MPI_Cart_sub PMPI_Cart_sub __contech_MPI_Cart_sub: [topology cart_sub] [];
        MPI_Graph_create PMPI_Graph_create __contech_MPI_Graph_create: [topology graph_create] [];
        MPI_Dist_graph_create PMPI_Dist_graph_create __contech_MPI_Dist_graph_create: [topology dist_graph_create] [];
        MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent __contech_MPI_Dist_graph_create_adjacent: [topology dist_graph_create_adjacent] [];
        MPI_Comm_create_group PMPI_Comm_create_group __contech_MPI_Comm_create_group: [topology create_group] [];
        MPI_Intercomm_create PMPI_Intercomm_create __contech_MPI_Intercomm_create: [topology intercomm_create] [];
        MPI_Intercomm_merge PMPI_Intercomm_merge __contech_MPI_Intercomm_merge: [topology intercomm_merge] [];
        MPI_Comm_idup PMPI_Comm_idup __contech_MPI_Comm_idup: [topology idup] [];
        MPI_Comm_free PMPI_Comm_free __contech_MPI_Comm_free: [topology free] [];
        MPI_Comm_disconnect PMPI_Comm_disconnect __contech_MPI_Comm_disconnect: [topology disconnect] [];

        MPI_Win_create PMPI_Win_create __contech_MPI_Win_create: [window create] [];
        MPI_Win_allocate PMPI_Win_allocate __contech_MPI_Win_allocate: [window allocate] [];
        MPI_Win_allocate_shared PMPI_Win_allocate_shared __contech_MPI_Win_allocate_shared: [window allocate_shared] [];
        MPI_Win_create_dynamic PMPI_Win_create_dynamic __contech_MPI_Win_create_dynamic: [window create_dynamic] [];
        MPI_Win_fence PMPI_Win_fence __contech_MPI_Win_fence: [window fence] [Message];
        MPI_Win_free PMPI_Win_free __contech_MPI_Win_free: [window free] [];
        MPI_Put PMPI_Put __contech_MPI_Put: [window put] [];
        MPI_Get PMPI_Get __contech_MPI_Get: [window get] [];
        MPI_Accumulate PMPI_Accumulate __contech_MPI_Accumulate: [window accumulate] [];
        MPI_Get_accumulate PMPI_Get_accumulate __contech_MPI_Get_accumulate: [window get_accumulate] [];
        MPI_Fetch_and_op PMPI_Fetch_and_op __contech_MPI_Fetch_and_op: [window fetch_and_op] [];
        MPI_Compare_and_swap PMPI_Compare_and_swap __contech_MPI_Compare_and_swap: [window compare_and_swap] [];
        MPI_Rput PMPI_Rput __contech_MPI_Rput: [window rput] [];
        MPI_Rget PMPI_Rget __contech_MPI_Rget: [window rget] [];
        MPI_Win_lock PMPI_Win_lock __contech_MPI_Win_lock: [window lock] [];
        MPI_Win_unlock PMPI_Win_unlock __contech_MPI_Win_unlock: [window unlock] [];
        MPI_Win_lock_all PMPI_Win_lock_all __contech_MPI_Win_lock_all: [window lock_all] [];
        MPI_Win_unlock_all PMPI_Win_unlock_all __contech_MPI_Win_unlock_all: [window unlock_all] [];
        MPI_Win_flush PMPI_Win_flush __contech_MPI_Win_flush: [window flush] [];
        MPI_Win_flush_all PMPI_Win_flush_all __contech_MPI_Win_flush_all: [window flush_all] [];
        MPI_Win_flush_local PMPI_Win_flush_local __contech_MPI_Win_flush_local: [window flush_local] [];
        MPI_Win_flush_local_all PMPI_Win_flush_local_all __contech_MPI_Win_flush_local_all: [window flush_local_all] [];
        MPI_Win_sync PMPI_Win_sync __contech_MPI_Win_sync: [window sync] [];
        MPI_Win_post PMPI_Win_post __contech_MPI_Win_post: [window post] [];
        MPI_Win_start PMPI_Win_start __contech_MPI_Win_start: [window start] [];
        MPI_Win_complete PMPI_Win_complete __contech_MPI_Win_complete: [window complete] [];
        MPI_Win_wait PMPI_Win_wait __contech_MPI_Win_wait: [window wait] [];
    } };
}

//! The names of MPI's functions, in a library of their own: a program without MPI must not find them, or configure
//! scripts would think that it needs no MPI library.
//!
//! `MPI_X` and `PMPI_X` are the same stub, which jumps to `__contech_MPI_X` in `libcontech_rt.so` with all arguments
//! as they were. The drivers put this library first where a program is linked with an MPI.
#![allow(unsafe_code, reason = "the symbols are those of another library")]

macro_rules! stubs {
    ($($name:ident $profiled:ident;)*) => {
        contech_guest::exports! {$(
            $name [elsewhere __contech_] = $name;
            $profiled [elsewhere __contech_] = $name;
        )*}
    };
}

stubs! {
    MPI_Init PMPI_Init;
    MPI_Init_thread PMPI_Init_thread;
    MPI_Finalize PMPI_Finalize;
    MPI_Abort PMPI_Abort;
    MPI_Send PMPI_Send;
    MPI_Ssend PMPI_Ssend;
    MPI_Bsend PMPI_Bsend;
    MPI_Rsend PMPI_Rsend;
    MPI_Isend PMPI_Isend;
    MPI_Issend PMPI_Issend;
    MPI_Ibsend PMPI_Ibsend;
    MPI_Irsend PMPI_Irsend;
    MPI_Recv PMPI_Recv;
    MPI_Irecv PMPI_Irecv;
    MPI_Sendrecv PMPI_Sendrecv;
    MPI_Sendrecv_replace PMPI_Sendrecv_replace;
    MPI_Send_init PMPI_Send_init;
    MPI_Ssend_init PMPI_Ssend_init;
    MPI_Bsend_init PMPI_Bsend_init;
    MPI_Rsend_init PMPI_Rsend_init;
    MPI_Recv_init PMPI_Recv_init;
    MPI_Start PMPI_Start;
    MPI_Startall PMPI_Startall;
    MPI_Request_free PMPI_Request_free;
    MPI_Cancel PMPI_Cancel;
    MPI_Probe PMPI_Probe;
    MPI_Iprobe PMPI_Iprobe;
    MPI_Mprobe PMPI_Mprobe;
    MPI_Improbe PMPI_Improbe;
    MPI_Mrecv PMPI_Mrecv;
    MPI_Imrecv PMPI_Imrecv;
    MPI_Wait PMPI_Wait;
    MPI_Waitall PMPI_Waitall;
    MPI_Waitany PMPI_Waitany;
    MPI_Waitsome PMPI_Waitsome;
    MPI_Test PMPI_Test;
    MPI_Testall PMPI_Testall;
    MPI_Testany PMPI_Testany;
    MPI_Testsome PMPI_Testsome;
    MPI_Barrier PMPI_Barrier;
    MPI_Ibarrier PMPI_Ibarrier;
    MPI_Bcast PMPI_Bcast;
    MPI_Ibcast PMPI_Ibcast;
    MPI_Scatter PMPI_Scatter;
    MPI_Iscatter PMPI_Iscatter;
    MPI_Scatterv PMPI_Scatterv;
    MPI_Iscatterv PMPI_Iscatterv;
    MPI_Gather PMPI_Gather;
    MPI_Igather PMPI_Igather;
    MPI_Gatherv PMPI_Gatherv;
    MPI_Igatherv PMPI_Igatherv;
    MPI_Reduce PMPI_Reduce;
    MPI_Ireduce PMPI_Ireduce;
    MPI_Allreduce PMPI_Allreduce;
    MPI_Iallreduce PMPI_Iallreduce;
    MPI_Allgather PMPI_Allgather;
    MPI_Iallgather PMPI_Iallgather;
    MPI_Allgatherv PMPI_Allgatherv;
    MPI_Iallgatherv PMPI_Iallgatherv;
    MPI_Alltoall PMPI_Alltoall;
    MPI_Ialltoall PMPI_Ialltoall;
    MPI_Alltoallv PMPI_Alltoallv;
    MPI_Ialltoallv PMPI_Ialltoallv;
    MPI_Alltoallw PMPI_Alltoallw;
    MPI_Ialltoallw PMPI_Ialltoallw;
    MPI_Reduce_scatter PMPI_Reduce_scatter;
    MPI_Ireduce_scatter PMPI_Ireduce_scatter;
    MPI_Reduce_scatter_block PMPI_Reduce_scatter_block;
    MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block;
    MPI_Scan PMPI_Scan;
    MPI_Iscan PMPI_Iscan;
    MPI_Exscan PMPI_Exscan;
    MPI_Iexscan PMPI_Iexscan;
    MPI_Neighbor_allgather PMPI_Neighbor_allgather;
    MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv;
    MPI_Neighbor_alltoall PMPI_Neighbor_alltoall;
    MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv;
    MPI_Comm_dup PMPI_Comm_dup;
    MPI_Comm_dup_with_info PMPI_Comm_dup_with_info;
    MPI_Comm_split PMPI_Comm_split;
    MPI_Comm_split_type PMPI_Comm_split_type;
    MPI_Comm_create PMPI_Comm_create;
    MPI_Cart_create PMPI_Cart_create;
    MPI_Cart_sub PMPI_Cart_sub;
    MPI_Graph_create PMPI_Graph_create;
    MPI_Dist_graph_create PMPI_Dist_graph_create;
    MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent;
    MPI_Comm_create_group PMPI_Comm_create_group;
    MPI_Intercomm_create PMPI_Intercomm_create;
    MPI_Intercomm_merge PMPI_Intercomm_merge;
    MPI_Comm_idup PMPI_Comm_idup;
    MPI_Comm_free PMPI_Comm_free;
    MPI_Comm_disconnect PMPI_Comm_disconnect;
    MPI_Win_create PMPI_Win_create;
    MPI_Win_allocate PMPI_Win_allocate;
    MPI_Win_allocate_shared PMPI_Win_allocate_shared;
    MPI_Win_create_dynamic PMPI_Win_create_dynamic;
    MPI_Win_fence PMPI_Win_fence;
    MPI_Win_free PMPI_Win_free;
    MPI_Put PMPI_Put;
    MPI_Get PMPI_Get;
    MPI_Accumulate PMPI_Accumulate;
    MPI_Get_accumulate PMPI_Get_accumulate;
    MPI_Fetch_and_op PMPI_Fetch_and_op;
    MPI_Compare_and_swap PMPI_Compare_and_swap;
    MPI_Rput PMPI_Rput;
    MPI_Rget PMPI_Rget;
    MPI_Win_lock PMPI_Win_lock;
    MPI_Win_unlock PMPI_Win_unlock;
    MPI_Win_lock_all PMPI_Win_lock_all;
    MPI_Win_unlock_all PMPI_Win_unlock_all;
    MPI_Win_flush PMPI_Win_flush;
    MPI_Win_flush_all PMPI_Win_flush_all;
    MPI_Win_flush_local PMPI_Win_flush_local;
    MPI_Win_flush_local_all PMPI_Win_flush_local_all;
    MPI_Win_sync PMPI_Win_sync;
    MPI_Win_post PMPI_Win_post;
    MPI_Win_start PMPI_Win_start;
    MPI_Win_complete PMPI_Win_complete;
    MPI_Win_wait PMPI_Win_wait;
}

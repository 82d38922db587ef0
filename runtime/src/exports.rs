//! Every exported symbol but those of [`crate::functions`]: the contract with instrumented code, and the functions of the
//! system that the recorder alone stands in front of.

use crate::{
    allocation, atomic, exec, exit, flush, fork, handlers, jump, mapping, mpi, objects, ompt,
    operator_new, sandbox, threads,
};
use contech_guest::exports;

exports! {
    __contech_flush = flush::flush;
    __contech_check_flush = flush::check_flush;
    __contech_register = objects::register;
    __contech_unregister = objects::unregister;
    __contech_atomic_begin = atomic::begin;
    __contech_atomic_end [caller 4] = atomic::end;
    __contech_fence = atomic::fence;

    pthread_detach = threads::pthread_detach;
    thrd_detach = threads::thrd_detach;
    pthread_setcanceltype = threads::setcanceltype;
    pthread_exit [before] = threads::before_pthread_exit;
    thrd_exit [before] = threads::before_thrd_exit;

    ompt_start_tool = ompt::start_tool;
    __kmpc_omp_task_alloc = ompt::task_alloc;
    __kmpc_omp_task_begin_if0 [before] = ompt::before_begin_if0;

    malloc [caller 1] = allocation::malloc;
    calloc [caller 2] = allocation::calloc;
    realloc [caller 2] = allocation::realloc;
    reallocarray [caller 3] = allocation::reallocarray;
    free [caller 1] = allocation::free;
    posix_memalign = allocation::posix_memalign;
    aligned_alloc = allocation::aligned_alloc;
    memalign = allocation::memalign;
    valloc = allocation::valloc;
    mmap = mapping::mmap;
    mmap64 = mapping::mmap;
    munmap = mapping::munmap;
    mremap = mapping::mremap;

    _Znwm = operator_new::one;
    _Znam = operator_new::many;
    _ZnwmRKSt9nothrow_t = operator_new::one_nothrow;
    _ZnamRKSt9nothrow_t = operator_new::many_nothrow;
    _ZnwmSt11align_val_t = operator_new::one_aligned;
    _ZnamSt11align_val_t = operator_new::many_aligned;
    _ZnwmSt11align_val_tRKSt9nothrow_t = operator_new::one_aligned_nothrow;
    _ZnamSt11align_val_tRKSt9nothrow_t = operator_new::many_aligned_nothrow;
    _ZdlPv = operator_new::drop_one;
    _ZdaPv = operator_new::drop_many;
    _ZdlPvm = operator_new::drop_one_sized;
    _ZdaPvm = operator_new::drop_many_sized;
    _ZdlPvSt11align_val_t = operator_new::drop_one_aligned;
    _ZdaPvSt11align_val_t = operator_new::drop_many_aligned;
    _ZdlPvmSt11align_val_t = operator_new::drop_one_sized_aligned;
    _ZdaPvmSt11align_val_t = operator_new::drop_many_sized_aligned;
    _ZdlPvRKSt9nothrow_t = operator_new::drop_one_nothrow;
    _ZdaPvRKSt9nothrow_t = operator_new::drop_many_nothrow;
    _ZdlPvSt11align_val_tRKSt9nothrow_t = operator_new::drop_one_aligned_nothrow;
    _ZdaPvSt11align_val_tRKSt9nothrow_t = operator_new::drop_many_aligned_nothrow;

    sigaction = handlers::sigaction;
    signal = handlers::signal;
    bsd_signal = handlers::signal;
    ssignal = handlers::signal;
    sysv_signal = handlers::sysv_signal;
    __sysv_signal = handlers::sysv_signal;
    sigset = handlers::sigset;
    sigignore = handlers::sigignore;
    longjmp [before] = jump::before_longjmp;
    _longjmp [before] = jump::before_underscore_longjmp;
    siglongjmp [before] = jump::before_siglongjmp;
    __longjmp_chk [before] = jump::before_longjmp_chk;

    prctl = sandbox::prctl;

    fork [caller 0] = fork::fork;
    _exit = exit::underscore_exit;
    _Exit = exit::underscore_exit;
    execve = exec::execve;
    execv = exec::execv;
    execvp = exec::execvp;
    execvpe = exec::execvpe;
    fexecve = exec::fexecve;
    execveat = exec::execveat;
    execl [before] = exec::before_execl;
    execlp [before] = exec::before_execlp;
    execle [before] = exec::before_execle;

    __contech_MPI_Init = mpi::setup::init;
    __contech_MPI_Init_thread = mpi::setup::init_thread;
    __contech_MPI_Finalize = mpi::setup::finalize;
    __contech_MPI_Abort = mpi::setup::abort;

    __contech_MPI_Send = mpi::point::standard;
    __contech_MPI_Ssend = mpi::point::synchronous;
    __contech_MPI_Bsend = mpi::point::buffered;
    __contech_MPI_Rsend = mpi::point::ready;
    __contech_MPI_Isend = mpi::point::isend;
    __contech_MPI_Issend = mpi::point::issend;
    __contech_MPI_Ibsend = mpi::point::ibsend;
    __contech_MPI_Irsend = mpi::point::irsend;
    __contech_MPI_Recv = mpi::point::recv;
    __contech_MPI_Irecv = mpi::point::irecv;
    __contech_MPI_Sendrecv = mpi::point::sendrecv;
    __contech_MPI_Sendrecv_replace = mpi::point::sendrecv_replace;

    __contech_MPI_Send_init = mpi::persistent::send_init;
    __contech_MPI_Ssend_init = mpi::persistent::ssend_init;
    __contech_MPI_Bsend_init = mpi::persistent::bsend_init;
    __contech_MPI_Rsend_init = mpi::persistent::rsend_init;
    __contech_MPI_Recv_init = mpi::persistent::recv_init;
    __contech_MPI_Start = mpi::persistent::start;
    __contech_MPI_Startall = mpi::persistent::startall;
    __contech_MPI_Request_free = mpi::persistent::free;
    __contech_MPI_Cancel = mpi::persistent::cancel;

    __contech_MPI_Probe = mpi::probe::probe;
    __contech_MPI_Iprobe = mpi::probe::iprobe;
    __contech_MPI_Mprobe = mpi::probe::mprobe;
    __contech_MPI_Improbe = mpi::probe::improbe;
    __contech_MPI_Mrecv = mpi::probe::mrecv;
    __contech_MPI_Imrecv = mpi::probe::imrecv;

    __contech_MPI_Wait = mpi::wait::wait;
    __contech_MPI_Waitall = mpi::wait::waitall;
    __contech_MPI_Waitany = mpi::wait::waitany;
    __contech_MPI_Waitsome = mpi::wait::waitsome;
    __contech_MPI_Test = mpi::wait::test;
    __contech_MPI_Testall = mpi::wait::testall;
    __contech_MPI_Testany = mpi::wait::testany;
    __contech_MPI_Testsome = mpi::wait::testsome;

    __contech_MPI_Barrier = mpi::collective::barrier;
    __contech_MPI_Ibarrier = mpi::collective::ibarrier;
    __contech_MPI_Bcast = mpi::collective::bcast;
    __contech_MPI_Ibcast = mpi::collective::ibcast;
    __contech_MPI_Scatter = mpi::collective::scatter;
    __contech_MPI_Iscatter = mpi::collective::iscatter;
    __contech_MPI_Scatterv = mpi::collective::scatterv;
    __contech_MPI_Iscatterv = mpi::collective::iscatterv;
    __contech_MPI_Gather = mpi::collective::gather;
    __contech_MPI_Igather = mpi::collective::igather;
    __contech_MPI_Gatherv = mpi::collective::gatherv;
    __contech_MPI_Igatherv = mpi::collective::igatherv;
    __contech_MPI_Reduce = mpi::collective::reduce;
    __contech_MPI_Ireduce = mpi::collective::ireduce;
    __contech_MPI_Allreduce = mpi::collective::allreduce;
    __contech_MPI_Iallreduce = mpi::collective::iallreduce;
    __contech_MPI_Allgather = mpi::collective::allgather;
    __contech_MPI_Iallgather = mpi::collective::iallgather;
    __contech_MPI_Allgatherv = mpi::collective::allgatherv;
    __contech_MPI_Iallgatherv = mpi::collective::iallgatherv;
    __contech_MPI_Alltoall = mpi::collective::alltoall;
    __contech_MPI_Ialltoall = mpi::collective::ialltoall;
    __contech_MPI_Alltoallv = mpi::collective::alltoallv;
    __contech_MPI_Ialltoallv = mpi::collective::ialltoallv;
    __contech_MPI_Alltoallw = mpi::collective::alltoallw;
    __contech_MPI_Ialltoallw = mpi::collective::ialltoallw;
    __contech_MPI_Reduce_scatter = mpi::collective::reduce_scatter;
    __contech_MPI_Ireduce_scatter = mpi::collective::ireduce_scatter;
    __contech_MPI_Reduce_scatter_block = mpi::collective::reduce_scatter_block;
    __contech_MPI_Ireduce_scatter_block = mpi::collective::ireduce_scatter_block;
    __contech_MPI_Scan = mpi::collective::scan;
    __contech_MPI_Iscan = mpi::collective::iscan;
    __contech_MPI_Exscan = mpi::collective::exscan;
    __contech_MPI_Iexscan = mpi::collective::iexscan;
    __contech_MPI_Neighbor_allgather = mpi::collective::neighbor_allgather;
    __contech_MPI_Neighbor_allgatherv = mpi::collective::neighbor_allgatherv;
    __contech_MPI_Neighbor_alltoall = mpi::collective::neighbor_alltoall;
    __contech_MPI_Neighbor_alltoallv = mpi::collective::neighbor_alltoallv;

    __contech_MPI_Comm_dup = mpi::topology::dup;
    __contech_MPI_Comm_dup_with_info = mpi::topology::dup_with_info;
    __contech_MPI_Comm_split = mpi::topology::split;
    __contech_MPI_Comm_split_type = mpi::topology::split_type;
    __contech_MPI_Comm_create = mpi::topology::create;
    __contech_MPI_Cart_create = mpi::topology::cart_create;
    __contech_MPI_Cart_sub = mpi::topology::cart_sub;
    __contech_MPI_Graph_create = mpi::topology::graph_create;
    __contech_MPI_Dist_graph_create = mpi::topology::dist_graph_create;
    __contech_MPI_Dist_graph_create_adjacent = mpi::topology::dist_graph_create_adjacent;
    __contech_MPI_Comm_create_group = mpi::topology::create_group;
    __contech_MPI_Intercomm_create = mpi::topology::intercomm_create;
    __contech_MPI_Intercomm_merge = mpi::topology::intercomm_merge;
    __contech_MPI_Comm_idup = mpi::topology::idup;
    __contech_MPI_Comm_free = mpi::topology::free;
    __contech_MPI_Comm_disconnect = mpi::topology::disconnect;

    __contech_MPI_Win_create = mpi::window::create;
    __contech_MPI_Win_allocate = mpi::window::allocate;
    __contech_MPI_Win_allocate_shared = mpi::window::allocate_shared;
    __contech_MPI_Win_create_dynamic = mpi::window::create_dynamic;
    __contech_MPI_Win_fence = mpi::window::fence;
    __contech_MPI_Win_free = mpi::window::free;
    __contech_MPI_Put = mpi::window::put;
    __contech_MPI_Get = mpi::window::get;
    __contech_MPI_Accumulate = mpi::window::accumulate;
    __contech_MPI_Get_accumulate = mpi::window::get_accumulate;
    __contech_MPI_Fetch_and_op = mpi::window::fetch_and_op;
    __contech_MPI_Compare_and_swap = mpi::window::compare_and_swap;
    __contech_MPI_Rput = mpi::window::rput;
    __contech_MPI_Rget = mpi::window::rget;
    __contech_MPI_Win_lock = mpi::window::lock;
    __contech_MPI_Win_unlock = mpi::window::unlock;
    __contech_MPI_Win_lock_all = mpi::window::lock_all;
    __contech_MPI_Win_unlock_all = mpi::window::unlock_all;
    __contech_MPI_Win_flush = mpi::window::flush;
    __contech_MPI_Win_flush_all = mpi::window::flush_all;
    __contech_MPI_Win_flush_local = mpi::window::flush_local;
    __contech_MPI_Win_flush_local_all = mpi::window::flush_local_all;
    __contech_MPI_Win_sync = mpi::window::sync;
    __contech_MPI_Win_post = mpi::window::post;
    __contech_MPI_Win_start = mpi::window::start;
    __contech_MPI_Win_complete = mpi::window::complete;
    __contech_MPI_Win_wait = mpi::window::wait;
}

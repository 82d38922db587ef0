//! What a task is: its kind, the synchronisation operation it stands for, and what waiting in it means.

use std::fmt;

/// The kind of a task (contech.txt, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TaskKind {
    /// Basic blocks and memory accesses without synchronisation.
    #[default]
    Work = 0,
    /// Starts another context.
    Create = 1,
    /// Waits for the end of another context.
    Join = 2,
    /// One operation on a synchronisation object.
    Sync = 3,
    /// One generation of a barrier: all arrive, all leave.
    Barrier = 4,
}

impl TaskKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::Work,
        Self::Create,
        Self::Join,
        Self::Sync,
        Self::Barrier,
    ];

    /// The kind with this number, if any.
    #[must_use]
    pub fn from_u8(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// `work`, `create`, `join`, `sync` or `barrier`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Create => "create",
            Self::Join => "join",
            Self::Sync => "sync",
            Self::Barrier => "barrier",
        }
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a context waited for, as scalability analyses classify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WaitCause {
    /// A mutex, reader-writer lock or spin lock.
    Lock,
    /// A barrier.
    Barrier,
    /// The end of another context.
    Join,
    /// A condition variable.
    Condition,
    /// A semaphore.
    Semaphore,
    /// A one-time initialisation by another context.
    Once,
    /// A message of another process.
    Message,
    /// A pause made by the recording runtime itself.
    Delay,
}

impl WaitCause {
    /// `lock`, `barrier`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Barrier => "barrier",
            Self::Join => "join",
            Self::Condition => "condition",
            Self::Semaphore => "semaphore",
            Self::Once => "once",
            Self::Message => "message",
            Self::Delay => "delay",
        }
    }
}

impl fmt::Display for WaitCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

macro_rules! sync_ops {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal, $cause:expr;)*) => {
        /// The operation a task stands for. The numbers are part of the file format.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum SyncOp { $($(#[$doc])* $name = $number,)* }

        impl SyncOp {
            /// All operations, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The operation with this number, if any.
            #[must_use]
            pub const fn from_u8(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }

            /// The name in text forms: `mutex_lock`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What the time spent in such a task was spent waiting for; `None` for operations that do not wait.
            #[must_use]
            pub const fn cause(self) -> Option<WaitCause> {
                match self { $(Self::$name => $cause,)* }
            }
        }
    };
}

sync_ops! {
    /// None: a work task.
    #[default]
    None = 0, "none", None;
    /// A context was started.
    ThreadCreate = 1, "thread_create", None;
    /// Waited for the end of a context.
    ThreadJoin = 2, "thread_join", Some(WaitCause::Join);
    /// A mutex was acquired.
    MutexLock = 3, "mutex_lock", Some(WaitCause::Lock);
    /// A mutex was released.
    MutexUnlock = 4, "mutex_unlock", None;
    /// A try or timed acquire of a mutex failed.
    MutexTryFail = 5, "mutex_try_fail", Some(WaitCause::Lock);
    /// A reader-writer lock was acquired for reading.
    RwRead = 6, "rw_read", Some(WaitCause::Lock);
    /// A reader-writer lock was acquired for writing.
    RwWrite = 7, "rw_write", Some(WaitCause::Lock);
    /// A reader-writer lock was released.
    RwUnlock = 8, "rw_unlock", None;
    /// A try or timed acquire of a reader-writer lock failed.
    RwTryFail = 9, "rw_try_fail", Some(WaitCause::Lock);
    /// A spin lock was acquired.
    SpinLock = 10, "spin_lock", Some(WaitCause::Lock);
    /// A spin lock was released.
    SpinUnlock = 11, "spin_unlock", None;
    /// The mutex released on entering a condition wait.
    CondRelease = 12, "cond_release", None;
    /// Woken by a condition variable.
    CondWake = 13, "cond_wake", Some(WaitCause::Condition);
    /// A timed wait on a condition variable ran out.
    CondTimeout = 14, "cond_timeout", Some(WaitCause::Condition);
    /// The mutex acquired again after a condition wait.
    CondReacquire = 15, "cond_reacquire", Some(WaitCause::Lock);
    /// One waiter of a condition variable was woken.
    CondSignal = 16, "cond_signal", None;
    /// All waiters of a condition variable were woken.
    CondBroadcast = 17, "cond_broadcast", None;
    /// A semaphore was decremented.
    SemWait = 18, "sem_wait", Some(WaitCause::Semaphore);
    /// A semaphore was incremented.
    SemPost = 19, "sem_post", None;
    /// A try or timed decrement of a semaphore failed.
    SemTryFail = 20, "sem_try_fail", Some(WaitCause::Semaphore);
    /// This context ran a one-time initialisation.
    OnceRun = 21, "once_run", None;
    /// This context found a one-time initialisation done, or waited for it.
    OncePass = 22, "once_pass", Some(WaitCause::Once);
    /// A barrier.
    Barrier = 23, "barrier", Some(WaitCause::Barrier);
    /// The process forked.
    Fork = 24, "fork", None;
    /// The process ended.
    ProcessExit = 25, "process_exit", None;
    /// The recording runtime paused the context.
    Delay = 26, "delay", Some(WaitCause::Delay);
    /// An operation this version has no name for.
    Other = 27, "other", None;
    /// An atomic variable was read; its time is that of a spin-wait, if it ended one.
    AtomicLoad = 40, "atomic_load", Some(WaitCause::Lock);
    /// An atomic variable was written.
    AtomicStore = 41, "atomic_store", None;
    /// An atomic variable was read and written in one step.
    AtomicRmw = 42, "atomic_rmw", Some(WaitCause::Lock);
    /// A compare-exchange found another value.
    AtomicFail = 43, "atomic_fail", Some(WaitCause::Lock);
    /// A fence.
    Fence = 44, "fence", None;
    /// Woken from a wait on a futex.
    FutexWait = 45, "futex_wait", Some(WaitCause::Condition);
    /// A wait on a futex ended without being woken.
    FutexTimeout = 46, "futex_timeout", Some(WaitCause::Condition);
    /// Waiters of a futex were woken.
    FutexWake = 47, "futex_wake", None;
    /// An OpenMP parallel or teams region began: one context for each implicit task.
    ParallelBegin = 64, "parallel_begin", None;
    /// An OpenMP region ended: waited for its implicit tasks and all explicit ones.
    ParallelEnd = 65, "parallel_end", Some(WaitCause::Join);
    /// An OpenMP explicit task was generated.
    TaskCreate = 66, "task_create", None;
    /// taskwait: waited for the tasks this context generated.
    TaskWait = 67, "task_wait", Some(WaitCause::Join);
    /// An undeferred OpenMP task ended.
    TaskJoin = 68, "task_join", Some(WaitCause::Join);
    /// taskgroup: waited for all tasks of the group.
    TaskgroupEnd = 69, "taskgroup_end", Some(WaitCause::Join);
    /// A barrier waited for the tasks this context generated.
    TasksJoin = 70, "tasks_join", Some(WaitCause::Join);
    /// An OpenMP task depends on what was written to the item.
    DependIn = 71, "depend_in", None;
    /// An OpenMP task depends on all earlier uses of the item.
    DependInout = 72, "depend_inout", None;
    /// The same, in any order with others of its kind, one at a time.
    DependMutexinoutset = 73, "depend_mutexinoutset", None;
    /// The same, together with others of its kind.
    DependInoutset = 74, "depend_inoutset", None;
    /// The event of a detached OpenMP task was fulfilled.
    Fulfill = 75, "fulfill", None;
    /// An OpenMP lock was acquired.
    OmpLock = 76, "omp_lock", Some(WaitCause::Lock);
    /// An OpenMP lock was released.
    OmpUnlock = 77, "omp_unlock", None;
    /// A critical section was entered.
    CriticalEnter = 78, "critical_enter", Some(WaitCause::Lock);
    /// A critical section was left.
    CriticalExit = 79, "critical_exit", None;
    /// An ordered region was entered.
    OrderedEnter = 80, "ordered_enter", Some(WaitCause::Lock);
    /// An ordered region was left.
    OrderedExit = 81, "ordered_exit", None;
    /// Partial results of a reduction are combined.
    Reduction = 82, "reduction", None;
    /// An iteration of a doacross loop was posted.
    DoacrossPost = 83, "doacross_post", None;
    /// Waited for an iteration of a doacross loop.
    DoacrossWait = 84, "doacross_wait", Some(WaitCause::Condition);
    /// Mark: the context's part of a worksharing loop (also distribute) begins.
    Loop = 85, "loop", None;
    /// Mark: the context's part of a sections construct begins.
    Sections = 86, "sections", None;
    /// Mark: this context runs a single construct.
    Single = 87, "single", None;
    /// Mark: this context runs a masked construct.
    Masked = 88, "masked", None;
    /// Mark: a taskloop begins to generate its tasks.
    Taskloop = 89, "taskloop", None;
    /// Mark: a worksharing construct ends for this context.
    WorkEnd = 90, "work_end", None;
    /// Mark: cancellation was asked for.
    Cancel = 91, "cancel", None;
    /// Creates the ranks of an MPI program.
    MpiRanks = 100, "mpi_ranks", None;
    /// MPI message sent.
    MpiSend = 101, "mpi_send", Some(WaitCause::Message);
    /// MPI message received: after the send.
    MpiRecv = 102, "mpi_recv", Some(WaitCause::Message);
    /// Waited for MPI requests, none of them a receive.
    MpiWait = 103, "mpi_wait", Some(WaitCause::Message);
    /// MPI_Init.
    MpiInit = 104, "mpi_init", Some(WaitCause::Message);
    /// MPI_Finalize.
    MpiFinalize = 105, "mpi_finalize", Some(WaitCause::Message);
    /// MPI_Probe that found a message.
    MpiProbe = 106, "mpi_probe", Some(WaitCause::Message);
    /// MPI_Put: a mark.
    MpiPut = 107, "mpi_put", Some(WaitCause::Message);
    /// MPI_Get: a mark.
    MpiGet = 108, "mpi_get", Some(WaitCause::Message);
    /// MPI_Accumulate and kin: a mark.
    MpiAccumulate = 109, "mpi_accumulate", Some(WaitCause::Message);
    /// Synchronisation of MPI windows other than fences: a mark.
    MpiWindow = 110, "mpi_window", Some(WaitCause::Message);
    /// Neighbourhood collectives, collectives between groups: a mark.
    MpiNeighbours = 111, "mpi_neighbours", Some(WaitCause::Message);
    /// MPI_Abort.
    MpiAbort = 112, "mpi_abort", None;
    /// A non-blocking collective operation begins; its end has the operation's name.
    MpiBegin = 113, "mpi_begin", None;
    /// MPI_Barrier.
    MpiBarrier = 114, "mpi_barrier", Some(WaitCause::Message);
    /// MPI_Bcast: the root before the others.
    MpiBcast = 115, "mpi_bcast", Some(WaitCause::Message);
    /// MPI_Scatter, MPI_Scatterv: the root before the others.
    MpiScatter = 116, "mpi_scatter", Some(WaitCause::Message);
    /// MPI_Gather, MPI_Gatherv: the others before the root.
    MpiGather = 117, "mpi_gather", Some(WaitCause::Message);
    /// MPI_Reduce: the others before the root.
    MpiReduce = 118, "mpi_reduce", Some(WaitCause::Message);
    /// MPI_Allreduce.
    MpiAllreduce = 119, "mpi_allreduce", Some(WaitCause::Message);
    /// MPI_Allgather, MPI_Allgatherv.
    MpiAllgather = 120, "mpi_allgather", Some(WaitCause::Message);
    /// MPI_Alltoall and kin.
    MpiAlltoall = 121, "mpi_alltoall", Some(WaitCause::Message);
    /// MPI_Reduce_scatter and kin.
    MpiReduceScatter = 122, "mpi_reduce_scatter", Some(WaitCause::Message);
    /// MPI_Scan: ranks in ascending order.
    MpiScan = 123, "mpi_scan", Some(WaitCause::Message);
    /// MPI_Exscan: ranks in ascending order.
    MpiExscan = 124, "mpi_exscan", Some(WaitCause::Message);
    /// An MPI communicator is made of another.
    MpiComm = 125, "mpi_comm", Some(WaitCause::Message);
    /// MPI_Win_fence, or a window is made or freed.
    MpiFence = 126, "mpi_fence", Some(WaitCause::Message);
}

impl fmt::Display for SyncOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_names_the_operation_it_came_from() {
        for &op in SyncOp::ALL {
            assert_eq!(SyncOp::from_u8(op as u8), Some(op));
        }
        assert_eq!(SyncOp::from_u8(28), None);
        for kind in TaskKind::ALL {
            assert_eq!(TaskKind::from_u8(kind as u8), Some(kind));
        }
        assert_eq!(TaskKind::from_u8(5), None);
    }
}

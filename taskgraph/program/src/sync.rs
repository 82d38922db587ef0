//! Synchronisation: one table of operations with number, name, kind of task, wait cause and family.

use crate::kind::{Family, TaskKind, WaitCause};
use crate::numbered;

macro_rules! sync_ops {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal, $kind:ident, $cause:expr, $family:expr;)*) => {
        numbered! {
            /// What threads do to each other: events of a trace and tasks of a graph.
            #[derive(Default)]
            #[non_exhaustive]
            pub enum SyncOp { $($(#[$doc])* $name = $number, $text;)* }
        }

        impl SyncOp {
            /// The kind of the task that stands for it.
            #[must_use]
            pub const fn kind(self) -> TaskKind {
                match self { $(Self::$name => TaskKind::$kind,)* }
            }

            /// What the time spent in such a task was spent waiting for; `None` for operations that
            /// do not wait.
            #[must_use]
            pub const fn cause(self) -> Option<WaitCause> {
                use WaitCause::{
                    Barrier, Call, Condition, Delay, Join, Lock, Message, Once, Semaphore,
                };
                match self { $(Self::$name => $cause,)* }
            }

            /// The family whose rules order the operation. `None` for operations that nothing
            /// orders, and for those of MPI, which are ordered with other processes.
            #[must_use]
            pub const fn family(self) -> Option<Family> {
                use Family::{
                    Atomic, Barrier, Channel, Cond, CreateJoin, Depend, Doacross, Futex, Mutex, Once, RwLock, Sem, Spin, Tree,
                };
                match self { $(Self::$name => $family,)* }
            }
        }
    };
}

sync_ops! {
    /// No operation: the task is a work task.
    #[default]
    None = 0, "none", Work, None, None;
    /// A context was started; object = its number.
    ThreadCreate = 1, "thread_create", Create, None, Some(CreateJoin);
    /// A context waited for the end of another; object = its number.
    ThreadJoin = 2, "thread_join", Join, Some(Join), Some(CreateJoin);
    /// A mutex was acquired.
    MutexLock = 3, "mutex_lock", Sync, Some(Lock), Some(Mutex);
    /// A mutex was released.
    MutexUnlock = 4, "mutex_unlock", Sync, None, Some(Mutex);
    /// A try or timed acquire of a mutex failed.
    MutexTryFail = 5, "mutex_try_fail", Sync, Some(Lock), None;
    /// A reader-writer lock was acquired for reading.
    RwRead = 6, "rw_read", Sync, Some(Lock), Some(RwLock);
    /// A reader-writer lock was acquired for writing.
    RwWrite = 7, "rw_write", Sync, Some(Lock), Some(RwLock);
    /// A reader-writer lock was released. It may have been held for reading or for writing, which
    /// the acquire says.
    RwUnlock = 8, "rw_unlock", Sync, None, Some(RwLock);
    /// A try or timed acquire of a reader-writer lock failed.
    RwTryFail = 9, "rw_try_fail", Sync, Some(Lock), None;
    /// A spin lock was acquired.
    SpinLock = 10, "spin_lock", Sync, Some(Lock), Some(Spin);
    /// A spin lock was released.
    SpinUnlock = 11, "spin_unlock", Sync, None, Some(Spin);
    /// A mutex (object) was released on entering a condition wait; aux = the address of the
    /// condition.
    CondRelease = 12, "cond_release", Sync, None, Some(Mutex);
    /// A context was woken by a condition variable; aux = the condition's ticket when the wait
    /// began.
    CondWake = 13, "cond_wake", Sync, Some(Condition), Some(Cond);
    /// A timed wait on a condition variable ran out or was cancelled. It has no edge; aux as for a
    /// wake.
    CondTimeout = 14, "cond_timeout", Sync, Some(Condition), Some(Cond);
    /// A mutex was acquired again after a condition wait.
    CondReacquire = 15, "cond_reacquire", Sync, Some(Lock), Some(Mutex);
    /// One waiter of a condition variable was woken.
    CondSignal = 16, "cond_signal", Sync, None, Some(Cond);
    /// All waiters of a condition variable were woken.
    CondBroadcast = 17, "cond_broadcast", Sync, None, Some(Cond);
    /// A semaphore was decremented.
    SemWait = 18, "sem_wait", Sync, Some(Semaphore), Some(Sem);
    /// A semaphore was incremented.
    SemPost = 19, "sem_post", Sync, None, Some(Sem);
    /// A try or timed decrement of a semaphore failed.
    SemTryFail = 20, "sem_try_fail", Sync, Some(Semaphore), None;
    /// This context ran a one-time initialisation; the ticket is taken after it finished.
    OnceRun = 21, "once_run", Sync, None, Some(Once);
    /// This context found a one-time initialisation done, or waited for it.
    OncePass = 22, "once_pass", Sync, Some(Once), Some(Once);
    /// A context took part in a barrier. The ticket is taken before the wait, and the times are
    /// around it; aux = participants.
    Barrier = 23, "barrier", Barrier, Some(Barrier), Some(Barrier);
    /// The process forked; object = process id of the child.
    Fork = 24, "fork", Sync, None, None;
    /// The process ended.
    ProcessExit = 25, "process_exit", Sync, None, None;
    /// The recording runtime paused the context.
    Delay = 26, "delay", Sync, Some(Delay), None;
    /// The operation has no name in this version.
    Other = 27, "other", Sync, None, None;
    /// The object begins a new life. This orders nothing and cuts the object's chain; aux = value
    /// of a semaphore or participants of a barrier.
    ObjectInit = 28, "object_init", Sync, None, None;
    /// The object ends, which cuts its chain.
    ObjectDestroy = 29, "object_destroy", Sync, None, None;
    /// A context slept, or waited for input, in a call of the system; there is no object.
    Sleep = 30, "sleep", Sync, Some(Call), None;
    /// Something was given to the system that others can take: bytes to a pipe or socket, a signal.
    /// The object is what it goes through.
    Send = 32, "send", Sync, None, Some(Channel);
    /// A context took what others gave to the system.
    Receive = 33, "receive", Sync, Some(Message), Some(Channel);
    /// The kernel was asked for work that it does beside the program (`io_uring_enter`). What that
    /// orders is not recorded; there is no object.
    Ring = 34, "ring", Sync, None, None;
    /// An atomic variable was read. If the read ended a spin-wait, its time is that of the
    /// spin-wait. For this and the next three operations aux = memory order (C's numbers), bit 3
    /// that of `AtomicTake`, bit 4 that of `AtomicGive`, and from bit 8 on how often the operation
    /// was repeated without finding anything new.
    AtomicLoad = 40, "atomic_load", Sync, Some(Lock), Some(Atomic);
    /// An atomic variable was written.
    AtomicStore = 41, "atomic_store", Sync, None, Some(Atomic);
    /// An atomic variable was read and written in one step.
    AtomicRmw = 42, "atomic_rmw", Sync, Some(Lock), Some(Atomic);
    /// A compare-exchange found another value.
    AtomicFail = 43, "atomic_fail", Sync, Some(Lock), Some(Atomic);
    /// A fence was executed; aux = memory order, and there is no object.
    Fence = 44, "fence", Sync, None, None;
    /// A context was woken from a wait on a futex.
    FutexWait = 45, "futex_wait", Sync, Some(Condition), Some(Futex);
    /// A wait on a futex ended without being woken.
    FutexTimeout = 46, "futex_timeout", Sync, Some(Condition), None;
    /// Waiters of a futex were woken; aux = how many.
    FutexWake = 47, "futex_wake", Sync, None, Some(Futex);
    /// The first try of a spin-wait. The event that ended the spin-wait stands for it, so no task
    /// does.
    AtomicSpun = 48, "atomic_spun", Sync, None, None;
    /// An atomic variable that was 0 became something else by an exchange, as where a lock is
    /// taken. Recorded as [`AtomicRmw`](Self::AtomicRmw).
    AtomicTake = 49, "atomic_take", Sync, Some(Lock), Some(Atomic);
    /// An atomic variable became 0 by a write or an exchange, as where a lock is given back.
    /// Recorded as [`AtomicStore`](Self::AtomicStore) or [`AtomicRmw`](Self::AtomicRmw).
    AtomicGive = 50, "atomic_give", Sync, None, Some(Atomic);
    /// An OpenMP parallel or teams region began, with one context for each implicit task; object =
    /// the first one, aux = how many, and their numbers follow each other.
    ParallelBegin = 64, "parallel_begin", Create, None, Some(Tree);
    /// An OpenMP region ended, after a wait for its implicit tasks and all explicit ones; object
    /// and aux as where it began.
    ParallelEnd = 65, "parallel_end", Join, Some(Join), Some(Tree);
    /// An OpenMP explicit task was generated; object = its context.
    TaskCreate = 66, "task_create", Create, None, Some(Tree);
    /// taskwait: a context waited for the tasks it had generated.
    TaskWait = 67, "task_wait", Join, Some(Join), Some(Tree);
    /// An undeferred OpenMP task ended; object = its context.
    TaskJoin = 68, "task_join", Join, Some(Join), Some(Tree);
    /// taskgroup: a context waited for the tasks generated since the innermost taskgroup began, and
    /// for all that these generated.
    TaskgroupEnd = 69, "taskgroup_end", Join, Some(Join), Some(Tree);
    /// A barrier waited for the tasks that this context generated, and for all that these
    /// generated.
    TasksJoin = 70, "tasks_join", Join, Some(Join), Some(Tree);
    /// An OpenMP task depends on what was written to the item (object). For this and the next three
    /// operations the ticket follows the order in which tasks were generated, and aux = the
    /// generating context.
    DependIn = 71, "depend_in", Sync, None, Some(Depend);
    /// An OpenMP task depends on all earlier uses of the item.
    DependInout = 72, "depend_inout", Sync, None, Some(Depend);
    /// An OpenMP task depends on all earlier uses of the item except others of this kind, which run
    /// in any order, one at a time.
    DependMutexinoutset = 73, "depend_mutexinoutset", Sync, None, Some(Depend);
    /// An OpenMP task depends on all earlier uses of the item except others of this kind, which run
    /// together with it.
    DependInoutset = 74, "depend_inoutset", Sync, None, Some(Depend);
    /// The event of a detached OpenMP task was fulfilled; object = the task's context.
    Fulfill = 75, "fulfill", Sync, None, None;
    /// An OpenMP lock (nest lock, mutexinoutset item) was acquired. The releases of this and of the
    /// next two locks have the ticket of their acquire.
    OmpLock = 76, "omp_lock", Sync, Some(Lock), Some(Mutex);
    /// An OpenMP lock was released.
    OmpUnlock = 77, "omp_unlock", Sync, None, Some(Mutex);
    /// A critical section was entered.
    CriticalEnter = 78, "critical_enter", Sync, Some(Lock), Some(Mutex);
    /// A critical section was left.
    CriticalExit = 79, "critical_exit", Sync, None, Some(Mutex);
    /// An ordered region was entered.
    OrderedEnter = 80, "ordered_enter", Sync, Some(Lock), Some(Mutex);
    /// An ordered region was left.
    OrderedExit = 81, "ordered_exit", Sync, None, Some(Mutex);
    /// Within a barrier (object) partial results begin to be combined; with aux = 1 they have been
    /// combined.
    Reduction = 82, "reduction", Sync, Some(Barrier), Some(Barrier);
    /// An iteration of a doacross loop (object = a hash of region and iteration vector) was posted.
    DoacrossPost = 83, "doacross_post", Sync, None, Some(Doacross);
    /// A context waited for an iteration of a doacross loop.
    DoacrossWait = 84, "doacross_wait", Sync, Some(Condition), Some(Doacross);
    /// Mark: the context's part of a worksharing loop (also distribute) begins.
    Loop = 85, "loop", Sync, None, None;
    /// Mark: the context's part of a sections construct begins.
    Sections = 86, "sections", Sync, None, None;
    /// Mark: this context runs a single construct.
    Single = 87, "single", Sync, None, None;
    /// Mark: this context runs a masked construct.
    Masked = 88, "masked", Sync, None, None;
    /// Mark: a taskloop begins to generate its tasks.
    Taskloop = 89, "taskloop", Sync, None, None;
    /// Mark: a worksharing construct ends for this context.
    WorkEnd = 90, "work_end", Sync, None, None;
    /// Mark: cancellation was asked for.
    Cancel = 91, "cancel", Sync, None, None;
    /// A taskgroup begins. This orders nothing, and no task stands for it.
    TaskgroupBegin = 92, "taskgroup_begin", Sync, None, Some(Tree);
    /// A task that threads run in turns goes on after a wake. The wakes are atomic operations on
    /// the same object; aux as for an atomic read.
    TaskResume = 93, "task_resume", Sync, Some(Condition), Some(Atomic);
    /// A context waited for the threads of a scope (Rust's `thread::scope`): it read that their
    /// counter is 0, from which each thread took itself with a release at its end. The recorded
    /// object is the counter, and that of the task is 0; aux as for an atomic read.
    ScopeJoin = 94, "scope_join", Join, Some(Join), Some(Atomic);
    /// Creates the ranks of an MPI program.
    MpiRanks = 100, "mpi_ranks", Sync, None, None;
    /// An MPI message was sent; object = communicator, ticket = place in the order of the process's
    /// sends, aux = receiver and tag.
    MpiSend = 101, "mpi_send", Sync, Some(Message), None;
    /// An MPI message was received, which orders this after the send; ticket = place in the order
    /// in which receives were posted, aux = sender and tag.
    MpiRecv = 102, "mpi_recv", Sync, Some(Message), None;
    /// A context waited for MPI requests, none of which is a receive.
    MpiWait = 103, "mpi_wait", Sync, Some(Message), None;
    /// MPI_Init.
    MpiInit = 104, "mpi_init", Sync, Some(Message), None;
    /// MPI_Finalize.
    MpiFinalize = 105, "mpi_finalize", Sync, Some(Message), None;
    /// MPI_Probe found a message.
    MpiProbe = 106, "mpi_probe", Sync, Some(Message), None;
    /// MPI_Put: a mark.
    MpiPut = 107, "mpi_put", Sync, Some(Message), None;
    /// MPI_Get: a mark.
    MpiGet = 108, "mpi_get", Sync, Some(Message), None;
    /// MPI_Accumulate and kin: a mark.
    MpiAccumulate = 109, "mpi_accumulate", Sync, Some(Message), None;
    /// Synchronisation of MPI windows other than fences: a mark.
    MpiWindow = 110, "mpi_window", Sync, Some(Message), None;
    /// Neighbourhood collectives, collectives between groups: a mark.
    MpiNeighbours = 111, "mpi_neighbours", Sync, Some(Message), None;
    /// MPI_Abort.
    MpiAbort = 112, "mpi_abort", Sync, None, None;
    /// A non-blocking collective operation begins; aux says which. Its task at the end has the name
    /// of the operation.
    MpiBegin = 113, "mpi_begin", Sync, None, None;
    /// MPI_Barrier. For this and the following operations the object is the communicator, the
    /// ticket is the number of the operation on it, and aux says who takes part.
    MpiBarrier = 114, "mpi_barrier", Barrier, Some(Message), None;
    /// MPI_Bcast: the root comes before the others.
    MpiBcast = 115, "mpi_bcast", Sync, Some(Message), None;
    /// MPI_Scatter, MPI_Scatterv: the root comes before the others.
    MpiScatter = 116, "mpi_scatter", Sync, Some(Message), None;
    /// MPI_Gather, MPI_Gatherv: the others come before the root.
    MpiGather = 117, "mpi_gather", Sync, Some(Message), None;
    /// MPI_Reduce: the others come before the root.
    MpiReduce = 118, "mpi_reduce", Sync, Some(Message), None;
    /// MPI_Allreduce.
    MpiAllreduce = 119, "mpi_allreduce", Barrier, Some(Message), None;
    /// MPI_Allgather, MPI_Allgatherv.
    MpiAllgather = 120, "mpi_allgather", Barrier, Some(Message), None;
    /// MPI_Alltoall and kin.
    MpiAlltoall = 121, "mpi_alltoall", Barrier, Some(Message), None;
    /// MPI_Reduce_scatter and kin.
    MpiReduceScatter = 122, "mpi_reduce_scatter", Barrier, Some(Message), None;
    /// MPI_Scan: ranks follow each other in ascending order.
    MpiScan = 123, "mpi_scan", Sync, Some(Message), None;
    /// MPI_Exscan: ranks follow each other in ascending order.
    MpiExscan = 124, "mpi_exscan", Sync, Some(Message), None;
    /// An MPI communicator is made from another.
    MpiComm = 125, "mpi_comm", Barrier, Some(Message), None;
    /// MPI_Win_fence, or a window is made or freed.
    MpiFence = 126, "mpi_fence", Barrier, Some(Message), None;
    /// A non-blocking collective operation has ended; aux says which, and the times are around the
    /// wait. No task stands for this event: the task of the operation has the name of the
    /// operation.
    MpiEnd = 127, "mpi_end", Sync, Some(Message), None;
}

impl SyncOp {
    /// The failed try or timed form of an acquire.
    #[must_use]
    pub const fn failed(self) -> Self {
        match self {
            Self::RwRead | Self::RwWrite => Self::RwTryFail,
            Self::SemWait => Self::SemTryFail,
            _ => Self::MutexTryFail,
        }
    }

    /// Whether this is an operation on an atomic variable; these have tickets in an order of their
    /// own.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self.family(), Some(Family::Atomic))
    }

    /// Whether this is a dependence of an OpenMP task.
    #[must_use]
    pub const fn is_depend(self) -> bool {
        matches!(self.family(), Some(Family::Depend))
    }

    /// Whether this is an operation of MPI, whose object is a communicator.
    #[must_use]
    pub const fn is_mpi(self) -> bool {
        self as u8 > Self::MpiRanks as u8
    }

    /// Whether this is an action of its task where it orders nothing with another context. Other
    /// operations are always tasks: those that say what a construct does, those of MPI, and failed
    /// tries, which are a wait where they repeat.
    #[must_use]
    pub const fn may_be_action(self) -> bool {
        use Family::{Atomic, Channel, Cond, Futex, Mutex, Once, RwLock, Sem, Spin};
        matches!(self.kind(), TaskKind::Sync)
            && (matches!(
                self.family(),
                Some(Atomic | Channel | Cond | Futex | Mutex | Once | RwLock | Sem | Spin)
            ) || matches!(
                self,
                Self::Fence | Self::FutexTimeout | Self::ObjectInit | Self::ObjectDestroy
            ))
    }

    /// Whether this is a mark in a recording, for which no task stands.
    #[must_use]
    pub const fn is_mark(self) -> bool {
        matches!(self, Self::TaskgroupBegin | Self::AtomicSpun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_operations_have_one_name() {
        let names: std::collections::HashSet<_> = SyncOp::ALL.iter().map(|op| op.name()).collect();
        assert_eq!(names.len(), SyncOp::ALL.len());
    }
}

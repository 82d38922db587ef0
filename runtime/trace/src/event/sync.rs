//! What a synchronisation event did: the operations and their numbers.

use crate::numbered::numbered;

numbered! {
    /// What a synchronisation event did. Numbers are part of the format.
    pub enum SyncOp {
        /// Thread created; object = context of the child.
        ThreadCreate = 1,
        /// Thread joined; object = context of the child.
        ThreadJoin = 2,
        /// Mutex acquired.
        MutexLock = 3,
        /// Mutex released.
        MutexUnlock = 4,
        /// Read lock acquired.
        RwRead = 5,
        /// Write lock acquired.
        RwWrite = 6,
        /// Read or write lock released (which: the middle knows who holds it).
        RwUnlock = 7,
        /// Spin lock acquired.
        SpinLock = 8,
        /// Spin lock released.
        SpinUnlock = 9,
        /// Mutex (object) released on entering a condition wait; aux = the condition's address.
        CondRelease = 10,
        /// Woken by the condition (object); aux = the condition's ticket when the wait began.
        CondWake = 11,
        /// The condition wait timed out or was cancelled: no edge; object and aux as for a wake.
        CondTimeout = 12,
        /// Mutex (object) reacquired at the end of a condition wait.
        CondReacquire = 13,
        /// Signal on the condition.
        CondSignal = 14,
        /// Broadcast on the condition.
        CondBroadcast = 15,
        /// Semaphore taken.
        SemWait = 16,
        /// Semaphore posted.
        SemPost = 17,
        /// This call ran the once-routine; ticket taken after it finished.
        OnceRun = 18,
        /// The once-routine had been run before this call returned.
        OncePass = 19,
        /// Arrived at a barrier: ticket taken before waiting, times around the wait; aux = participants.
        BarrierWait = 20,
        /// A try or timed acquire of the object failed: a task without edges.
        TryFail = 21,
        /// The object begins a new life (init): orders nothing, cuts its chain; aux = semaphore value or
        /// barrier participants.
        ObjectInit = 22,
        /// The object ends (destroy): cuts its chain.
        ObjectDestroy = 23,
        /// fork; object = process id of the child.
        Fork = 24,
        /// Atomic load. For this and the next three: aux = memory order (`abi::ATOMIC_ORDER`), from bit 8 on
        /// how often it was repeated without finding anything new.
        AtomicLoad = 40,
        /// Atomic store.
        AtomicStore = 41,
        /// Atomic read-modify-write, compare-exchange that succeeded included.
        AtomicRmw = 42,
        /// Compare-exchange that failed: a load.
        AtomicFail = 43,
        /// Fence; aux = memory order, no object.
        Fence = 44,
        /// Nothing: the first try of a spin-wait, which the event that ended it stands for.
        AtomicSpun = 45,
        /// Woken from a wait on a futex (object).
        FutexWait = 46,
        /// A wait on a futex ended otherwise: a task without edges.
        FutexTimeout = 47,
        /// Waiters of a futex woken; aux = how many.
        FutexWake = 48,
        /// OpenMP parallel (or teams) region: implicit tasks begin; object = the first one's context, aux = how
        /// many, their contexts follow each other.
        TeamCreate = 64,
        /// The region's end; object and aux as where it was created, times around the wait.
        TeamJoin = 65,
        /// OpenMP explicit task generated; object = its context.
        TaskCreate = 66,
        /// taskwait: waited for the tasks this context has generated.
        TaskWait = 67,
        /// An undeferred task has ended; object = its context.
        TaskJoin = 68,
        /// A taskgroup begins here: orders nothing.
        TaskgroupBegin = 69,
        /// Waited for the tasks generated since the innermost taskgroup began, and for all they generated.
        TaskgroupEnd = 70,
        /// A barrier waited for all tasks this context has generated, and for all they generated.
        TasksJoin = 71,
        /// Dependence of the task that runs (of a taskwait, where it stands) on an item (object); ticket in the
        /// order in which tasks were generated; aux = generating context, from bit 32 on the type as OMPT numbers
        /// them.
        Depend = 72,
        /// A detached task's event was fulfilled; object = the task's context.
        Fulfill = 73,
        /// OpenMP lock (nest lock, mutexinoutset item) acquired. The releases of this and of the next two have
        /// the ticket of their acquire.
        OmpLock = 74,
        /// The same released.
        OmpUnlock = 75,
        /// Critical section entered.
        CriticalEnter = 76,
        /// Critical section left.
        CriticalExit = 77,
        /// Ordered region entered.
        OrderedEnter = 78,
        /// Ordered region left.
        OrderedExit = 79,
        /// Inside of a barrier (object) partial results begin to be combined, or have been (aux = 1).
        Reduction = 80,
        /// Doacross: the iteration `object` (a hash of region and iteration vector) is done so far.
        DoacrossPost = 81,
        /// Doacross: waited for that iteration.
        DoacrossWait = 82,
        /// Mark: a worksharing construct begins; aux = what, as OMPT numbers work (100: masked, 101: cancellation
        /// was asked for).
        Work = 83,
        /// Mark: a worksharing construct ends.
        WorkEnd = 84,
        /// MPI: a message is sent; object = communicator (see [`crate::mpi`]), ticket = place in the order of the
        /// process's sends, aux = receiver and tag ([`crate::mpi::Peer`]).
        MpiSend = 100,
        /// MPI: a message was received; ticket = place in the order in which the process posted its receives,
        /// aux = sender and tag.
        MpiRecv = 101,
        /// MPI: waited for requests, none of them a receive.
        MpiWait = 102,
        /// MPI: a mark; aux = what ([`crate::mpi::Mark`]).
        MpiMark = 103,
        /// MPI: a blocking collective operation on the communicator (object); ticket = its number there,
        /// aux = [`crate::mpi::Meeting`].
        MpiMeet = 104,
        /// MPI: a non-blocking collective operation begins; object, ticket and aux as for a blocking one.
        MpiBegin = 105,
        /// MPI: the same has ended; times around the wait.
        MpiEnd = 106,
    }
}

impl SyncOp {
    /// Operations on atomic variables, whose tickets are in an order of their own.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        matches!(
            self,
            Self::AtomicLoad | Self::AtomicStore | Self::AtomicRmw | Self::AtomicFail
        )
    }

    /// Operations of MPI, whose objects are communicators.
    #[must_use]
    pub fn is_mpi(self) -> bool {
        (Self::MpiSend as u8..=Self::MpiEnd as u8).contains(&(self as u8))
    }
}

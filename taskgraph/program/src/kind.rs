//! Kinds of tasks, of waiting, and of objects.

use crate::numbered;

numbered! {
    /// The kind of a task (contech.txt, section 3).
    #[derive(Default)]
    pub enum TaskKind {
        /// Basic blocks and memory accesses without synchronisation.
        #[default]
        Work = 0, "work";
        /// Starts another context.
        Create = 1, "create";
        /// Waits for the end of another context.
        Join = 2, "join";
        /// One operation on a synchronisation object.
        Sync = 3, "sync";
        /// One generation of a barrier: all arrive, all leave.
        Barrier = 4, "barrier";
    }
}

numbered! {
    /// How memory was allocated.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum AllocKind {
        /// malloc and its kin.
        #[default]
        Malloc = 0, "malloc";
        /// calloc.
        Calloc = 1, "calloc";
        /// realloc; if the memory moved or was freed, the old allocation is freed before.
        Realloc = 2, "realloc";
        /// aligned_alloc, posix_memalign, memalign.
        Aligned = 3, "aligned";
        /// operator new.
        New = 4, "new";
    }
}

numbered! {
    /// What a context waits for, as scalability analyses classify it.
    pub enum WaitCause {
        /// A mutex, reader-writer lock or spin lock.
        Lock = 0, "lock";
        /// A barrier.
        Barrier = 1, "barrier";
        /// The end of another context.
        Join = 2, "join";
        /// A condition variable.
        Condition = 3, "condition";
        /// A semaphore.
        Semaphore = 4, "semaphore";
        /// A one-time initialisation by another context.
        Once = 5, "once";
        /// What another process or context gives to the system: a message of MPI, bytes of a pipe
        /// or socket.
        Message = 6, "message";
        /// A pause made by the recording runtime itself.
        Delay = 7, "delay";
        /// Something outside of the program, in a call of the system: a signal, input, time.
        Call = 8, "call";
        /// No recorded reason, between two tasks. No operation waits for it.
        Other = 9, "other";
    }
}

/// Operations on the same sort of object, ordered by the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Threads that start and end.
    CreateJoin,
    /// Mutexes, and other locks that one holder has at a time.
    Mutex,
    /// Spin locks.
    Spin,
    /// Reader-writer locks.
    RwLock,
    /// Condition variables.
    Cond,
    /// Semaphores.
    Sem,
    /// One-time initialisations.
    Once,
    /// Barriers.
    Barrier,
    /// Atomic variables.
    Atomic,
    /// Futexes.
    Futex,
    /// Pipes, sockets and kin, and signals.
    Channel,
    /// Waits of OpenMP tasks for each other.
    Tree,
    /// Dependences of OpenMP tasks.
    Depend,
    /// Iterations of doacross loops.
    Doacross,
}

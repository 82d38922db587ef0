//! Kinds of tasks, of waiting, and of objects.

use std::fmt;

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
    /// What another process or context gives to the system: a message of MPI, bytes of a pipe or
    /// socket.
    Message,
    /// A pause made by the recording runtime itself.
    Delay,
    /// Something outside of the program: time, or input.
    Sleep,
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
            Self::Sleep => "sleep",
        }
    }
}

impl fmt::Display for WaitCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_names_the_kind_it_came_from() {
        for &kind in TaskKind::ALL {
            assert_eq!(TaskKind::from_u8(kind as u8), Some(kind));
        }
        assert_eq!(TaskKind::from_u8(5), None);
    }
}

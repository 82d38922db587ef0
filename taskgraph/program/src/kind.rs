//! Kinds of tasks, of waiting, and of objects.

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
        for kind in TaskKind::ALL {
            assert_eq!(TaskKind::from_u8(kind as u8), Some(kind));
        }
        assert_eq!(TaskKind::from_u8(5), None);
    }
}

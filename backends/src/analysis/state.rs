//! What a context does at a moment: it runs, or it waits for a cause.

use serde::Serialize;
use taskgraph::WaitCause;

/// Number of causes a context can wait for.
pub const CAUSES: usize = 10;

/// A context's state between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Inside a task that does work of the program.
    Running,
    /// Blocked, or not doing the program's work.
    Waiting(Cause),
}

/// Why a context waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// To acquire a lock.
    Lock,
    /// For the others at a barrier.
    Barrier,
    /// For a context to end.
    Join,
    /// For a condition variable.
    Condition,
    /// For a semaphore.
    Semaphore,
    /// For another context's one-time initialisation.
    Once,
    /// For a message.
    Message,
    /// Because recording paused it.
    Delay,
    /// In a call of the system that waits for something outside the program: a signal, input, time.
    Call,
    /// Between two tasks, for no recorded reason.
    Other,
}

impl Cause {
    /// All causes, in the order of [`State::index`].
    pub const ALL: [Self; CAUSES] = [
        Self::Lock,
        Self::Barrier,
        Self::Join,
        Self::Condition,
        Self::Semaphore,
        Self::Once,
        Self::Message,
        Self::Delay,
        Self::Call,
        Self::Other,
    ];

    /// The word for it, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Barrier => "barrier",
            Self::Join => "join",
            Self::Condition => "condition",
            Self::Semaphore => "semaphore",
            Self::Once => "once",
            Self::Message => "message",
            Self::Delay => "delay",
            Self::Call => "call",
            Self::Other => "other",
        }
    }
}

impl From<WaitCause> for Cause {
    fn from(cause: WaitCause) -> Self {
        match cause {
            WaitCause::Lock => Self::Lock,
            WaitCause::Barrier => Self::Barrier,
            WaitCause::Join => Self::Join,
            WaitCause::Condition => Self::Condition,
            WaitCause::Semaphore => Self::Semaphore,
            WaitCause::Once => Self::Once,
            WaitCause::Message => Self::Message,
            WaitCause::Delay => Self::Delay,
            WaitCause::Sleep => Self::Call,
            _ => Self::Other,
        }
    }
}

impl State {
    /// The cause's place in [`Cause::ALL`], `None` when running.
    #[must_use]
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Running => None,
            Self::Waiting(cause) => Some(cause as usize),
        }
    }
}

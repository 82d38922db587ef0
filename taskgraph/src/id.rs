//! The id of a task.

use std::fmt;

pub use contech_program::id::{BlockId, ContextId, ExecutorId, FunctionId, OpId};

/// A task: its context and its place in the context's program order. The text form is `3:17`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The context that the task is a part of.
    pub context: ContextId,
    /// 0, 1, 2, ... in program order within the context.
    pub seq: u32,
}

impl TaskId {
    /// Task `seq` of `context`.
    #[must_use]
    pub const fn new(context: ContextId, seq: u32) -> Self {
        Self { context, seq }
    }

    /// The task before this one in the same context, if there is one.
    #[must_use]
    pub const fn previous(self) -> Option<Self> {
        match self.seq {
            0 => None,
            n => Some(Self::new(self.context, n - 1)),
        }
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.context, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_id_reads_back_from_its_text_form() {
        let id = TaskId::new(ContextId::new(3), 17);
        assert_eq!(id.to_string(), "3:17");
        assert_eq!("3:17".parse::<TaskId>().unwrap(), id);
    }

    #[test]
    fn a_malformed_task_id_is_named_in_the_error() {
        for text in ["", "3", "3:", ":3", "a:b", "3:4:5", "4294967296:0", "-1:0"] {
            let error = text.parse::<TaskId>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }
}

//! One task `3:17`, or all tasks of a context `3:*`.

use std::str::FromStr;

use taskgraph::{ContextId, TaskId};

/// Tasks named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// One task.
    Task(TaskId),
    /// A whole context.
    Context(ContextId),
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_suffix(":*") {
            Some(context) => {
                context.parse().map(|number| Self::Context(ContextId::new(number))).map_err(|_| {
                    format!("\"{text}\": the context before :* is a number, for example 0:*")
                })
            }
            None => {
                text.parse().map(Self::Task).map_err(|error: taskgraph::Error| error.to_string())
            }
        }
    }
}

//! Small ids: contexts, tasks, blocks, functions and static memory operations.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

macro_rules! index_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id with this number.
            #[must_use]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The id of entry `index` of its table; `None` when the index does not fit in 32 bits.
            #[must_use]
            pub fn from_index(index: usize) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The number as an index into a table.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index_id! {
    /// A context: a thread, an MPI rank or an explicit task; 0 is the one the program started in.
    ContextId
}
index_id! {
    /// A basic block (or a piece of one, cut after a call): index into [`StaticInfo::blocks`](crate::StaticInfo::blocks).
    BlockId
}
index_id! {
    /// A function: index into [`StaticInfo::functions`](crate::StaticInfo::functions).
    FunctionId
}
index_id! {
    /// A static memory operation: index into [`StaticInfo::ops`](crate::StaticInfo::ops).
    OpId
}

/// A task: its context and its place in the context's program order. The text form is `3:17`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The context that executed the task.
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

impl FromStr for TaskId {
    type Err = Error;

    /// Reads `CONTEXT:SEQUENCE`, both decimal.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || ErrorKind::TaskIdText {
            text: text.to_owned(),
        };
        let (context, seq) = text.split_once(':').ok_or_else(bad)?;
        let number = |s: &str| s.parse::<u32>().map_err(|_| bad());
        Ok(Self::new(ContextId::new(number(context)?), number(seq)?))
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

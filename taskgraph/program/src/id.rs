//! Small ids: contexts, executors, blocks, functions and static memory operations.

use std::fmt;

macro_rules! index_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id with this number.
            #[must_use]
            #[inline]
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
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The number as an index into a table.
            #[must_use]
            #[inline]
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
    /// An executor: a thread of a process, which executes the tasks of one context or of many; 0 is
    /// the thread that the program started in.
    ExecutorId
}
index_id! {
    /// A basic block (or a piece of one, cut after a call): index into
    /// [`StaticInfo::blocks`](crate::StaticInfo::blocks).
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

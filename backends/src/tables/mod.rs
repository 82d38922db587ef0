//! The tables of a graph. Each is declared here once: its name, its columns, and what they hold.
//!
//! [`write()`] makes the rows, and [`Rows`] takes them: a Parquet file of the export, or arrays of
//! Python.

mod gathered;
mod sweep;

use anyhow::Result;

pub use gathered::{Gathered, Numbered, Values};
pub use sweep::{number, write};

use Kind::{Address, Flag, Int, MaybeInt, Text};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Int,
    /// A number that may be unknown.
    MaybeInt,
    /// An address, whose highest bit may be set.
    Address,
    /// Words, empty where they are unknown.
    Text,
    /// Yes or no.
    Flag,
}

impl Kind {
    /// The type of the column in SQL.
    #[must_use]
    pub fn sql(self) -> &'static str {
        match self {
            Int | MaybeInt | Address => "BIGINT",
            Text => "VARCHAR",
            Flag => "BOOLEAN",
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, with the unit of times.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What its values say, in a line.
    pub about: &'static str,
}

/// A table, before it has rows.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns, in their order.
    pub columns: &'static [Column],
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Value<'v> {
    /// A value of [`Kind::Int`].
    Int(u64),
    /// A value of [`Kind::MaybeInt`].
    Maybe(Option<u64>),
    /// A value of [`Kind::Address`].
    Address(u64),
    /// A value of [`Kind::Text`].
    Text(&'v str),
    /// A value of [`Kind::Flag`].
    Flag(bool),
}

/// What takes the rows of a table.
pub trait Rows {
    /// Takes a row: a value for each column, in the order of the columns.
    ///
    /// # Errors
    /// When the row cannot be written.
    fn row(&mut self, values: &[Value<'_>]) -> Result<()>;
}

const fn column(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, about }
}

/// The tables that every graph has.
pub static TABLES: [&Table; 9] = [
    &TASKS,
    &EDGES,
    &CONTEXTS,
    &EXECUTORS,
    &FUNCTIONS,
    &BLOCKS,
    &WAITS,
    &ALLOCATIONS,
    &SYNCHRONISATIONS,
];

/// The tasks.
pub static TASKS: Table = Table {
    name: "tasks",
    about: "every task, by context",
    columns: &[
        column("task", Int, "number of the task"),
        column("context", Int, "its context"),
        column("seq", Int, "its place in the context, from 0"),
        column("executor", Int, "the thread that executed it"),
        column("kind", Text, "work, create, join, sync or barrier"),
        column("operation", Text, "what was called, as in Constructs"),
        column(
            "object",
            Address,
            "address of the lock, barrier, ...; the created or joined context",
        ),
        column("start_ns", Int, "start, ns"),
        column("end_ns", Int, "end, ns"),
        column("blocks", Int, "executions of basic blocks"),
        column("reads", Int, "memory reads"),
        column("writes", Int, "memory writes"),
        column("bytes", Int, "bytes read and written"),
        column("actions", Int, "executions, allocations, frees, mappings and synchronisations"),
        column("function", MaybeInt, "function in which it executed most instructions"),
        column("line", MaybeInt, "source line of that"),
    ],
};

/// The dependences between contexts.
pub static EDGES: Table = Table {
    name: "edges",
    about: "every dependence but those between the tasks of a context, which follow each other",
    columns: &[
        column("from_task", Int, "the task that comes first"),
        column("to_task", Int, "the task that depends on it"),
        column("from_context", Int, "context of the first"),
        column("to_context", Int, "context of the second"),
        column("from_kind", Text, "kind of the first"),
        column("to_kind", Text, "kind of the second"),
    ],
};

/// The contexts.
pub static CONTEXTS: Table = Table {
    name: "contexts",
    about: "every thread, rank and OpenMP task",
    columns: &[
        column("context", Int, "number of the thread, rank or OpenMP task"),
        column("name", Text, "name of the thread"),
        column("rank", MaybeInt, "MPI rank"),
        column("tasks", Int, "number of tasks"),
        column("first_ns", Int, "first seen, ns"),
        column("last_ns", Int, "last seen, ns"),
        column("creator", MaybeInt, "the task that created it"),
        column("announced", Flag, "its creation was recorded"),
        column("joined", Flag, "another context waited for its end"),
        column("detached", Flag, "it was detached"),
        column("cut", Flag, "the recording stopped before it ended"),
    ],
};

/// The executors.
pub static EXECUTORS: Table = Table {
    name: "executors",
    about: "every thread that executed tasks",
    columns: &[
        column("executor", Int, "number of the executor, a thread"),
        column(
            "thread",
            MaybeInt,
            "the kernel's id of the thread; unknown for threads that a library made for its tasks",
        ),
        column("rank", MaybeInt, "MPI rank, in a graph of several"),
    ],
};

/// The functions.
pub static FUNCTIONS: Table = Table {
    name: "functions",
    about: "every function of the program, executed or not",
    columns: &[
        column("function", Int, "number of the function"),
        column("name", Text, "name, demangled"),
        column("file", Text, "source file"),
        column("line", MaybeInt, "source line"),
        column("module", Text, "the instrumented module it is in"),
    ],
};

/// The basic blocks.
pub static BLOCKS: Table = Table {
    name: "blocks",
    about: "every basic block of the program, executed or not",
    columns: &[
        column("block", Int, "number of the basic block"),
        column("function", Int, "its function"),
        column("line", MaybeInt, "source line"),
        column("instructions", Int, "IR instructions of one execution"),
        column("memory_operations", Int, "memory operations of one execution"),
        column("entry", Flag, "it begins its function"),
        column("returns", Flag, "it ends in a return"),
        column("loop_header", Flag, "it is the header of a loop"),
        column("callee", Text, "the function that it calls at its end"),
        column("call_line", MaybeInt, "source line of that call"),
        column("executions", Int, "executions in the whole run"),
    ],
};

/// The waits.
pub static WAITS: Table = Table {
    name: "waits",
    about: "every time that a context waited",
    columns: &[
        column("context", Int, "who waited"),
        column("task", Int, "the task that it waited in, or that came after the wait"),
        column(
            "cause",
            Text,
            "lock, barrier, join, condition, semaphore, once, message, delay, call or other",
        ),
        column("from_ns", Int, "start of the wait, ns"),
        column("ns", Int, "its length, ns"),
        column("callee", Text, "the function that waited"),
        column("function", Text, "where it was called"),
        column("file", Text, "source file of the call"),
        column("line", MaybeInt, "source line of the call"),
    ],
};

/// The allocations.
pub static ALLOCATIONS: Table = Table {
    name: "allocations",
    about: "every event in the life of memory",
    columns: &[
        column("context", Int, "who allocated or freed"),
        column("task", Int, "the task in which"),
        column("at_ns", Int, "when; actions are taken to be spread evenly over their task, ns"),
        column(
            "event",
            Text,
            "malloc, calloc, realloc, aligned, new; free; map, unmap; fresh (memory that begins a new life, such as \
             the stack of an OpenMP task)",
        ),
        column("address", Address, "first byte"),
        column("bytes", MaybeInt, "bytes; unknown for free"),
        column("callee", Text, "the function that was called"),
        column("function", Text, "where it was called"),
        column("file", Text, "source file of the call"),
        column("line", MaybeInt, "source line of the call"),
    ],
};

/// The synchronisations.
pub static SYNCHRONISATIONS: Table = Table {
    name: "synchronisations",
    about: "every operation on a lock, an atomic variable ... that can be an action of its task, whether or not it \
            orders something with another context; those that do are tasks, too",
    columns: &[
        column("context", Int, "who did it"),
        column("task", Int, "the task in which"),
        column("at_ns", Int, "when, as for allocations, ns"),
        column("operation", Text, "mutex_lock, atomic_rmw ..., as in Constructs"),
        column("object", Address, "address of the lock, variable, ..."),
        column("function", Text, "where it was called"),
        column("file", Text, "source file of the call"),
        column("line", MaybeInt, "source line of the call"),
    ],
};

/// The accesses, of which a file has those of one context in a stretch of time. [`write()`] does
/// not make them.
pub static ACCESSES: Table = Table {
    name: "accesses",
    about: "every memory access",
    columns: &[
        column("task", Int, "the task"),
        column("at_ns", Int, "when; actions are taken to be spread evenly over their task, ns"),
        column("address", Address, "first byte"),
        column("bytes", Int, "bytes"),
        column("write", Flag, "a write, otherwise a read"),
        column("operation", Int, "number of the memory operation"),
        column("block", Int, "the block that it belongs to"),
    ],
};

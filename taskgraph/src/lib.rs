//! The task graph of a run: its file format (`FORMAT.md`), a reader with random access, and a
//! streaming writer.
//!
//! A task graph is a partial order of *tasks*; a task is a stretch of one context (thread, MPI
//! rank, explicit task) between two synchronisation points, and a work task holds the exact
//! sequence of basic blocks and memory accesses executed in it (contech.txt, section 3).
//!
//! ```
//! use taskgraph::builder::GraphBuilder;
//! use taskgraph::{MemOp, TaskKind};
//!
//! let mut b = GraphBuilder::new();
//! let body = b.block("main", "main.c", 3, &[MemOp::load(8)]);
//! let main = b.context("main");
//! b.work(main, 0, 100, |w| w.block(body, &[0x1000]));
//! let graph = b.build()?;
//!
//! for task in graph.tasks() {
//!     let task = task?;
//!     assert_eq!(task.kind(), TaskKind::Work);
//!     task.for_each_access(|a| println!("{:#x} {}", a.addr, a.size))?;
//! }
//! # Ok::<(), taskgraph::Error>(())
//! ```

#![warn(missing_docs)]

/// The example of the package's page compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod action;
mod batch;
pub mod builder;
mod cache;
mod codec;
mod column;
mod context;
mod context_table;
mod error;
mod executor;
#[cfg(test)]
mod faults;
mod frame;
mod graph;
mod id;
mod map;
mod meta;
mod nest;
mod note;
mod order;
mod page;
pub mod path;
mod progress;
mod reader;
mod record;
mod rules;
mod run;
mod sample;
mod sink;
mod space;
mod stack;
mod static_table;
mod tally;
mod task;
mod text;
mod unit;
mod verify;
mod wire;
mod writer;

pub(crate) use contech_program::{op, statics};

pub use action::{Action, BlockExec};
pub use batch::{Accesses, Batch, ExecutedRow, Executions, Piece};
pub use contech_program::{AllocKind, Family, SyncOp, TaskKind, WaitCause};
pub use context::Context;
pub use error::{Error, ErrorKind, Result};
pub use executor::Executor;
pub use frame::{Counts, EncodedFrame, FrameEncoder, Segment, Site};
pub use graph::TaskGraph;
pub use id::{BlockId, ContextId, ExecutorId, FunctionId, OpId, TaskId};
pub use map::{Mmap, map};
pub use meta::{AccessesOf, ObjectMeta, RankMeta, RunMeta, Summary, TaskCounts, Unrecorded};
pub use nest::{NestAccesses, NestRuns};
pub use note::{Note, NoteKind};
pub use op::{Access, MemOp, OpKind};
pub use order::Walk;
pub use path::{Again, Nest};
pub use progress::Progress;
pub use reader::Reader;
pub use record::{FrameRef, FrameSpan, TaskRecord};
pub use run::{AffineRun, StridedAccess};
pub use sample::{AFTER_EVENT, CodeOf, CodeSample, LEFT_OUT};
pub use stack::{CallStack, Invocation, StackChange, StackFrame};
pub use statics::{Block, CallSite, Frame, Function, Inlined, Module, StaticInfo};
pub use tally::BlockCounts;
pub use task::Task;
pub use unit::VERSION;
pub use verify::Verified;
pub use writer::GraphWriter;

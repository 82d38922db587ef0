//! The one language in which Contech says what a program executes.
//!
//! The static part is the blocks ([`StaticInfo`]) and their memory operations ([`op`]), and the
//! functions cut into paths ([`path`]), whose operands are expressions ([`path::Expr`]) over
//! recorded values. The dynamic part is the accesses that follow from an operation and its operands
//! ([`Access`]), the executions that follow from a path and its values ([`path::Walk`]), and what
//! threads do to each other ([`SyncOp`]). The crate also defines the bytes of all of these
//! ([`wire`]).
//!
//! The pass writes this language, the traced process carries it, and the middle layer and the task
//! graph read it. The crate opens no files and depends on nothing, so that all of them can use it.

#![warn(missing_docs)]

mod counts;
pub mod id;
pub mod kind;
mod layout;
mod numbered;
pub mod op;
pub mod path;
mod room;
pub mod statics;
mod sync;
pub mod wire;

pub use counts::{Counts, count};
pub use id::{BlockId, ContextId, FunctionId, OpId};
pub use kind::{AllocKind, Family, TaskKind, WaitCause};
pub use layout::{BlockLayout, Layout};
pub use op::{Access, MemOp, OpKind};
pub use room::Room;
pub use statics::{Block, CallSite, Frame, Function, Inlined, Module, StaticInfo};
pub use sync::SyncOp;

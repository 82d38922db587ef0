//! Paths: whole runs through a function instead of single blocks.
//!
//! An execution of a path stores the values ([`Leaf`]) that operands are computed from. A
//! [`PathFunction`] says which blocks there are and how operands follow from the values; a [`Path`]
//! says which blocks are executed in which order. Both are compiled once ([`CompiledFunction`],
//! [`CompiledPath`]) and walked ([`Walk`]) for each execution.

/// Bytes in which the trip count of a loop is recorded.
pub const COUNT_BYTES: usize = 6;

mod bytes;
mod compiled;
mod expr;
mod follow;
mod nest;
mod parts;
mod table;
mod value;
mod walk;

pub use compiled::{CompiledFunction, CompiledPath};
pub use expr::Expr;
pub use follow::{Followed, Recorded};
pub use nest::{Again, Nest, NestShape, Turns};
pub use parts::{CompiledLoop, CompiledNode, Flat, MOST_WRAPPING, NO_BLOCK, State};
pub use table::{Leaf, Path, PathFunction, PathLoop, PathNode, Step};
pub use value::{Term, Value};
pub use walk::{Entered, MIN_RUN, Visit, Walk};

//! The fast recorded form: leaf values and path ids instead of block ids and addresses.
//!
//! A function in fast form is cut into **segments**: acyclic paths of blocks that end at a boundary
//! call, a return, an unwind, an indirect branch, or a *cut* edge (the back edge of a loop that is
//! not collapsed, or a place where paths would become too many). A segment records the **leaves**
//! its blocks name (SSA values, in their known width), the trip counts of collapsed loops that do
//! not follow from leaves, and last its 4-byte **path id** (Ball and Larus, MICRO 1996: the sum of
//! edge increments). Addresses are not recorded: the decoder evaluates each operand's
//! [`Expr`](contech_program::path::Expr) over the leaves, the iteration numbers of loops and the
//! run-time addresses of globals.
//!
//! What the decoder knows (leaf slots, iteration numbers) lives from a *fresh* segment start
//! (function entry, after a boundary call, landing pad, target of an indirect branch) over cut
//! edges to the next end. Nothing is carried over a call, so exceptions, longjmp, signal handlers
//! and stack switches cannot make it wrong.
//!
//! [`FastFunction`] is the static description; [`Decoder`] turns a context's chunks back into block
//! executions with operands, exactly those of the naive form.

mod decode;
mod expand;
mod path;
mod segments;
mod table;

pub use decode::{Decoder, Known};
pub use expand::Sink;
pub use path::Plan;
pub use segments::{Records, Segment};
pub use table::{Edge, FastFunction, LoopStep, Start, Target};

#[cfg(test)]
mod tests;

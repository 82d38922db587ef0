//! Core of the runtime: everything that happens inside the traced process except the exported
//! symbols, which live in the `contech-runtime` shared library so that no test binary is
//! interposed.
//!
//! One [`Recorder`] is one trace: it owns the `pool` of buffers, the `queue` of full ones, the
//! `writer` and the `registry` of threads. A thread writes records at the cursor of its
//! [`TlsBlock`]. When the cursor reaches the limit, [`Recorder::flush`] hands the buffer over and
//! gives the next one. The hot path neither allocates nor locks. The slow path runs with all
//! signals blocked, and what it allocates comes from the library's own heap.

#![allow(clippy::new_without_default, reason = "what has no default is made in a constant")]

use contech_interpose::{clock, mask, memory, notice};

mod ahead;
pub mod append;
pub mod atomic;
pub mod bias;
mod buffer;
mod callers;
mod desk;
pub mod finish;
mod flush;
mod gap;
mod gate;
pub mod handler;
pub mod host;
mod inner;
mod lane;
mod level;
pub mod library;
mod losses;
pub mod modules;
mod numbers;
mod opening;
pub mod options;
mod output;
pub mod owners;
mod pace;
mod pack;
mod pass;
mod patience;
mod pool;
mod positions;
mod primitive;
mod queue;
pub mod recorder;
mod registry;
pub mod scratch;
pub mod spin;
mod stamps;
mod stats;
mod stripe;
pub mod stripes;
mod switch;
mod sync;
mod target;
pub mod thread;
pub mod tickets;
pub mod tls;
mod turns;
mod writer;

#[cfg(test)]
mod recorder_tests;

pub use queue::Patience;
pub use recorder::Recorder;
pub use thread::Thread;
pub use tls::TlsBlock;

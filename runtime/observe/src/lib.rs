//! The observer is preloaded into any program (`LD_PRELOAD`, `CONTECH_OBSERVE=FILE`). It measures
//! when each thread runs, schedules or waits, and writes an observation (`contech-observation`)
//! when the program ends. Without the variable the observer does nothing.
//!
//! Each thread has its own `lane`, which only that thread writes and every thread may read. Calls
//! that may wait are intercepted (`locks`, `waits`, `threads`); as a rule the clock is read only
//! when such a call does wait. `phase` adds up what happens between fork and join.
//!
//! The program must see what it would see without the observer. A function of this library that
//! calls something cancellable holds no value with a destructor during that call.
#![allow(
    unsafe_code,
    reason = "every function here is called from C, with what C promises about its arguments"
)]

mod api;
mod clock;
mod collect;
mod finish;
mod functions;
mod lane;
mod lanes;
mod life;
mod locks;
mod mpi;
mod openmp;
mod phase;
mod places;
mod real;
mod sites;
mod start;
mod threads;
mod tls;
mod waits;

use std::path::PathBuf;
use std::sync::OnceLock;

use contech_interpose::heap::Heap;

/// The file to write the observation to, if anything is observed.
pub(crate) static FILE: OnceLock<PathBuf> = OnceLock::new();

/// The observer as what listens to a process: to its life, its threads and its OpenMP.
pub(crate) struct Observed;

/// The observer's own heap: the observation may be written while the program is inside its
/// allocator.
#[global_allocator]
static HEAP: Heap = Heap::new(|| false);

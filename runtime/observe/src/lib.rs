//! The observer: preloaded into any program (`LD_PRELOAD`, `CONTECH_OBSERVE=FILE`), it measures what each thread does,
//! run, schedule or wait, and writes an observation (`contech-observation`) when the program ends. Without the variable it
//! does nothing.
//!
//! Each thread has a `lane` of its own, which it alone writes and anybody may read; what may wait is intercepted
//! (`locks`, `waits`, `threads`) and looked at only when it does wait. `phase` adds up what happens between fork
//! and join.
//!
//! The program sees what it would see without us. Nothing here has a destructor while it calls what may be cancelled.
#![allow(
    unsafe_code,
    reason = "every function here is called from C, with what C promises about its arguments"
)]

mod alone;
mod api;
mod clock;
mod collect;
mod exports;
mod finish;
mod functions;
mod futex;
mod lane;
mod lanes;
mod locks;
mod mpi;
mod openmp;
mod options;
mod phase;
mod pirate;
mod places;
mod process;
mod real;
mod signals;
mod sites;
mod start;
mod threads;
mod tls;
mod waits;

use contech_guest::heap::Heap;

/// Memory of our own: the end may come while the program is inside its allocator.
#[global_allocator]
static HEAP: Heap = Heap::new(|| false);

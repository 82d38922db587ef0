//! What any library inside a foreign process needs: the processor ([`arch`]), stubs that intercept
//! the program's functions ([`exports`]) and the functions behind them ([`real_functions`]), system
//! calls past the C library, a heap of its own, the process it began in and how that ends
//! ([`life`](mod@life)), messages, files that are whole, the functions of threads, the OpenMP tools
//! interface, and time.
//!
//! The recorder, the observer and the on-line profiler use this crate. It exports no symbol itself.
#![allow(unsafe_code, reason = "symbols of other libraries, and what they promise about them")]

pub mod arch;
pub mod clock;
pub mod functions;
pub mod futex;
pub mod heap;
pub mod home;
pub mod kernel;
pub mod life;
pub mod lock;
pub mod lookup;
pub mod mask;
pub mod memory;
pub mod meter;
pub mod mpi;
pub mod notice;
pub mod objects;
pub mod ompt;
pub mod threads;
pub mod whole;

pub use notice::say;

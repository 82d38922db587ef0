//! Work and span by call site, as Cilkprof measures them (Schardl et al., "The Cilkprof Scalability
//! Profiler", 2015).
//!
//! [`Measure`] has the measurements of section 6, and [`Shadow`] has the work-span variables of
//! section 3 (Figure 3) with the profiles of section 4. The runtime uses them while a program runs,
//! and the backends on recorded graphs. The crate does no I/O; [`mod@file`] is the shape of the
//! profile's file.

pub mod abi;
pub mod file;
mod measure;
mod prof;
mod shadow;
pub mod source;

pub use measure::{Measure, Sum};
pub use shadow::{Kind, Shadow, Site};

//! The observer measures each state where a program plants it, and the program does not notice.

mod guest;
mod marks;
mod observed;
mod openmp;
mod waits;

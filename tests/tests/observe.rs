//! The observer measures each state where a program plants it, and the program does not notice.

#[path = "observe/alone.rs"]
mod alone;
#[path = "observe/guest.rs"]
mod guest;
#[path = "observe/marks.rs"]
mod marks;
#[path = "observe/observed.rs"]
mod observed;
#[path = "observe/openmp.rs"]
mod openmp;
#[path = "observe/waits.rs"]
mod waits;

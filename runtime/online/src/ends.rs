//! Programs that do not end by a return from `main` or a call of `exit`, but by `_exit` or
//! `quick_exit`, or that another program replaces. The profile of what has completed is written
//! first. A program that a signal ends leaves none.
#![allow(unsafe_code, reason = "functions that C calls")]

use contech_interpose::life::{self, End, Life};

use crate::hooks::{write_at_the_end, write_now};
use crate::write::When;

/// The profiler's part in the life of the process.
struct Profiled;

contech_interpose::life!(Profiled);

impl Life for Profiled {
    fn end(end: End) {
        // Copies of the process (by fork) leave its file alone.
        if Self::is_at_home() {
            match end {
                End::Exit => write_at_the_end(),
                // If that fails, the program goes on.
                End::Exec => write_now(When::Midway),
            }
        }
    }
}

/// Makes sure that the profile is written however the program ends.
pub(crate) fn watch() {
    life::begin();
    life::watch_quick_exit::<Profiled>();
}

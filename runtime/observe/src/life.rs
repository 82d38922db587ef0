//! What the observer does about the life of its process: the observation is written before the
//! program ends. If another program replaces it, that one is not observed, and nothing is written.

use std::ffi::c_long;

use contech_interpose::life::{End, Fatal, Life};

use crate::{Observed, finish, threads, tls, waits};

contech_interpose::life!(Observed);

impl Life for Observed {
    fn end(end: End) {
        if end == End::Exit {
            finish::finish();
        }
    }

    fn killed(_: &Fatal) {
        finish::finish();
    }

    fn thread_ends(last: bool) {
        if last
            && Self::is_at_home()
            && let Some(lane) = tls::lane()
        {
            threads::end(lane);
        }
    }

    fn system_call(
        number: c_long,
        arguments: [usize; 6],
        caller: usize,
        call: impl FnOnce() -> c_long,
    ) -> c_long {
        match number {
            libc::SYS_futex => waits::futex(arguments, caller, call),
            _ => call(),
        }
    }

    fn fork_ends(child: bool) {
        if child {
            tls::set_lane(None);
        }
    }
}

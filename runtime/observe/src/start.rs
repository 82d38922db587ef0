//! Starts the observer before the program's own constructors run.

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use contech_interpose::life;

use crate::{Observed, clock, lanes, tls};

/// Variable that names the file of the observation.
const FILE: &str = "CONTECH_OBSERVE";
const PRELOAD: &CStr = c"LD_PRELOAD";

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(begin);
}

fn begin() {
    let Some(file) = std::env::var_os(FILE).filter(|file| !file.is_empty()) else {
        return;
    };
    if life::is_privileged() {
        return;
    }
    // The path must be absolute, because the program may change its working directory.
    let file = std::path::absolute(&file).unwrap_or_else(|_| PathBuf::from(&file));
    restore_environment();
    if crate::FILE.set(file).is_err() || !lanes::start() {
        return;
    }
    clock::start();
    life::begin();
    life::watch_threads::<Observed>();
    if let Some(lane) = lanes::take() {
        tls::set_lane(Some(lane));
        lane.begin();
        life::watch_this_thread();
    }
    life::watch_quick_exit::<Observed>();
    life::signals::install::<Observed>();
}

/// Restores the environment that the user gave the program, without the observer.
fn restore_environment() {
    let preload = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    let others: Vec<&[u8]> = preload
        .as_bytes()
        .split(|byte| matches!(byte, b':' | b' '))
        .filter(|name| !name.is_empty() && !name.ends_with(b"libcontech_observe.so"))
        .collect();
    let others = others.join(&b':');
    // SAFETY: before main there is one thread; the value is a C string in the process's own memory,
    // and `others` is no longer than it.
    unsafe {
        let value = libc::getenv(PRELOAD.as_ptr()).cast::<u8>();
        if others.is_empty() || value.is_null() {
            libc::unsetenv(PRELOAD.as_ptr());
        } else {
            // `setenv` would allocate on the program's heap and so move the program's own
            // allocations.
            value.copy_from_nonoverlapping(others.as_ptr(), others.len());
            value.add(others.len()).write(0);
        }
        // The variable may not reach a child process.
        std::env::remove_var(FILE);
    }
}

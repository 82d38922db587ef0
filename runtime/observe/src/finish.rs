//! Writes the observation once, at the end of the process.

use std::time::{Duration, Instant};

use contech_interpose::life::is_at_home;
use contech_interpose::lock::{Mutex, try_lock};
use contech_interpose::mask::{Blocked, Uncancellable};
use contech_interpose::memory::Errno;
use contech_interpose::{notice, whole};

use crate::{FILE, collect};

/// Whether the observation is written, or cannot be.
static WRITTEN: Mutex<bool> = Mutex::new(false);
/// How long a thread that ends the process waits for another thread that is writing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Writes the observation, if this is the observed process and no other thread has written it.
pub(crate) fn finish() {
    let Some(file) = FILE.get().filter(|_| is_at_home()) else {
        return;
    };
    let _errno = Errno::save();
    let _uncancellable = Uncancellable::new();
    let _blocked = Blocked::new();
    let since = Instant::now();
    let mut done = loop {
        match try_lock(&WRITTEN) {
            Some(done) if *done => return,
            Some(done) => break done,
            None if since.elapsed() > PATIENCE => return,
            None => std::thread::yield_now(),
        }
    };
    let written = std::panic::catch_unwind(|| {
        let bytes = serde_json::to_vec(&collect::observation())?;
        whole::replace(file, &bytes)
    });
    match written {
        Ok(Ok(())) => {}
        Ok(Err(error)) => notice::say(&format!(
            "{}: the observation cannot be written: {error}; set CONTECH_OBSERVE to another file",
            file.display()
        )),
        Err(_) => notice::say(
            "the observer failed: no observation is written (this is a bug of contech's)",
        ),
    }
    *done = true;
}

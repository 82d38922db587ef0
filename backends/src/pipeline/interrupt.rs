//! Ctrl-C while the program runs is for the program; its trace is worth a report all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status after ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

/// Decides what ctrl-C does.
#[derive(Debug)]
pub(super) struct Interrupt {
    allowed: Arc<AtomicBool>,
}

/// From now on ctrl-C ends the program (which gets it from the terminal as well) and not this process.
pub(super) fn install() -> Interrupt {
    let allowed = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&allowed);
    let handler = move || {
        if seen.load(Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("contech: ctrl-C will end contech as well: {error}");
    }
    Interrupt { allowed }
}

impl Interrupt {
    /// The program is over: ctrl-C ends this process again.
    pub(super) fn allow(&self) {
        self.allowed.store(true, Ordering::Relaxed);
    }
}

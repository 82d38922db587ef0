//! Ctrl-C ends `contech run` at once, whatever it is doing. What was recorded stays, and the last line says where it
//! is.

use std::process::exit;
use std::sync::{Arc, Mutex, PoisonError};

use contech_plain::say;

/// The exit status after ctrl-C that shells use.
const INTERRUPTED: i32 = 130;

/// What ctrl-C leaves behind.
#[derive(Debug)]
pub(super) struct Interrupt {
    /// A sentence for the user; `None` while the program runs.
    left: Arc<Mutex<Option<String>>>,
}

/// Lets ctrl-C end the program (which gets it from the terminal as well) and not this process.
pub(super) fn install() -> Interrupt {
    let left = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&left);
    let handler = move || {
        if let Some(left) = seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_deref()
        {
            stop(left);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        say!("contech: ctrl-C will end contech as well: {error}");
    }
    Interrupt { left }
}

impl Interrupt {
    /// Says that the program is over: ctrl-C then ends this process, which says what is `left`.
    pub(super) fn leaves(&self, left: String) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
    }
}

/// Ends this process as ctrl-C does.
pub(super) fn stop(left: &str) -> ! {
    say!("contech: interrupted; {left}");
    exit(INTERRUPTED)
}

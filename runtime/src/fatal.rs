//! Signals that end the process. What is recorded is written first. Then the signal does what it would have done, so
//! that a process that waits for this one sees the same.

use std::ffi::c_int;
use std::time::Duration;

use contech_guest::memory;
use contech_guest::{arch, fatal};
use contech_runtime_core::finish::Finish;
use contech_runtime_core::queue::Patience;
use contech_trace::event::EndReason;
use libc::{sigaction, siginfo_t};

use crate::current::{self, guarded};
use crate::real::Ptr;
use crate::tls::block;

/// How long a dying process waits for its writer.
const PATIENCE: Patience = Patience {
    stall: Duration::from_secs(2),
    total: Duration::from_secs(30),
};

/// The action that stands for a fatal signal's default.
pub(crate) fn action() -> sigaction {
    // SAFETY: an action is plain data for which zero is a value: no handler, no flags, empty mask.
    let mut action: sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_fatal as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the mask is live.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    action
}

unsafe extern "C" fn on_fatal(signal: c_int, info: *mut siginfo_t, context: Ptr) {
    // SAFETY: the kernel passes valid information.
    let (code, sender) = unsafe { ((*info).si_code, (*info).si_pid()) };
    let own = code <= 0 && u32::try_from(sender) == Ok(memory::process_id());
    if let Some(recorder) = current::recorder() {
        // A signal that the process sent itself came at a call, where every record was in place.
        let note = (!own).then(|| {
            format!("ended by signal {signal}: records of other running threads may miss their last blocks")
        });
        let how = Finish {
            reason: EndReason::Signal,
            patience: Some(PATIENCE),
            note,
            // SAFETY: the kernel passes the interrupted context.
            registers: Some(arch::registers(unsafe { &*context.cast() })),
        };
        guarded(|| recorder.finish(block(), &how));
    }
    fatal::end(signal, code);
}

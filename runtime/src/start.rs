//! Makes the recorder of the process at the first module, at the first flush or, after a fork, at
//! the first call that is recorded. It is never needed before.

use contech_interpose::life::{self, is_privileged};
use contech_interpose::lock::lock;
use contech_interpose::mask::{Blocked, Uncancellable};
use contech_interpose::memory::{self, Errno};
use contech_interpose::notice;
use contech_runtime_core::options::Options;
use contech_runtime_core::recorder::Start;
use contech_runtime_core::tls::{Lane, NOWHERE};
use contech_runtime_core::{Recorder, TlsBlock, scratch};

use crate::atomic;
use crate::current::{self, INHERITED, Inherited, guarded, recorder};
use crate::life::Recorded;
use crate::objects;
use crate::service::SERVICE;
use crate::{real, threads};

/// The recorder, which this makes if there is none. `None` while that is not possible yet, or while
/// this thread is making it.
#[cold]
pub(crate) fn start(tls: &TlsBlock) -> Option<&'static Recorder> {
    if !is_possible(tls) {
        return None;
    }
    let _errno = Errno::save();
    let _uncancellable = Uncancellable::new();
    let _blocked = Blocked::new();
    let _quiet = tls.quiet();
    let mut inherited = lock(&INHERITED);
    if let Some(recorder) = recorder() {
        return Some(recorder);
    }
    let made = guarded(|| make(&mut inherited)).flatten();
    if tls.thread().is_null() {
        // An instrumented allocator that was called in the meantime wrote its records to memory
        // that nobody reads. From now on its records count.
        tls.set_cursors(NOWHERE);
    }
    made
}

/// Whether a recorder could be made now.
pub(crate) fn is_possible(tls: &TlsBlock) -> bool {
    !tls.is_quiet() && current::may_be_made() && has_environment() && !is_privileged()
}

fn make(inherited: &mut Inherited) -> Option<&'static Recorder> {
    std::panic::set_hook(Box::new(|_| {}));
    real::real();
    atomic::prepare();
    let variable = |name: &str| std::env::var(name).ok();
    let (options, warnings, effective) = Options::read(variable, memory::available());
    for warning in &warnings {
        notice::say(warning);
    }
    let start = Start {
        options,
        effective,
        parent: inherited.parent,
        modules: std::mem::take(&mut inherited.modules),
    };
    let recorder = Recorder::start(start, &SERVICE);
    threads::announce_main(recorder);
    life::watch_threads::<Recorded>();
    match std::mem::take(&mut inherited.callers) {
        none if none.is_empty() => objects::refresh_callers(recorder),
        callers => recorder.callers.replace(callers),
    }
    life::watch_quick_exit::<Recorded>();
    if recorder.is_recording() {
        life::signals::install::<Recorded>();
    }
    current::set(recorder, self::start).then_some(recorder)
}

unsafe extern "C" {
    static environ: *const *const std::ffi::c_char;
}

/// Before the C library is initialised there is no environment to read options from.
fn has_environment() -> bool {
    // SAFETY: the C library defines the variable; it is only compared with null.
    unsafe { !environ.is_null() }
}

/// The slow path of instrumented code.
pub(crate) fn flush(tls: &'static TlsBlock, cursor: *mut u8, lane: Lane) -> *mut u8 {
    let flushed = guarded(|| {
        recorder().or_else(|| start(tls)).map(|recorder| recorder.flush_lane(tls, cursor, lane))
    });
    flushed.flatten().unwrap_or_else(|| scratch::last_resort(tls, lane))
}

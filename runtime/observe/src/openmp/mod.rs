//! OpenMP: what LLVM's libomp tells a tool (OMPT), and the cost of making tasks and handing out
//! iterations, which libomp does not tell.

mod costs;
mod frames;
mod regions;
mod tasks;

use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_interpose::exports;
use contech_interpose::lookup::loaded;
use contech_interpose::ompt::{Lookup, SetCallback, Tool, ask, event};

use crate::{FILE, Observed, clock, tls};

/// The OpenMP library's name, as the library gives it.
static NAME: OnceLock<String> = OnceLock::new();
/// Whether libomp tells the observer what the program does.
static LISTENS: AtomicBool = AtomicBool::new(false);

exports!(@ ompt_start_tool [] contech_interpose::ompt::start_tool::<Observed>);

impl Tool for Observed {
    fn wants(runtime: &CStr) -> bool {
        let observes = FILE.get().is_some();
        if observes {
            let _ = NAME.set(runtime.to_string_lossy().into_owned());
        }
        observes
    }

    fn starts(set: SetCallback, _lookup: Lookup) {
        LISTENS.store(true, Relaxed);
        let reports = [
            event::THREAD_BEGIN.to(regions::thread_begin),
            event::PARALLEL_BEGIN.to(regions::parallel_begin),
            event::PARALLEL_END.to(regions::parallel_end),
            event::IMPLICIT_TASK.to(regions::implicit_task),
            event::SYNC_REGION.to(regions::sync_region),
            event::WORK.to(regions::work),
            event::TASK_SCHEDULE.to(tasks::task_schedule),
        ];
        ask(set, &reports, |_, _| ());
    }
}

/// The OpenMP library's name, as the library gives it; empty if there is none.
pub(crate) fn name() -> String {
    NAME.get().cloned().unwrap_or_default()
}

/// A note about a loaded OpenMP library that cannot be observed.
pub(crate) fn note() -> Option<String> {
    if LISTENS.load(Relaxed) {
        return None;
    }
    if loaded(c"libgomp.so.1").is_some() {
        return Some(
            "libgomp is loaded, which tells no tool what it does: waiting in its barriers and for work counts as running, \
             and its parallel regions are not seen; compile with clang-22 -fopenmp, or run the program as it is on \
             LLVM's library, which has libgomp's functions, too: LD_PRELOAD=/usr/lib/llvm-22/lib/libomp.so"
                .to_owned(),
        );
    }
    let other = loaded(c"libomp.so.5").or_else(|| loaded(c"libiomp5.so")).is_some();
    // A libomp that never started has not asked for a tool. It has nothing to tell either, so it
    // needs no note.
    let deaf =
        std::env::var_os("OMP_TOOL").is_some_and(|tool| tool == "disabled") || NAME.get().is_some();
    (other && deaf).then(|| {
        "this program's libomp does not use OMPT (built without it, or OMP_TOOL=disabled): waiting in it counts as \
         running; use Debian's libomp-22-dev and unset OMP_TOOL"
            .to_owned()
    })
}

/// The calling thread's lane, and the current time.
fn running() -> Option<(&'static crate::lane::Lane, u64)> {
    Some((tls::lane()?, clock::now()))
}

//! Which parallel region the program is in, as far as it matters. One thread executes a loop in any run if the loop
//! is outside of all regions, if it is in a region whose `if` clause was false, or if its iterations wait for others.
//! A region that has one thread for any other reason (`OMP_NUM_THREADS`, `num_threads(1)`) would be parallel in other
//! runs.
#![allow(unsafe_code, reason = "functions of libomp's C interface")]

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use contech_guest::objects::objects;
use contech_guest::{found, in_front_of};

use crate::hooks;
use crate::openmp::Ptr;

found! {
    static SERIALIZED = __kmpc_serialized_parallel(Ptr, c_int);
    static LEVEL = omp_get_level() -> c_int;
}

/// The enclosing regions whose `if` clause was false: their number, and their levels.
static DEPTH: AtomicUsize = AtomicUsize::new(0);
static LEVELS: [AtomicI32; 256] = [const { AtomicI32::new(0) }; 256];
/// Begin and end of libomp's code.
static LIBRARY: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Number of parallel regions around this place; 0 without libomp.
pub(crate) fn level() -> c_int {
    // SAFETY: the function has no arguments.
    LEVEL.known().map_or(0, |level| unsafe { level() })
}

/// Whether one thread executes all iterations shared here, in any run.
pub(crate) fn is_serial() -> bool {
    let (level, depth) = (level(), DEPTH.load(Ordering::Relaxed));
    let innermost = depth.checked_sub(1).and_then(|last| LEVELS.get(last));
    level == 0 || innermost.is_some_and(|of| of.load(Ordering::Relaxed) == level)
}

/// A region of this level begins whose `if` clause is false, or a loop in it whose iterations are in order.
pub(crate) fn begin_serial(level: c_int) {
    if hooks::is_measured() {
        let depth = DEPTH.fetch_add(1, Ordering::Relaxed);
        if let Some(of) = LEVELS.get(depth) {
            of.store(level, Ordering::Relaxed);
        }
    }
}

/// The serial region or loop of this level ends, if there is one.
pub(crate) fn end_serial(level: c_int) {
    let depth = DEPTH.load(Ordering::Relaxed);
    let innermost = depth.checked_sub(1).and_then(|last| LEVELS.get(last));
    // The table does not hold the levels beyond its end; there each end belongs to a beginning.
    if hooks::is_measured()
        && (depth > LEVELS.len() || innermost.is_some_and(|of| of.load(Ordering::Relaxed) == level))
    {
        DEPTH.store(depth - 1, Ordering::Relaxed);
    }
}

/// Whether libomp's own code is at the address: libomp calls these functions for every region of one thread.
fn is_libomps(address: usize) -> bool {
    if LIBRARY[1].load(Ordering::Relaxed) == 0 {
        let function = SERIALIZED.get() as usize;
        if let Some(library) = objects().iter().find(|object| object.holds(function)) {
            LIBRARY[0].store(library.start, Ordering::Relaxed);
            LIBRARY[1].store(library.start + library.len, Ordering::Relaxed);
        }
    }
    (LIBRARY[0].load(Ordering::Relaxed)..LIBRARY[1].load(Ordering::Relaxed)).contains(&address)
}

in_front_of! {
    // A region begins: one whose `if` clause is false if the program calls this, one of one thread if libomp does.
    __kmpc_serialized_parallel [caller 2] (at: Ptr, thread: c_int; from) => |call| {
        call();
        if !is_libomps(from) {
            begin_serial(level());
        }
    };
    __kmpc_end_serialized_parallel(at: Ptr, thread: c_int) => |call| {
        if DEPTH.load(Ordering::Relaxed) > 0 {
            end_serial(level());
        }
        call();
    };
    // Begins a region whose `if` clause has this value.
    __kmpc_fork_call_if(at: Ptr, count: c_int, body: Ptr, condition: c_int, arguments: Ptr) => |call| {
        let within = level() + 1;
        if condition == 0 {
            begin_serial(within);
        }
        call();
        if condition == 0 {
            end_serial(within);
        }
    };
}

//! Records one-sided communication as marks, and its fences as collective operations.

use std::ffi::c_int;
use std::sync::Arc;

use contech_trace::event::SyncOp;

use super::collective::{marks, meet};
use super::entry::pmpi;
use super::{Call, call, state};

macro_rules! windows {
    ($($name:ident $real:ident ($($argument:ident)*) $on:ident;)*) => {$(
        pub(crate) extern "C-unwind" fn $name($($argument: usize,)* window: usize) -> c_int {
            let result = meet($on, SyncOp::MpiFence, 0, || pmpi!($real($($argument,)* window)));
            if let (0, Some(call)) = (result, call()) {
                let handle = call.abi.handle_in(window, 0);
                let communicator = call.communicator($on);
                state::with(|t| t.windows.insert(handle, communicator));
            }
            result
        }
    )*};
}

windows! {
    create Win_create (base size unit info on) on;
    allocate Win_allocate (size unit info on base) on;
    allocate_shared Win_allocate_shared (size unit info on base) on;
    create_dynamic Win_create_dynamic (info on) on;
}

/// Records a call in which all ranks that share the window meet.
fn all(handle: Option<u64>, call: Option<Call>, real: impl FnOnce() -> c_int) -> c_int {
    let known = handle.and_then(|h| state::with(|t| t.windows.get(&h).map(Arc::clone)));
    let number = known.as_ref().map(|c| c.next());
    let result = real();
    if let (0, Some(call), Some(with), Some(number)) = (result, call, known, number) {
        let meeting = with.meeting(SyncOp::MpiFence, 0);
        call.event(SyncOp::MpiFence, with.name, number, meeting);
    }
    result
}

pub(crate) extern "C-unwind" fn fence(assertion: usize, window: usize) -> c_int {
    let call = call();
    let handle = call.as_ref().map(|c| c.abi.handle(window));
    all(handle, call, || pmpi!(Win_fence(assertion, window)))
}

pub(crate) extern "C-unwind" fn free(window: usize) -> c_int {
    let call = call();
    let handle = call.as_ref().map(|c| c.abi.handle_in(window, 0));
    let result = all(handle, call, || pmpi!(Win_free(window)));
    if let Some(handle) = handle {
        state::with(|t| t.windows.remove(&handle));
    }
    result
}

marks! {
    put Put (a b c d e f g window) MpiPut;
    get Get (a b c d e f g window) MpiGet;
    accumulate Accumulate (a b c d e f g h window) MpiAccumulate;
    get_accumulate Get_accumulate (a b c d e f g h i j k window) MpiAccumulate;
    fetch_and_op Fetch_and_op (a b c d e f window) MpiAccumulate;
    compare_and_swap Compare_and_swap (a b c d e f window) MpiAccumulate;
    rput Rput (a b c d e f g window request) MpiPut;
    rget Rget (a b c d e f g window request) MpiGet;
    lock Win_lock (kind rank assertion window) MpiWindow;
    unlock Win_unlock (rank window) MpiWindow;
    lock_all Win_lock_all (assertion window) MpiWindow;
    unlock_all Win_unlock_all (window) MpiWindow;
    flush Win_flush (rank window) MpiWindow;
    flush_all Win_flush_all (window) MpiWindow;
    flush_local Win_flush_local (rank window) MpiWindow;
    flush_local_all Win_flush_local_all (window) MpiWindow;
    sync Win_sync (window) MpiWindow;
    post Win_post (group assertion window) MpiWindow;
    start Win_start (group assertion window) MpiWindow;
    complete Win_complete (window) MpiWindow;
    wait Win_wait (window) MpiWindow;
}

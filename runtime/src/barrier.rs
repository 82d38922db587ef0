//! Records the waits of barriers.

use std::ffi::{c_int, c_uint};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use contech_trace::event::SyncOp::Barrier;

use crate::active::active;
use crate::real::{Ptr, real};

/// The word of a barrier in which the C library keeps the number of participants (since version
/// 2.25). An older one may keep it elsewhere.
const COUNT: usize = 2;

/// The number of participants of a barrier; 0 if it is not known.
///
/// # Safety
/// It is a barrier.
unsafe fn participants(barrier: Ptr) -> c_uint {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    // SAFETY: a barrier has so many words, and this one does not change.
    let count = |barrier: Ptr| unsafe { barrier.cast::<c_uint>().add(COUNT).read() };
    let is_there = IS_THERE.get_or_init(|| {
        let mut own = MaybeUninit::<libc::pthread_barrier_t>::zeroed();
        let barrier = own.as_mut_ptr().cast();
        // SAFETY: the barrier is made and destroyed here, and nobody waits for it.
        unsafe {
            let made = (real().pthread_barrier_init)(barrier, std::ptr::null_mut(), 12_345);
            let found = made == 0 && count(barrier) == 12_345;
            (real().pthread_barrier_destroy)(barrier);
            found
        }
    });
    if *is_there { count(barrier) } else { 0 }
}

pub(crate) unsafe extern "C-unwind" fn pthread_barrier_wait(barrier: Ptr, caller: usize) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().pthread_barrier_wait)(barrier) };
    let Some(a) = active(caller) else {
        return call();
    };
    // SAFETY: the program waits at a barrier.
    let count = unsafe { participants(barrier) };
    let before = a.now();
    let ticket = a.ticket(barrier.addr());
    let result = call();
    if result == 0 || result == libc::PTHREAD_BARRIER_SERIAL_THREAD {
        a.with_aux(Barrier, barrier, ticket, count.into(), before, a.since(before));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_keeps_the_number_of_participants_where_it_is_looked_for() {
        let mut own = MaybeUninit::<libc::pthread_barrier_t>::zeroed();
        let barrier = own.as_mut_ptr().cast();
        // SAFETY: the barrier is made and destroyed here.
        let found = unsafe {
            assert_eq!((real().pthread_barrier_init)(barrier, std::ptr::null_mut(), 7), 0);
            let found = participants(barrier);
            (real().pthread_barrier_destroy)(barrier);
            found
        };
        assert_eq!(found, 7);
    }
}

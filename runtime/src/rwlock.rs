//! Read-write locks.

use std::ffi::c_int;

use contech_trace::event::SyncOp::{ObjectDestroy, ObjectInit, RwRead, RwUnlock, RwWrite};

use crate::active::active;
use crate::real::{Ptr, Time, real};

pub(crate) unsafe extern "C-unwind" fn init(lock: Ptr, attributes: Ptr, caller: usize) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    let result = unsafe { (real().pthread_rwlock_init)(lock, attributes) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectInit, lock, 0);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn destroy(lock: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().pthread_rwlock_destroy)(lock) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectDestroy, lock, 0);
    }
    result
}

macro_rules! locks {
    ($($name:ident($op:ident, $try_name:ident, $real:ident $(, $arg:ident: $ty:ty)*);)*) => {$(
        pub(crate) unsafe extern "C-unwind" fn $name(lock: Ptr, $($arg: $ty,)* caller: usize) -> c_int {
            let real = real();
            // SAFETY: the caller's arguments, passed on.
            let wait = || unsafe { (real.$real)(lock $(, $arg)*) };
            let Some(a) = active(caller) else { return wait() };
            // SAFETY: as above.
            let try_now = || unsafe { (real.$try_name)(lock) };
            a.acquire($op, lock, try_now, wait)
        }
    )*};
}

locks! {
    rdlock(RwRead, pthread_rwlock_tryrdlock, pthread_rwlock_rdlock);
    timedrdlock(RwRead, pthread_rwlock_tryrdlock, pthread_rwlock_timedrdlock, until: Time);
    clockrdlock(RwRead, pthread_rwlock_tryrdlock, pthread_rwlock_clockrdlock, clock: c_int, until: Time);
    wrlock(RwWrite, pthread_rwlock_trywrlock, pthread_rwlock_wrlock);
    timedwrlock(RwWrite, pthread_rwlock_trywrlock, pthread_rwlock_timedwrlock, until: Time);
    clockwrlock(RwWrite, pthread_rwlock_trywrlock, pthread_rwlock_clockwrlock, clock: c_int, until: Time);
}

pub(crate) unsafe extern "C-unwind" fn tryrdlock(lock: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().pthread_rwlock_tryrdlock)(lock) };
    active(caller).map_or(result, |a| a.try_acquire(RwRead, lock, result))
}

pub(crate) unsafe extern "C-unwind" fn trywrlock(lock: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().pthread_rwlock_trywrlock)(lock) };
    active(caller).map_or(result, |a| a.try_acquire(RwWrite, lock, result))
}

pub(crate) unsafe extern "C-unwind" fn unlock(lock: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let release = || unsafe { (real().pthread_rwlock_unlock)(lock) };
    match active(caller) {
        Some(a) => a.release(RwUnlock, lock, release),
        None => release(),
    }
}

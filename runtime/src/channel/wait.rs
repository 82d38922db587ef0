//! Waits for descriptors. Who learns that bytes are there comes after who wrote them, whether or
//! not it reads them.

use std::ffi::{c_int, c_short};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Table, learns, places};
use crate::active::Active;
use crate::real::Ptr;

/// Records what a wait for descriptors found.
pub(crate) fn ready(a: Active, list: Ptr, count: usize, call: impl FnOnce() -> c_int) -> c_int {
    let result = a.sleep(call);
    if result > 0 {
        // SAFETY: the call succeeded, so the list has so many entries.
        let list = unsafe { std::slice::from_raw_parts(list.cast::<libc::pollfd>(), count) };
        let readable: c_short = libc::POLLIN | libc::POLLHUP | libc::POLLRDHUP;
        for entry in list.iter().filter(|entry| entry.revents & readable != 0) {
            learns(a, entry.fd);
        }
    }
    result
}

/// What the program watches by epoll: a hash of the set and of what the system says of the
/// descriptor, and below it the descriptor's number. What finds no room takes the place of another,
/// which then orders nothing.
static WATCHED: Table = [const { AtomicU64::new(0) }; 4096];

/// What stands for a descriptor in a set, and the places in which it may be.
fn watched(set: c_int, data: u64) -> (u64, impl Iterator<Item = &'static AtomicU64>) {
    let set = u64::try_from(set).unwrap_or(0);
    let mixed = (data ^ set.rotate_right(20)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let key = mixed >> 32 | 1;
    (key, places(&WATCHED, mixed >> 20))
}

/// Notes that `call` changes what a set watches.
pub(crate) fn watches(
    set: c_int,
    what: c_int,
    file: c_int,
    event: Ptr,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let result = call();
    if result == 0 && what != libc::EPOLL_CTL_DEL {
        // SAFETY: success has read the event.
        let event = unsafe { event.cast::<libc::epoll_event>().read_unaligned() };
        let (key, mut places) = watched(set, event.u64);
        let entry = key << 32 | u64::from(file.unsigned_abs());
        let free = |place: &&AtomicU64| {
            let before = place.compare_exchange(0, entry, Relaxed, Relaxed);
            before.is_ok() || before == Err(entry)
        };
        if places.find(free).is_none()
            && let Some(other) = watched(set, event.u64).1.next()
        {
            other.store(entry, Relaxed);
        }
    }
    result
}

/// Records what a wait for a set of descriptors found.
pub(crate) fn announced(a: Active, set: c_int, list: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    let result = a.sleep(call);
    for n in 0..usize::try_from(result).unwrap_or(0) {
        // SAFETY: the call succeeded, so the list has so many entries.
        let event = unsafe { list.cast::<libc::epoll_event>().add(n).read_unaligned() };
        let readable = libc::EPOLLIN | libc::EPOLLHUP | libc::EPOLLRDHUP;
        if event.events & readable.unsigned_abs() == 0 {
            continue;
        }
        let (key, places) = watched(set, event.u64);
        let entries = places.map(|place| place.load(Relaxed));
        for entry in entries.filter(|entry| entry >> 32 == key) {
            let file = c_int::try_from(entry & 0xffff_ffff).unwrap_or(-1);
            learns(a, file);
        }
    }
    result
}

/// Records what a wait for the descriptors in a set of bits found.
pub(crate) fn selected(a: Active, count: c_int, read: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    let result = a.sleep(call);
    if result <= 0 || read.is_null() {
        return result;
    }
    // A longer set than the C library's has no bits that can be asked for.
    for file in 0..count.min(c_int::try_from(libc::FD_SETSIZE).unwrap_or(0)) {
        // SAFETY: the call succeeded, so the set has so many bits.
        if unsafe { libc::FD_ISSET(file, read.cast()) } {
            learns(a, file);
        }
    }
    result
}

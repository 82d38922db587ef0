//! Memory for records that nobody will read: those of untraced runs, and of threads whose context
//! has ended.

use std::sync::atomic::AtomicU8;

use contech_trace::abi::SLACK;

use crate::tls::{Lane, TlsBlock};

/// Bytes of a thread's own scratch buffer: small enough to stay in the nearest caches.
pub const BYTES: usize = SLACK + (32 << 10);

/// Bytes from the start of shared scratch memory to its limit.
pub const SHARED_ROOM: usize = 4096;
const SHARED_BYTES: usize = SLACK + SHARED_ROOM;
const SHARED: usize = 32;

#[repr(align(64))]
struct Shared([AtomicU8; SHARED_BYTES]);

/// Scratch for threads that cannot have their own, because they have ended or are inside the
/// runtime. Two threads may share one. That costs them time but does no harm, because nobody reads
/// it.
static LAST_RESORT: [Shared; SHARED] =
    [const { Shared([const { AtomicU8::new(0) }; SHARED_BYTES]) }; SHARED];

/// Points the thread's cursor into shared scratch memory, and returns it.
pub fn last_resort(tls: &TlsBlock, lane: Lane) -> *mut u8 {
    let address = std::ptr::from_ref(tls).addr();
    // Thread-local blocks of different threads differ above the page offset.
    let shared = &LAST_RESORT[(address >> 12) % SHARED].0;
    let start = shared.as_ptr().cast_mut().cast::<u8>();
    tls.set_at(lane, (start, start.wrapping_add(SHARED_ROOM)));
    start
}

/// Points both of the thread's cursors into shared scratch memory.
pub fn all_last_resort(tls: &TlsBlock) {
    for lane in Lane::ALL {
        last_resort(tls, lane);
    }
}

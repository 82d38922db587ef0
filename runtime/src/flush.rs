//! `__contech_flush` leads from instrumented code, in the middle of anything, to the slow path and back. If the buffer
//! is not full but the time is to be noted ([`stamps`]), the stub does that alone.

use std::mem::offset_of;

use contech_guest::{flush_stubs, meter};
use contech_runtime_core::scratch::SHARED_ROOM;
use contech_runtime_core::stamps::{self, offset};
use contech_runtime_core::tls::{ENDED, Lane, OWN_STACK, ROLE, SPIN, STAMPS};
use contech_trace::abi;
use contech_trace::event::raw;

use crate::start;
use crate::tls;

flush_stubs! {
    __contech_tls;
    {
        role = const ROLE,
        stack = const OWN_STACK,
        ended = const ENDED,
        scratch = const SHARED_ROOM,
        gap = sym gap_slow,
        long = const meter::LONG,
        cursor = const abi::TLS_CURSOR,
        limit = const abi::TLS_LIMIT,
        from = const STAMPS + offset::FROM,
        to = const STAMPS + offset::TO,
        last = const STAMPS + offset::LAST,
        epoch = const STAMPS + offset::EPOCH,
        taken = const STAMPS + offset::TAKEN,
        spin_event = const SPIN[0],
        spin_mark = const SPIN[1],
        time = const raw::Time::ID,
        time_taken = const offset_of!(raw::Time, taken),
        time_id = const offset_of!(raw::Time, id),
        event = const size_of::<raw::Time>(),
        apart = const stamps::APART,
        every = const stamps::EVERY,
        slow = sym slow,
    }
    {
        role = const ROLE,
        stack = const OWN_STACK,
        ended = const ENDED,
        scratch = const SHARED_ROOM,
        limit = const abi::TLS_CHECK_LIMIT,
        cursor = const abi::TLS_CHECK_CURSOR,
        slow = sym check_slow,
    }
}

/// The slow path when the buffer is full.
extern "C" fn slow(cursor: *mut u8) -> *mut u8 {
    start::flush(tls::block(), cursor, Lane::Stream)
}

/// The slow path when the time is to be noted after a long interval.
extern "C" fn gap_slow(cursor: *mut u8) -> *mut u8 {
    start::gap(tls::block(), cursor)
}

/// The slow path of the second stream.
extern "C" fn check_slow(cursor: *mut u8) -> *mut u8 {
    start::flush(tls::block(), cursor, Lane::Check)
}

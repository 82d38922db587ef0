//! `__contech_flush` leads from instrumented code, in the middle of anything, to the slow path and
//! back.

use contech_interpose::flush_stubs;
use contech_runtime_core::scratch::SHARED_ROOM;
use contech_runtime_core::tls::{ENDED, Lane, OWN_STACK, ROLE};
use contech_trace::abi;

use crate::start;
use crate::tls;

flush_stubs! {
    __contech_tls;
    flush {
        role = const ROLE,
        stack = const OWN_STACK,
        ended = const ENDED,
        scratch = const SHARED_ROOM,
        cursor = const abi::TLS_CURSOR,
        limit = const abi::TLS_LIMIT,
        slow = sym slow,
    }
    check_flush {
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

/// The slow path of the second stream.
extern "C" fn check_slow(cursor: *mut u8) -> *mut u8 {
    start::flush(tls::block(), cursor, Lane::Check)
}

//! Connections of sockets: who listens at an address comes before who connects to it, and that one
//! before who accepts the connection; and which sockets are the two ends of a pair.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{
    CONNECTED, LISTENED, Name, Table, can_order, family, name, object, path, places, port, sort_of,
};
use crate::active::Active;
use crate::real::Ptr;

/// The object of connections to an address.
fn object_at(sort: u64, address: &Name) -> Option<Ptr> {
    match family(address) {
        libc::AF_INET | libc::AF_INET6 => Some(object(sort, port(address))),
        libc::AF_UNIX => Some(object(sort, path(address) | 1 << 55)),
        _ => None,
    }
}

/// The object of connections to the address that the socket itself has.
fn own(sort: u64, file: c_int) -> Option<Ptr> {
    let own = can_order().then(|| name(libc::SYS_getsockname, file))??;
    object_at(sort, &own)
}

/// Records that the thread is about to listen.
pub(crate) fn listens(a: Active, file: c_int, call: impl FnOnce() -> c_int) -> c_int {
    a.sends(own(LISTENED, file));
    call()
}

/// Records that `call` connects to an address of `length` bytes.
pub(crate) fn connects(a: Active, to: Ptr, length: c_uint, call: impl FnOnce() -> c_int) -> c_int {
    if to.is_null() || !can_order() {
        return call();
    }
    let mut address: Name = [0; 112];
    let bytes = usize::try_from(length).unwrap_or(0).min(address.len());
    // SAFETY: the caller passes an address of that length.
    unsafe { to.cast::<u8>().copy_to_nonoverlapping(address.as_mut_ptr(), bytes) };
    a.sends(object_at(CONNECTED, &address));
    a.receives(call, |&result| object_at(LISTENED, &address).filter(|_| result == 0))
}

/// Records that `call` takes a connection to the socket.
pub(crate) fn accepts(a: Active, file: c_int, call: impl FnOnce() -> c_int) -> c_int {
    a.receives(call, |&result| if result >= 0 { own(CONNECTED, file) } else { None })
}

/// The ends of pairs of sockets: the inode, and above it a number that is even for one end of a
/// pair and odd for the other. Nothing is taken out, because no inode comes again. What finds no
/// room is a local socket without a path.
static ENDS: Table = [const { AtomicU64::new(0) }; 4096];
static PAIRS: AtomicU64 = AtomicU64::new(1);

pub(super) fn end_of_pair(inode: u64) -> Option<u64> {
    let found = places(&ENDS, inode).map(|place| place.load(Relaxed));
    let mut found = found.filter(|end| end & 0xffff_ffff == inode && *end != 0);
    found.next().map(|end| end >> 32)
}

fn keep_pair(inodes: [u64; 2]) {
    let pair = PAIRS.fetch_add(1, Relaxed) & 0x3fff_ffff;
    let mut kept: Option<(&AtomicU64, u64)> = None;
    for (inode, number) in inodes.into_iter().zip([pair << 1, pair << 1 | 1]) {
        let end = number << 32 | inode;
        let free = |place: &&AtomicU64| place.compare_exchange(0, end, Relaxed, Relaxed).is_ok();
        match places(&ENDS, inode).find(free) {
            Some(place) => kept = Some((place, end)),
            // An end that is known alone would not find the other one.
            None => return kept.map_or((), |(place, _)| place.store(0, Relaxed)),
        }
    }
}

/// Keeps which sockets are the ends of the pair that `call` makes.
pub(crate) fn pairs(pair: *mut [c_int; 2], call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if result == 0 {
        // SAFETY: success stored the descriptors there.
        if let [Some((_, a)), Some((_, b))] = unsafe { *pair }.map(sort_of) {
            keep_pair([a, b]);
        }
    }
    result
}

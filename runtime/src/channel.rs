//! Order through the system: what one thread writes to a pipe, socket or counter (eventfd) and
//! another reads from it, and signals. What is sent is recorded before the call that sends it, and
//! what is received after the call that receives it, so a receiver's ticket follows those of all
//! that it may have received.
//!
//! A pipe is known by its inode, a stream by its two ends. Where nothing tells several objects
//! apart they count as one, and a receiver comes after more than it received: datagrams,
//! connections to one local path, and signals of one number. What a thread reads from a descriptor
//! of signals (signalfd) it comes after as if it had got them all. A counter is known by its
//! descriptor's number; once one was duplicated, all counters count as one. A connection is known
//! by the port or path that it is made to. Regular files, terminals and devices order nothing.

mod aio;
mod connection;
mod queue;
mod signal;
mod stdio;
mod wait;

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use contech_interpose::arch::system_call;
use contech_interpose::kernel;
use contech_runtime_core::Recorder;
use contech_trace::event::SyncOp::{Receive, Ring};

use crate::active::{self, Active, OWN_OBJECTS, active};
use crate::current;
use crate::library;
use crate::objects;
use crate::real::{Ptr, real_if_ready};

pub(crate) use aio::{asks, awaits, finishes, lists, starts};
pub(crate) use connection::{accepts, connects, listens, pairs};
pub(crate) use queue::{dequeues, enqueues, moves, operates, sets};
pub(crate) use signal::{
    gathers, installs_handler, sends_signal, sets_timer, signal_came, waits_for_signal,
};
pub(crate) use stdio::{closes, gets, has_no_streams, opens, puts};
pub(crate) use wait::{announced, ready, selected, watches};

/// Sorts of objects, which are told apart by a number of each sort.
const PIPE: u64 = 1;
const COUNTER: u64 = 2;
const DATAGRAMS: u64 = 3;
const STREAM: u64 = 4;
const LOCAL: u64 = 5;
const PAIR: u64 = 6;
const SIGNAL: u64 = 7;
/// That who listens at an address comes before who connects to it, and that one before who accepts
/// the connection.
const LISTENED: u64 = 8;
const CONNECTED: u64 = 9;

/// True once a counter has two descriptors.
static DUPLICATED: AtomicBool = AtomicBool::new(false);

fn object(sort: u64, number: u64) -> Ptr {
    const BITS: u32 = OWN_OBJECTS.trailing_zeros();
    let mixed = (number ^ sort << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS);
    active::object(mixed | OWN_OBJECTS)
}

/// What is sent or received through the descriptor goes through this object.
fn object_of(file: c_int, sends: bool) -> Option<Ptr> {
    // The standard streams lead out of the program.
    if (0..=2).contains(&file) || !can_order() {
        return None;
    }
    let (sort, inode) = sort_of(file)?;
    match sort {
        libc::S_IFIFO => Some(object(PIPE, inode)),
        libc::S_IFSOCK => socket(file, inode, sends),
        // The system has one inode for all counters.
        0 if DUPLICATED.load(Relaxed) => Some(object(COUNTER, u64::MAX)),
        0 => Some(object(COUNTER, u64::try_from(file).ok()?)),
        _ => None,
    }
}

/// The sort of file and its inode.
fn sort_of(file: c_int) -> Option<(libc::mode_t, u64)> {
    // SAFETY: zero is a value of this record, which the call fills in.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    ask(libc::SYS_fstat, file, [(&raw mut about).expose_provenance()])?;
    Some((about.st_mode & libc::S_IFMT, about.st_ino))
}

/// Asks the kernel about a descriptor. The program's errno stays.
fn ask<const N: usize>(number: libc::c_long, file: c_int, rest: [usize; N]) -> Option<()> {
    let mut all = [0; 5];
    all[0] = usize::try_from(file).ok()?;
    all[1..=N].copy_from_slice(&rest);
    // SAFETY: the call writes to live records of the sizes that it is given.
    unsafe { kernel::call(number, all) }.ok().map(drop)
}

fn socket(file: c_int, inode: u64, sends: bool) -> Option<Ptr> {
    if let Some(end) = connection::end_of_pair(inode) {
        return Some(object(PAIR, end ^ u64::from(sends)));
    }
    let (mut kind, mut size) = (0 as c_int, 4u32);
    let option = [libc::SOL_SOCKET, libc::SO_TYPE].map(|n| usize::try_from(n).unwrap_or(0));
    let (kind_at, size_at) = (&raw mut kind, &raw mut size);
    let room = [kind_at.expose_provenance(), size_at.expose_provenance()];
    ask(libc::SYS_getsockopt, file, [option[0], option[1], room[0], room[1]])?;
    if kind == libc::SOCK_DGRAM {
        return Some(object(DATAGRAMS, 0));
    }
    let own = name(libc::SYS_getsockname, file)?;
    let peer = name(libc::SYS_getpeername, file)?;
    match family(&own) {
        libc::AF_INET | libc::AF_INET6 => {
            let (from, to) = if sends { (&own, &peer) } else { (&peer, &own) };
            Some(object(STREAM, port(from) << 16 | port(to)))
        }
        // One end has the path.
        libc::AF_UNIX => Some(object(LOCAL, path(&own) ^ path(&peer))),
        _ => None,
    }
}

fn family(name: &Name) -> c_int {
    c_int::from(u16::from_ne_bytes([name[0], name[1]]))
}

fn port(name: &Name) -> u64 {
    u64::from(u16::from_be_bytes([name[2], name[3]]))
}

/// A number for a path; 0 if there is none.
fn path(name: &Name) -> u64 {
    let bytes = name[2..].iter();
    bytes.rev().fold(0u64, |path, byte| path.wrapping_mul(31).wrapping_add(u64::from(*byte)))
}

/// An address of a socket; bytes that it does not have are zero.
type Name = [u8; 112];

fn name(call: libc::c_long, file: c_int) -> Option<Name> {
    let (mut name, mut size) = ([0; 112], 112u32);
    let (at, size_at) = (&raw mut name, &raw mut size);
    ask(call, file, [at.expose_provenance(), size_at.expose_provenance()])?;
    Some(name)
}

/// Entries that are found by a number. There is no lock, which a forked child might find held.
type Table = [AtomicU64; 4096];

/// The places in which an entry with this number may be.
fn places(table: &'static Table, number: u64) -> impl Iterator<Item = &'static AtomicU64> {
    let first = usize::try_from(number).unwrap_or(0);
    (0..8).map(move |n| &table[first.wrapping_add(n) % table.len()])
}

/// Whether descriptors may order the calling thread with another context.
fn can_order() -> bool {
    // What a library of tasks does is no order of the program. The only context orders nothing with
    // another, and needs not be asked about its files.
    !library::is_called() && !current::recorder().is_none_or(Recorder::is_alone)
}

/// Notes that `call` gives a descriptor a second number.
pub(crate) fn duplicates(file: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    signal::copies(file, result);
    if result >= 0 && sort_of(file).is_some_and(|(sort, _)| sort == 0) {
        DUPLICATED.store(true, Relaxed);
    }
    result
}

/// Does that for `fcntl`, which may do something else.
pub(crate) fn controls(file: c_int, what: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if matches!(what, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        duplicates(file, call)
    } else {
        call()
    }
}

/// Records that `call` gives something to others through the descriptor, or says that nothing more
/// will come.
#[inline(always)]
pub(crate) fn send<R>(a: Active, file: c_int, call: impl FnOnce() -> R) -> R {
    a.sends(object_of(file, true));
    call()
}

/// Records that `call` takes something through the descriptor, or learns that nothing more will
/// come.
#[inline(always)]
pub(crate) fn receive<R: PartialOrd + Default>(
    a: Active,
    file: c_int,
    call: impl FnOnce() -> R,
) -> R {
    let Some(object) = object_of(file, false) else {
        return call();
    };
    let result = a.receives(call, |result| (*result >= R::default()).then_some(object));
    if result >= R::default() {
        signal::came_through(file);
    }
    result
}

/// Records that the thread knows that something came through the descriptor.
fn learns(a: Active, file: c_int) {
    if let Some(object) = object_of(file, false) {
        a.instant(Receive, object, 0);
        signal::came_through(file);
    }
}

/// Records that `call` gives up the descriptor.
fn gives_up(a: Active, file: c_int, call: impl FnOnce() -> c_int) -> c_int {
    signal::forgets(file);
    send(a, file, call)
}

/// Records that the thread asks the kernel for work that is done beside it (`io_uring_enter`).
pub(crate) fn enters_ring(caller: usize) {
    if let Some(a) = theirs(caller) {
        a.instant(Ring, std::ptr::null_mut(), 0);
    }
}

/// The calling thread, if a call from the code at `caller` is recorded and is not the recorder's
/// own.
#[inline(always)]
pub(crate) fn theirs(caller: usize) -> Option<Active> {
    if objects::is_own(caller) {
        return None;
    }
    active(caller)
}

/// Functions that an allocator of the program's may call while `dlsym` allocates: then there are no
/// real ones yet.
macro_rules! may_come_early {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty: $number:path, $how:ident;)*) => {$(
        pub(crate) unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $ty,)* caller: usize) -> $ret {
            let call = || match real_if_ready() {
                // SAFETY: the caller's arguments are passed on.
                Some(real) => unsafe { (real.$name)(file, $($arg),*) },
                None => {
                    let mut all = [0; 3];
                    let given = [usize::try_from(file).unwrap_or(usize::MAX), $($arg as usize),*];
                    all[..given.len()].copy_from_slice(&given);
                    // SAFETY: the caller's arguments are passed on.
                    let result = unsafe { system_call($number, all[0], all[1], all[2], 0, 0, 0) };
                    <$ret>::try_from(result).unwrap_or(-1)
                }
            };
            match theirs(caller) {
                Some(a) => $how(a, file, call),
                None => call(),
            }
        }
    )*};
}

may_come_early! {
    read(to: Ptr, size: usize) -> isize: libc::SYS_read, receive;
    write(from: Ptr, size: usize) -> isize: libc::SYS_write, send;
    close() -> c_int: libc::SYS_close, gives_up;
}

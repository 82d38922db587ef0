//! Order through the system: what one thread writes to a pipe, socket or counter (eventfd) and another reads from it,
//! and signals. What is sent is recorded before the call that sends it, and what is received after the call that
//! receives it, so a receiver's ticket follows those of all that it may have received.
//!
//! A pipe is known by its inode, a stream by its two ends. Where nothing tells several objects apart they count as one,
//! and a receiver comes after more than it received: datagrams, connections to one local path, and signals of one
//! number. A counter is known by its descriptor's number; once one was duplicated, all counters count as one. A
//! connection is known by the port or path that it is made to. Regular files, terminals and devices order nothing.

use std::ffi::{c_int, c_short, c_uint};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use contech_guest::arch::system_call;
use contech_guest::kernel;
use contech_runtime_core::Recorder;
use contech_trace::event::SyncOp::{Receive, Send};

use crate::active::{Active, OWN_OBJECTS, active, recording};
use crate::current;
use crate::library;
use crate::objects;
use crate::real::{Ptr, Time, real, real_if_ready};

/// Sorts of objects, which are told apart by a number of each sort.
const PIPE: u64 = 1;
const COUNTER: u64 = 2;
const DATAGRAMS: u64 = 3;
const STREAM: u64 = 4;
const LOCAL: u64 = 5;
const PAIR: u64 = 6;
const SIGNAL: u64 = 7;
/// That who listens at an address comes before who connects to it, and that one before who accepts the connection.
const LISTENED: u64 = 8;
const CONNECTED: u64 = 9;

/// True once the program may be forbidden the system calls that tell what a descriptor is.
static BLIND: AtomicBool = AtomicBool::new(false);

/// The system calls of this module.
pub(crate) const NEEDED: [libc::c_long; 4] = [
    libc::SYS_fstat,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
];

/// True once a counter has two descriptors.
static DUPLICATED: AtomicBool = AtomicBool::new(false);

/// From now on descriptors order nothing.
pub(crate) fn be_blind() {
    BLIND.store(true, Relaxed);
}

fn object(sort: u64, number: u64) -> Ptr {
    const BITS: u32 = OWN_OBJECTS.trailing_zeros();
    let mixed = (number ^ sort << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS);
    std::ptr::without_provenance_mut(usize::try_from(mixed | OWN_OBJECTS).unwrap_or(0))
}

/// What is sent or received through the descriptor goes through this object.
fn object_of(file: c_int, sends: bool) -> Option<Ptr> {
    // The standard streams lead out of the program, and what a library of tasks does is no order of the program.
    if BLIND.load(Relaxed) || (0..=2).contains(&file) || library::is_called() {
        return None;
    }
    // The only context orders nothing with another, and needs not be asked about its files.
    if current::recorder().is_none_or(Recorder::is_alone) {
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
    ask(
        libc::SYS_fstat,
        file,
        [(&raw mut about).expose_provenance()],
    )?;
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
    if let Some(end) = end_of_pair(inode) {
        return Some(object(PAIR, end ^ u64::from(sends)));
    }
    let (mut kind, mut size) = (0 as c_int, 4u32);
    let option = [libc::SOL_SOCKET, libc::SO_TYPE].map(|n| usize::try_from(n).unwrap_or(0));
    let (kind_at, size_at) = (&raw mut kind, &raw mut size);
    let room = [kind_at.expose_provenance(), size_at.expose_provenance()];
    ask(
        libc::SYS_getsockopt,
        file,
        [option[0], option[1], room[0], room[1]],
    )?;
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
    bytes.rev().fold(0u64, |path, byte| {
        path.wrapping_mul(31).wrapping_add(u64::from(*byte))
    })
}

/// An address of a socket; bytes that it does not have are zero.
type Name = [u8; 112];

fn name(call: libc::c_long, file: c_int) -> Option<Name> {
    let (mut name, mut size) = ([0; 112], 112u32);
    let (at, size_at) = (&raw mut name, &raw mut size);
    ask(
        call,
        file,
        [at.expose_provenance(), size_at.expose_provenance()],
    )?;
    Some(name)
}

/// The object of connections to an address.
fn object_at(sort: u64, address: &Name) -> Option<Ptr> {
    match family(address) {
        libc::AF_INET | libc::AF_INET6 => Some(object(sort, port(address))),
        libc::AF_UNIX => Some(object(sort, path(address) | 1 << 55)),
        _ => None,
    }
}

/// The calling thread, if a call from the code at `caller` may order it with another context by way of a connection.
fn connecting(caller: usize) -> Option<Active> {
    let alone = || current::recorder().is_none_or(Recorder::is_alone);
    theirs(caller).filter(|_| !BLIND.load(Relaxed) && !library::is_called() && !alone())
}

pub(crate) unsafe extern "C-unwind" fn listen(file: c_int, waiting: c_int, caller: usize) -> c_int {
    if let Some(a) = connecting(caller)
        && let Some(object) =
            name(libc::SYS_getsockname, file).and_then(|own| object_at(LISTENED, &own))
    {
        a.instant(Send, object, 0);
    }
    // SAFETY: the caller's arguments are passed on.
    unsafe { (real().listen)(file, waiting) }
}

pub(crate) unsafe extern "C-unwind" fn connect(
    file: c_int,
    to: Ptr,
    length: c_uint,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().connect)(file, to, length) };
    let Some(a) = connecting(caller).filter(|_| !to.is_null()) else {
        return call();
    };
    let mut address: Name = [0; 112];
    let bytes = usize::try_from(length).unwrap_or(0).min(address.len());
    // SAFETY: the caller passes an address of that length.
    unsafe {
        to.cast::<u8>()
            .copy_to_nonoverlapping(address.as_mut_ptr(), bytes)
    };
    if let Some(object) = object_at(CONNECTED, &address) {
        a.instant(Send, object, 0);
    }
    let before = a.now();
    let result = call();
    if result == 0
        && let Some(object) = object_at(LISTENED, &address)
    {
        a.in_order(Receive, object, 0, before, a.since(before));
    }
    result
}

/// Records that `call` takes a connection to the socket.
fn accepts(file: c_int, caller: usize, call: impl FnOnce() -> c_int) -> c_int {
    let Some(a) = connecting(caller) else {
        return call();
    };
    let before = a.now();
    let result = call();
    if result >= 0
        && let Some(object) =
            name(libc::SYS_getsockname, file).and_then(|own| object_at(CONNECTED, &own))
    {
        a.in_order(Receive, object, 0, before, a.since(before));
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn accept(
    file: c_int,
    from: Ptr,
    length: Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    accepts(file, caller, || unsafe {
        (real().accept)(file, from, length)
    })
}

pub(crate) unsafe extern "C-unwind" fn accept4(
    file: c_int,
    from: Ptr,
    length: Ptr,
    flags: c_int,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    accepts(file, caller, || unsafe {
        (real().accept4)(file, from, length, flags)
    })
}

/// Notes that `call` gives a descriptor a second number.
fn duplicates(file: c_int, caller: usize, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if result >= 0
        && theirs(caller).is_some()
        && !BLIND.load(Relaxed)
        && sort_of(file).is_some_and(|(sort, _)| sort == 0)
    {
        DUPLICATED.store(true, Relaxed);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn dup(file: c_int, caller: usize) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    duplicates(file, caller, || unsafe { (real().dup)(file) })
}

pub(crate) unsafe extern "C-unwind" fn dup2(file: c_int, other: c_int, caller: usize) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    duplicates(file, caller, || unsafe { (real().dup2)(file, other) })
}

pub(crate) unsafe extern "C-unwind" fn dup3(
    file: c_int,
    other: c_int,
    flags: c_int,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    duplicates(file, caller, || unsafe {
        (real().dup3)(file, other, flags)
    })
}

/// The ends of pairs of sockets: the inode, and above it a number that is even for one end of a pair and odd for the
/// other. Nothing is taken out, because no inode comes again. What finds no room is a local socket without a path.
static ENDS: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];
static PAIRS: AtomicU64 = AtomicU64::new(1);

/// The places in which the end with this inode may be.
fn places(inode: u64) -> impl Iterator<Item = &'static AtomicU64> {
    let first = usize::try_from(inode).unwrap_or(0);
    (0..8).map(move |n| &ENDS[first.wrapping_add(n) % ENDS.len()])
}

fn end_of_pair(inode: u64) -> Option<u64> {
    let found = places(inode).map(|place| place.load(Relaxed));
    let mut found = found.filter(|end| end & 0xffff_ffff == inode && *end != 0);
    found.next().map(|end| end >> 32)
}

fn keep_pair(inodes: [u64; 2]) {
    let pair = PAIRS.fetch_add(1, Relaxed) & 0x3fff_ffff;
    let mut kept: Option<(&AtomicU64, u64)> = None;
    for (inode, number) in inodes.into_iter().zip([pair << 1, pair << 1 | 1]) {
        let end = number << 32 | inode;
        let free = |place: &&AtomicU64| place.compare_exchange(0, end, Relaxed, Relaxed).is_ok();
        match places(inode).find(free) {
            Some(place) => kept = Some((place, end)),
            // An end that is known alone would not find the other one.
            None => return kept.map_or((), |(place, _)| place.store(0, Relaxed)),
        }
    }
}

pub(crate) unsafe extern "C-unwind" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    pair: *mut [c_int; 2],
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let result = unsafe { (real().socketpair)(domain, kind, protocol, pair) };
    if result == 0 && !BLIND.load(Relaxed) && active(caller).is_some() {
        // SAFETY: success stored the descriptors there.
        if let [Some((_, a)), Some((_, b))] = unsafe { *pair }.map(sort_of) {
            keep_pair([a, b]);
        }
    }
    result
}

/// Records that `call` gives something to others through the descriptor, or says that nothing more will come.
#[inline(always)]
pub(crate) fn send<R>(a: Active, file: c_int, call: impl FnOnce() -> R) -> R {
    if let Some(object) = object_of(file, true) {
        a.instant(Send, object, 0);
    }
    call()
}

/// Records that `call` takes something through the descriptor, or learns that nothing more will come.
#[inline(always)]
pub(crate) fn receive<R: PartialOrd + Default>(
    a: Active,
    file: c_int,
    call: impl FnOnce() -> R,
) -> R {
    let Some(object) = object_of(file, false) else {
        return call();
    };
    let before = a.now();
    let result = call();
    if result >= R::default() {
        a.in_order(Receive, object, 0, before, a.since(before));
    }
    result
}

/// The calling thread, if a call from the code at `caller` is recorded and is not the recorder's own.
#[inline(always)]
pub(crate) fn theirs(caller: usize) -> Option<Active> {
    if objects::is_own(caller) {
        return None;
    }
    active(caller)
}

/// Functions that an allocator of the program's may call while `dlsym` allocates: then there are no real ones yet.
macro_rules! may_come_early {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty: $number:path, $how:ident;)*) => {$(
        pub(crate) unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $ty,)* caller: usize) -> $ret {
            let call = || match real_if_ready() {
                // SAFETY: the caller's arguments are passed on.
                Some(real) => unsafe { (real.$name)(file, $($arg),*) },
                None => {
                    let mut all = [0; 3];
                    let given = [usize::try_from(file).unwrap_or(usize::MAX), $($arg.word()),*];
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

/// An argument as the kernel takes it.
trait Word {
    fn word(self) -> usize;
}

impl Word for Ptr {
    fn word(self) -> usize {
        self.expose_provenance()
    }
}

impl Word for usize {
    fn word(self) -> usize {
        self
    }
}

may_come_early! {
    read(to: Ptr, size: usize) -> isize: libc::SYS_read, receive;
    write(from: Ptr, size: usize) -> isize: libc::SYS_write, send;
    close() -> c_int: libc::SYS_close, send;
}

/// Records what a wait for descriptors found. Who learns that bytes are there comes after who wrote them, whether or not
/// it reads them.
fn ready(
    a: Active,
    list: *const libc::pollfd,
    count: usize,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let result = a.sleep(call);
    if result > 0 {
        // SAFETY: the call succeeded, so the list has so many entries.
        let list = unsafe { std::slice::from_raw_parts(list, count) };
        let readable: c_short = libc::POLLIN | libc::POLLHUP | libc::POLLRDHUP;
        for entry in list.iter().filter(|entry| entry.revents & readable != 0) {
            if let Some(object) = object_of(entry.fd, false) {
                a.instant(Receive, object, 0);
            }
        }
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn poll(
    list: Ptr,
    count: usize,
    span: c_int,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().poll)(list, count, span) };
    match theirs(caller) {
        Some(a) => ready(a, list.cast(), count, call),
        None => call(),
    }
}

pub(crate) unsafe extern "C-unwind" fn ppoll(
    list: Ptr,
    count: usize,
    span: Time,
    mask: Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().ppoll)(list, count, span, mask) };
    match theirs(caller) {
        Some(a) => ready(a, list.cast(), count, call),
        None => call(),
    }
}

/// What the program watches by epoll: a hash of the set and of what the system says of the descriptor, and below it the
/// descriptor's number. What finds no room takes the place of another, which then orders nothing.
static WATCHED: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];

/// What stands for a descriptor in a set, and the places in which it may be.
fn watched(set: c_int, data: u64) -> (u64, impl Iterator<Item = &'static AtomicU64>) {
    let set = u64::try_from(set).unwrap_or(0);
    let mixed = (data ^ set.rotate_right(20)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let key = mixed >> 32 | 1;
    let first = usize::try_from(mixed >> 20).unwrap_or(0);
    let places = (0..8).map(move |n| &WATCHED[first.wrapping_add(n) % WATCHED.len()]);
    (key, places)
}

pub(crate) unsafe extern "C-unwind" fn epoll_ctl(
    set: c_int,
    what: c_int,
    file: c_int,
    event: Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let result = unsafe { (real().epoll_ctl)(set, what, file, event) };
    if result == 0 && what != libc::EPOLL_CTL_DEL && theirs(caller).is_some() {
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
fn announced(a: Active, set: c_int, list: Ptr, call: impl FnOnce() -> c_int) -> c_int {
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
            if let Some(object) = object_of(file, false) {
                a.instant(Receive, object, 0);
            }
        }
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn epoll_wait(
    set: c_int,
    list: Ptr,
    count: c_int,
    span: c_int,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().epoll_wait)(set, list, count, span) };
    match theirs(caller) {
        Some(a) => announced(a, set, list, call),
        None => call(),
    }
}

pub(crate) unsafe extern "C-unwind" fn epoll_pwait(
    set: c_int,
    list: Ptr,
    count: c_int,
    span: c_int,
    mask: Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().epoll_pwait)(set, list, count, span, mask) };
    match theirs(caller) {
        Some(a) => announced(a, set, list, call),
        None => call(),
    }
}

/// Records what a wait for the descriptors in a set of bits found.
fn selected(a: Active, count: c_int, read: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    let result = a.sleep(call);
    if result <= 0 || read.is_null() {
        return result;
    }
    // A longer set than the C library's has no bits that can be asked for.
    for file in 0..count.min(c_int::try_from(libc::FD_SETSIZE).unwrap_or(0)) {
        // SAFETY: the call succeeded, so the set has so many bits.
        if unsafe { libc::FD_ISSET(file, read.cast()) }
            && let Some(object) = object_of(file, false)
        {
            a.instant(Receive, object, 0);
        }
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn select(
    count: c_int,
    read: Ptr,
    write: Ptr,
    except: Ptr,
    span: Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().select)(count, read, write, except, span) };
    match theirs(caller) {
        Some(a) => selected(a, count, read, call),
        None => call(),
    }
}

pub(crate) unsafe extern "C-unwind" fn pselect(
    count: c_int,
    read: Ptr,
    write: Ptr,
    except: Ptr,
    span: Time,
    mask: Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().pselect)(count, read, write, except, span, mask) };
    match theirs(caller) {
        Some(a) => selected(a, count, read, call),
        None => call(),
    }
}

/// The signals that were sent, or whose handlers were installed, as bits.
static SENT: AtomicU64 = AtomicU64::new(0);

fn bit(signal: c_int) -> u64 {
    u32::try_from(signal - 1)
        .ok()
        .and_then(|n| 1u64.checked_shl(n))
        .unwrap_or(0)
}

fn object_of_signal(signal: c_int) -> Ptr {
    object(SIGNAL, u64::try_from(signal).unwrap_or(0))
}

/// Records that the thread is about to send a signal, or to do what makes the system send it.
pub(crate) fn sends_signal(a: Active, signal: c_int) {
    SENT.fetch_or(bit(signal), Relaxed);
    a.instant(Send, object_of_signal(signal), 0);
}

/// The same for a thread that installs a handler. One of a library that is not recorded accesses nothing that is.
pub(crate) fn installs_handler(signal: c_int, handler: usize) {
    // A fault is the thread's own.
    const FAULTS: [c_int; 5] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
    ];
    if !FAULTS.contains(&signal)
        && let Some(a) = active(handler)
    {
        sends_signal(a, signal);
    }
}

/// Records that a signal came to the calling thread.
pub(crate) fn signal_came(signal: c_int) {
    if SENT.load(Relaxed) & bit(signal) != 0
        && let Some(a) = recording()
    {
        a.instant(Receive, object_of_signal(signal), 0);
    }
}

pub(crate) unsafe extern "C-unwind" fn setitimer(
    timer: c_int,
    new: Ptr,
    old: Ptr,
    caller: usize,
) -> c_int {
    let signal = match timer {
        libc::ITIMER_VIRTUAL => libc::SIGVTALRM,
        libc::ITIMER_PROF => libc::SIGPROF,
        _ => libc::SIGALRM,
    };
    if let Some(a) = theirs(caller) {
        sends_signal(a, signal);
    }
    // SAFETY: the caller's arguments are passed on.
    unsafe { (real().setitimer)(timer, new, old) }
}

pub(crate) unsafe extern "C-unwind" fn sigwait(
    set: Ptr,
    signal: *mut c_int,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().sigwait)(set, signal) };
    let Some(a) = theirs(caller) else {
        return call();
    };
    let result = a.sleep(call);
    if result == 0 {
        // SAFETY: success stored the signal there.
        signal_came(unsafe { signal.read() });
    }
    result
}

//! The thread-local block that the runtime shares with instrumented code.

use std::ffi::c_void;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed,
};

use contech_trace::abi;

use crate::gate::EACH;
pub use crate::lane::Lane;
use crate::spin::Spin;
use crate::stamps::Stamps;

/// The thread takes part in recording.
pub const PROGRAM: u32 = 0;
/// The thread belongs to the runtime, so its calls are not intercepted.
pub const RUNTIME: u32 = 1;
/// The thread's context has ended; code that still runs in it is not recorded.
pub const ENDED: u32 = 2;
/// The thread runs code of a library whose tasks are recorded and whose own code is not
/// ([`crate::library`]).
pub const LIBRARY: u32 = 3;

/// A bit of `allocating` that no count of nesting reaches.
const PARKED: u32 = 1 << 31;

/// The type of `__contech_tls`. That of a thread that has not recorded anything is all zero. Its
/// fields are atomics because the thread that finishes the trace reads those of other threads. The
/// owner accesses them as plain words.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct TlsBlock {
    cursor: AtomicPtr<u8>,
    limit: AtomicPtr<u8>,
    /// The state of the thread, whose type [`crate::thread`] knows; null before the first flush.
    pub(crate) state: AtomicPtr<c_void>,
    check_cursor: AtomicPtr<u8>,
    check_limit: AtomicPtr<u8>,
    quiet: AtomicU32,
    allocating: AtomicU32,
    role: AtomicU32,
    handlers: AtomicU16,
    /// The thread's last event may still change, because the operation that it tells of is being
    /// done.
    pub(crate) announces: AtomicBool,
    /// A word for the interception of calls that call back (`pthread_once`). It holds the address
    /// of the current call.
    pub call: AtomicU64,
    spin: Spin,
    owner: AtomicU64,
    stamps: Stamps,
    /// The [`crate::gate::Gate`]'s number when the thread last asked it, or [`EACH`].
    gate: AtomicU32,
    asked: AtomicU32,
    asks_at: AtomicU64,
    /// What instrumented code writes here is not kept.
    gated: AtomicBool,
    /// The upper end of the [stack](contech_interpose::arch::on_own_stack) on which the thread's
    /// slow paths run, because its signal handlers run on an alternate stack, which may be small; 0
    /// if they run on the program's stack.
    pub(crate) own_stack: AtomicUsize,
}

const _: () = {
    assert!(size_of::<TlsBlock>() == abi::TLS_SIZE);
    assert!(std::mem::offset_of!(TlsBlock, cursor) == abi::TLS_CURSOR);
    assert!(std::mem::offset_of!(TlsBlock, limit) == abi::TLS_LIMIT);
    assert!(std::mem::offset_of!(TlsBlock, state) == abi::TLS_STATE);
    assert!(std::mem::offset_of!(TlsBlock, check_cursor) == abi::TLS_CHECK_CURSOR);
    assert!(std::mem::offset_of!(TlsBlock, check_limit) == abi::TLS_CHECK_LIMIT);
};

/// Cursor and limit of both streams.
pub type Cursors = [(*mut u8, *mut u8); 2];

/// Those of a thread that has not recorded anything.
pub const NOWHERE: Cursors = [(std::ptr::null_mut(), std::ptr::null_mut()); 2];

/// Offset of the thread's role, for code that is not Rust.
pub const ROLE: usize = std::mem::offset_of!(TlsBlock, role);
/// Offset of the upper end of the thread's own stack, for code that is not Rust.
pub const OWN_STACK: usize = std::mem::offset_of!(TlsBlock, own_stack);

impl TlsBlock {
    #[inline]
    fn lane(&self, lane: Lane) -> (&AtomicPtr<u8>, &AtomicPtr<u8>) {
        match lane {
            Lane::Stream => (&self.cursor, &self.limit),
            Lane::Check => (&self.check_cursor, &self.check_limit),
        }
    }

    /// Cursor and limit of a stream.
    #[inline]
    pub fn at(&self, lane: Lane) -> (*mut u8, *mut u8) {
        let (cursor, limit) = self.lane(lane);
        (cursor.load(Relaxed), limit.load(Relaxed))
    }

    pub fn set_at(&self, lane: Lane, (cursor, limit): (*mut u8, *mut u8)) {
        let at = self.lane(lane);
        at.0.store(cursor, Relaxed);
        at.1.store(limit, Relaxed);
    }

    /// Cursor and limit of both streams.
    pub fn cursors(&self) -> Cursors {
        Lane::ALL.map(|lane| self.at(lane))
    }

    /// Puts back what [`TlsBlock::cursors`] has returned.
    pub fn set_cursors(&self, saved: Cursors) {
        for lane in Lane::ALL {
            self.set_at(lane, saved[lane as usize]);
        }
    }

    /// The address of the next record; null before the first flush.
    #[inline]
    pub fn cursor(&self) -> *mut u8 {
        self.cursor.load(Relaxed)
    }

    /// The address at which a flush is due; null demands one at the next check.
    #[inline]
    pub fn limit(&self) -> *mut u8 {
        self.limit.load(Relaxed)
    }

    /// Puts another limit in place of this one, unless the owner has changed it. Any thread may do
    /// this.
    pub(crate) fn replace_limit(&self, limit: *mut u8, with: *mut u8) {
        let _ = self.limit.compare_exchange(limit, with, Relaxed, Relaxed);
    }

    /// Moves the cursor behind an event.
    #[inline]
    pub fn set_cursor(&self, cursor: *mut u8) {
        self.cursor.store(cursor, Relaxed);
        self.spin.turns().kept.store(cursor, Relaxed);
    }

    /// What the thread compares with the gate's number at each event.
    #[inline]
    pub(crate) fn gate(&self) -> u32 {
        self.gate.load(Relaxed)
    }

    /// The gate's number when the thread last asked it, and when the thread asks again in any case,
    /// in ticks of the recorder's clock.
    #[inline]
    pub(crate) fn asked(&self) -> (u32, u64) {
        (self.asked.load(Relaxed), self.asks_at.load(Relaxed))
    }

    /// Whether the thread's blocks and accesses are thrown away.
    #[inline]
    pub(crate) fn is_gated(&self) -> bool {
        self.gated.load(Relaxed)
    }

    /// Notes what the gate with this number said. A thread that asks again, or takes back at each
    /// event what it wrote because its accesses are not recorded, looks at each event.
    pub(crate) fn set_gate(&self, number: u32, gated: bool, asks_at: u64) {
        let each = gated || asks_at < u64::MAX;
        self.gate.store(if each { EACH } else { number }, Relaxed);
        self.asked.store(number, Relaxed);
        self.asks_at.store(asks_at, Relaxed);
        self.gated.store(gated, Relaxed);
    }

    /// Whether the thread has a recording that goes on.
    #[inline]
    pub fn takes_part(&self) -> bool {
        matches!(self.role(), PROGRAM | LIBRARY)
    }

    /// [`PROGRAM`], [`RUNTIME`], [`ENDED`] or [`LIBRARY`].
    #[inline]
    pub fn role(&self) -> u32 {
        self.role.load(Relaxed)
    }

    pub fn set_role(&self, role: u32) {
        self.role.store(role, Relaxed);
    }

    /// Whether the thread's calls are the runtime's own at the moment.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.quiet.load(Relaxed) != 0
    }

    /// Makes the thread's calls the runtime's own until the guard is dropped.
    pub fn quiet(&self) -> Nested<'_> {
        Nested::new(&self.quiet)
    }

    /// Whether an allocation is already being recorded (`operator new` calls `malloc`).
    #[inline]
    pub fn is_allocating(&self) -> bool {
        self.allocating.load(Relaxed) != 0
    }

    /// Notes whether the thread has no context (see [`crate::switch`]). What its library allocates
    /// in that state belongs to no context.
    pub(crate) fn set_parked(&self, parked: bool) {
        let nested = self.allocating.load(Relaxed) & !PARKED;
        let bit = if parked { PARKED } else { 0 };
        self.allocating.store(nested | bit, Relaxed);
    }

    /// Makes allocations part of one that is already recorded, until the guard is dropped.
    #[inline]
    pub fn allocating(&self) -> Nested<'_> {
        Nested::new(&self.allocating)
    }

    /// Number of signal handlers that are recorded on top of each other.
    #[inline]
    pub fn handlers(&self) -> u16 {
        self.handlers.load(Relaxed)
    }

    pub(crate) fn set_handlers(&self, handlers: usize) {
        // There are at most a few, see `level::MOST`.
        self.handlers.store(u16::try_from(handlers).unwrap_or(u16::MAX), Relaxed);
    }

    /// The last atomic operation of the thread.
    #[inline]
    pub fn spin(&self) -> &Spin {
        &self.spin
    }

    /// Ends the wait, because its events leave the buffer.
    pub(crate) fn forget_spin(&self) {
        self.spin.forget(&self.cursor);
    }

    /// Ends the wait, because another level of records begins or ends.
    pub(crate) fn reset_spin(&self) {
        self.spin.reset(&self.cursor);
    }

    /// The cursor, for what may move it back.
    #[inline]
    pub(crate) fn slot(&self) -> &AtomicPtr<u8> {
        &self.cursor
    }

    /// What the thread needs to note times within tasks.
    #[inline]
    pub fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    /// The thread's number in the words of stripes; 0 until it has one.
    #[inline]
    pub fn owner(&self) -> u64 {
        self.owner.load(Relaxed)
    }

    pub fn set_owner(&self, owner: u64) {
        self.owner.store(owner, Relaxed);
    }

    /// Forgets everything, as in a thread that never recorded. The thread keeps its number.
    pub fn reset(&self) {
        self.set_cursors(NOWHERE);
        self.state.store(std::ptr::null_mut(), Relaxed);
        self.set_handlers(0);
        self.announces.store(false, Relaxed);
        self.quiet.store(0, Relaxed);
        self.allocating.store(0, Relaxed);
        self.spin.clear();
        self.set_gate(0, false, u64::MAX);
        self.own_stack.store(0, Relaxed);
        self.set_role(PROGRAM);
    }
}

/// Counts a level of nesting until it is dropped. Only the owner of the block writes the counter.
#[derive(Debug)]
pub struct Nested<'a>(&'a AtomicU32);

impl<'a> Nested<'a> {
    #[inline]
    fn new(depth: &'a AtomicU32) -> Self {
        depth.store(depth.load(Relaxed).wrapping_add(1), Relaxed);
        Nested(depth)
    }
}

impl Drop for Nested<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(self.0.load(Relaxed).wrapping_sub(1), Relaxed);
    }
}

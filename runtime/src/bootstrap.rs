//! Memory for the program while the real allocator is being looked up, because the dynamic linker
//! itself may allocate then. It is never given back; in practice it is a few hundred bytes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const BYTES: usize = 64 << 10;

#[repr(align(16))]
struct Arena(std::cell::UnsafeCell<[u8; BYTES]>);

// SAFETY: parts of the arena are handed out, each only once.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena(std::cell::UnsafeCell::new([0; BYTES]));
static USED: AtomicUsize = AtomicUsize::new(0);

/// Zeroed memory aligned to `align` (a power of two), preceded by its size; null when the arena is
/// full.
pub(crate) fn alloc(bytes: usize, align: usize) -> *mut u8 {
    let align = align.max(16);
    let Some(whole) = bytes.checked_add(align + 16) else {
        return std::ptr::null_mut();
    };
    let start = USED.fetch_add(whole.next_multiple_of(16), Relaxed);
    if start.saturating_add(whole) > BYTES {
        return std::ptr::null_mut();
    }
    let base = ARENA.0.get().cast::<u8>();
    let at = (base.addr() + start + 16).next_multiple_of(align);
    let block = base.with_addr(at);
    // SAFETY: the word before the block lies in the part just reserved.
    unsafe { block.sub(8).cast::<usize>().write(bytes) };
    block
}

/// Whether the block is from the arena.
#[inline]
pub(crate) fn owns(block: *const u8) -> bool {
    block.addr().wrapping_sub(ARENA.0.get().addr()) < BYTES
}

/// The size of a block from the arena.
///
/// # Safety
/// The block is from the arena, as [`owns`] tells.
pub(crate) unsafe fn size(block: *const u8) -> usize {
    // SAFETY: `alloc` wrote the size before the block.
    unsafe { block.sub(8).cast::<usize>().read() }
}

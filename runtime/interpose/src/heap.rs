//! A library's own heap. The library must be able to allocate while the program is inside its
//! allocator, in a signal handler that interrupted the allocator, or after the program's heap was
//! corrupted.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::mask::Blocked;
use crate::{kernel, memory};

/// Number of size classes: powers of two from 16 bytes to 32 KiB. Larger blocks are mapped one by
/// one.
const CLASSES: usize = 12;
const SMALLEST: usize = 16;
const LARGEST: usize = SMALLEST << (CLASSES - 1);
/// Bytes that are mapped at a time for small blocks.
const CHUNK: usize = 256 << 10;
/// Alignment of every block in bytes.
const ALIGN: usize = 16;

struct Free {
    heads: [*mut u8; CLASSES],
    next: *mut u8,
    left: usize,
}

/// Blocks whose sizes are powers of two, recycled by size. The heap is locked with signals blocked,
/// so that no handler waits for the code it interrupted.
#[derive(Debug)]
pub struct Heap {
    locked: AtomicBool,
    free: UnsafeCell<Free>,
    /// Whether the calling thread has its signals blocked already.
    is_quiet: fn() -> bool,
}

// SAFETY: `free` is only used while `locked` is held.
unsafe impl Sync for Heap {}

impl Heap {
    /// An empty heap. `is_quiet` says whether the calling thread has its signals blocked already.
    #[must_use]
    pub const fn new(is_quiet: fn() -> bool) -> Self {
        Self {
            locked: AtomicBool::new(false),
            free: UnsafeCell::new(Free {
                heads: [std::ptr::null_mut(); CLASSES],
                next: std::ptr::null_mut(),
                left: 0,
            }),
            is_quiet,
        }
    }

    /// Locks the heap until [`Heap::unlock`], so that it does not change during a fork.
    pub fn lock(&self) {
        while self.locked.swap(true, Acquire) {
            while self.locked.load(Relaxed) {
                kernel::yield_now();
            }
        }
    }

    /// Ends [`Heap::lock`].
    pub fn unlock(&self) {
        self.locked.store(false, Release);
    }

    fn with<R>(&self, f: impl FnOnce(&mut Free) -> R) -> R {
        let _blocked = (!(self.is_quiet)()).then(Blocked::new);
        self.lock();
        // SAFETY: the lock is held, and `f` cannot reach the heap again (it does not allocate).
        let result = f(unsafe { &mut *self.free.get() });
        self.unlock();
        result
    }
}

/// Size class of a block; `None` if the block is mapped by itself.
fn class(layout: Layout) -> Option<usize> {
    if layout.align() > ALIGN || layout.size() > LARGEST {
        return None;
    }
    let rounded = layout.size().max(SMALLEST).next_power_of_two();
    Some((rounded / SMALLEST).trailing_zeros() as usize)
}

/// Bytes of the mapping of a large block. Mappings begin at a page, so they satisfy every alignment
/// up to a page.
fn mapping(layout: Layout) -> usize {
    layout.size().next_multiple_of(4096)
}

// SAFETY: blocks are distinct, large enough for their class or mapping, and aligned to 16 bytes
// (small) or a page (large). They go back to where they came from, because the class depends only
// on the layout.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(layout) else {
            if layout.align() > 4096 {
                return std::ptr::null_mut();
            }
            return memory::map(mapping(layout)).unwrap_or(std::ptr::null_mut());
        };
        self.with(|free| {
            let head = free.heads[class];
            if !head.is_null() {
                // SAFETY: a free block's first word is the next free block of its class.
                free.heads[class] = unsafe { head.cast::<*mut u8>().read() };
                return head;
            }
            let bytes = SMALLEST << class;
            if free.left < bytes {
                // The rest of the last chunk, which is smaller than the requested block, is lost.
                let Some(chunk) = memory::map(CHUNK) else {
                    return std::ptr::null_mut();
                };
                free.next = chunk;
                free.left = CHUNK;
            }
            let new = free.next;
            free.next = new.wrapping_add(bytes);
            free.left -= bytes;
            new
        })
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        match class(layout) {
            Some(class) => self.with(|free| {
                // SAFETY: the block is at least 16 bytes and aligned, and nothing uses it any more.
                unsafe { old.cast::<*mut u8>().write(free.heads[class]) };
                free.heads[class] = old;
            }),
            // SAFETY: `alloc` mapped the block with the same layout.
            None => unsafe { memory::unmap(old, mapping(layout)) },
        }
    }
}

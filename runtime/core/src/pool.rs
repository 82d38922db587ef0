//! The pool of free buffers, last in, first out. It keeps only as many as are worth keeping.

use crate::buffer::{Buffer, Part};
use crate::primitive::Mutex;
use crate::sync::lock;

/// Number of free buffers that are kept mapped; others go back to the system. This is enough for
/// the threads of a machine to change their buffers at once, and little compared with the memory of
/// the queue.
pub(crate) const KEPT: usize = 64;

#[derive(Debug)]
pub(crate) struct Pool {
    /// The free buffers, the most recently used one, which is the warmest, last.
    free: Mutex<Vec<Buffer>>,
    buffer_bytes: usize,
    kept: usize,
}

impl Pool {
    /// A pool of buffers of `buffer_bytes` bytes each that keeps at most `kept` free ones.
    pub(crate) fn new(buffer_bytes: usize, kept: usize) -> Self {
        Pool { free: Mutex::new(Vec::with_capacity(kept)), buffer_bytes, kept }
    }

    /// The free buffer that was used last, or else a new one; `None` when memory has run out.
    pub(crate) fn take(&self) -> Option<Buffer> {
        let free = lock(&self.free).pop();
        free.or_else(|| Buffer::map(self.buffer_bytes))
    }

    /// Lets go of a buffer or of a part of one. The buffer comes back to the pool with its last
    /// holder.
    pub(crate) fn put(&self, held: impl Into<Part>) {
        let Some(buffer) = held.into().release() else {
            return;
        };
        let mut free = lock(&self.free);
        if free.len() < self.kept {
            free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_given_back_last_is_taken_first() {
        let pool = Pool::new(64 << 10, KEPT);
        let (a, b) = (pool.take().unwrap(), pool.take().unwrap());
        let (pa, pb) = (a.data(), b.data());
        assert_ne!(pa, pb);
        pool.put(b);
        pool.put(a);
        assert_eq!(pool.take().unwrap().data(), pa);
    }

    #[test]
    fn no_more_than_the_bound_are_kept() {
        let pool = Pool::new(64 << 10, 1);
        let (a, b) = (pool.take().unwrap(), pool.take().unwrap());
        pool.put(a);
        pool.put(b);
        assert_eq!(lock(&pool.free).len(), 1);
    }
}

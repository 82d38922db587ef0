//! The pool of free buffers, last in, first out. It keeps only as many as are worth keeping.

use crate::buffer::{Buffer, Part, Stack};
use crate::primitive::Mutex;
use crate::sync::lock;

/// Number of free buffers that are kept mapped; others go back to the system. This is enough for
/// the threads of a machine to change their buffers at once, and little compared with the memory of
/// the queue.
const KEPT: usize = 64;

#[derive(Debug)]
pub struct Pool {
    free: Mutex<Stack>,
    buffer_bytes: usize,
    kept: usize,
}

impl Pool {
    /// A pool of buffers of `buffer_bytes` bytes each.
    #[must_use]
    pub fn new(buffer_bytes: usize) -> Self {
        Self::keeping(buffer_bytes, KEPT)
    }

    /// A pool that keeps at most `kept` free buffers.
    #[must_use]
    pub fn keeping(buffer_bytes: usize, kept: usize) -> Self {
        Pool { free: Mutex::new(Stack::new()), buffer_bytes, kept }
    }

    /// Bytes of each buffer.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    /// The free buffer that was used last, or else a new one; `None` when memory has run out.
    pub fn take(&self) -> Option<Buffer> {
        let free = lock(&self.free).pop();
        free.or_else(|| Buffer::map(self.buffer_bytes))
    }

    /// Lets go of a buffer or of a part of one. The buffer comes back to the pool with its last
    /// holder.
    pub fn put(&self, held: impl Into<Part>) {
        let Some(buffer) = held.into().release() else {
            return;
        };
        let mut free = lock(&self.free);
        if free.len() < self.kept {
            free.push(buffer);
        } else {
            drop(free);
            drop(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_given_back_last_is_taken_first() {
        let pool = Pool::new(64 << 10);
        let (a, b) = (pool.take().unwrap(), pool.take().unwrap());
        let (pa, pb) = (a.data(), b.data());
        assert_ne!(pa, pb);
        pool.put(b);
        pool.put(a);
        assert_eq!(pool.take().unwrap().data(), pa);
    }

    #[test]
    fn a_buffer_is_not_taken_while_a_part_of_it_waits() {
        let pool = Pool::new(64 << 10);
        let buffer = pool.take().unwrap();
        let at = buffer.data();
        let part = buffer.part(0, 8).unwrap();
        pool.put(buffer);
        assert_ne!(pool.take().unwrap().data(), at);
        pool.put(part);
        assert_eq!(pool.take().unwrap().data(), at);
    }

    #[test]
    fn no_more_than_the_bound_are_kept() {
        let pool = Pool::keeping(64 << 10, 1);
        let (a, b) = (pool.take().unwrap(), pool.take().unwrap());
        pool.put(a);
        pool.put(b);
        assert_eq!(lock(&pool.free).len(), 1);
    }
}

//! Which context a pthread handle stands for, until the thread is joined.

use std::collections::HashMap;

use crate::mask::Blocked;
use crate::sync::{Mutex, lock};

/// Handles of threads whose creation was recorded. The system uses a handle again after the join, and
/// the newest thread with it counts.
#[derive(Default)]
#[allow(
    missing_debug_implementations,
    reason = "loom's types have none, and its state is of no use in text"
)]
pub struct Joins(Mutex<HashMap<usize, u32>>);

impl Joins {
    /// No handles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The handle stands for this context. Creator and thread both say so, whoever is first.
    pub fn insert(&self, handle: usize, context: u32) {
        let _blocked = Blocked::new();
        lock(&self.0).insert(handle, context);
    }

    /// The context of a handle.
    pub fn get(&self, handle: usize) -> Option<u32> {
        let _blocked = Blocked::new();
        lock(&self.0).get(&handle).copied()
    }

    /// The thread was joined or detached; keeps a newer thread with the same handle.
    pub fn remove(&self, handle: usize, context: u32) {
        let _blocked = Blocked::new();
        let mut map = lock(&self.0);
        if map.get(&handle) == Some(&context) {
            map.remove(&handle);
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_newer_thread_with_the_same_handle_stays() {
        let joins = Joins::new();
        joins.insert(0x7000, 1);
        joins.insert(0x7000, 2);
        joins.remove(0x7000, 1);
        assert_eq!(joins.get(0x7000), Some(2));
        joins.remove(0x7000, 2);
        assert_eq!(joins.get(0x7000), None);
    }
}

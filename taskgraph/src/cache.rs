//! A small cache of decoded frames and pages, bounded by bytes; it removes the least recently used
//! value first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use rustc_hash::FxBuildHasher;

/// Shared decoded values by key.
#[derive(Debug)]
pub(crate) struct Cache<V> {
    inner: Mutex<Inner<V>>,
    /// Bytes to keep; one value more may be in the cache.
    limit: usize,
}

#[derive(Debug)]
struct Inner<V> {
    /// The values and how many bytes they have.
    values: LruCache<u64, (Arc<V>, usize), FxBuildHasher>,
    weight: usize,
}

impl<V> Cache<V> {
    /// A cache of about `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        let inner = Inner { values: LruCache::unbounded_with_hasher(FxBuildHasher), weight: 0 };
        Self { inner: Mutex::new(inner), limit }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<V>> {
        // No code of a caller runs under the lock, so the data of a poisoned lock is still
        // consistent.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&self, key: u64) -> Option<Arc<V>> {
        self.lock().values.get(&key).map(|entry| Arc::clone(&entry.0))
    }

    /// Adds a value of `weight` bytes. Returns a removed value that is used nowhere else, whose
    /// memory can serve for the next value.
    pub(crate) fn put(&self, key: u64, value: Arc<V>, weight: usize) -> Option<V> {
        let mut inner = self.lock();
        let mut spare = None;
        while inner.weight + weight > self.limit {
            let Some((_, (value, weight))) = inner.values.pop_lru() else {
                break;
            };
            inner.weight -= weight;
            spare = Arc::into_inner(value).or(spare);
        }
        inner.weight += weight;
        if let Some((_, weight)) = inner.values.put(key, (value, weight)) {
            inner.weight -= weight;
        }
        spare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_value_goes_first() {
        let cache = Cache::new(30);
        for key in 0..3 {
            assert_eq!(cache.put(key, Arc::new(key), 10), None);
        }
        assert_eq!(cache.get(0).as_deref(), Some(&0));
        assert_eq!(cache.put(3, Arc::new(3), 10), Some(1));
        assert_eq!(cache.get(1), None);
        assert_eq!(cache.get(0).as_deref(), Some(&0));
    }

    #[test]
    fn a_value_over_the_limit_is_kept_alone() {
        let cache = Cache::new(30);
        cache.put(0, Arc::new(0), 10);
        cache.put(1, Arc::new(1), 100);
        assert_eq!((cache.get(0), cache.get(1).as_deref()), (None, Some(&1)));
    }

    #[test]
    fn a_value_in_use_is_not_given_back() {
        let cache = Cache::new(10);
        let used = Arc::new(0);
        cache.put(0, Arc::clone(&used), 10);
        assert_eq!(cache.put(1, Arc::new(1), 10), None);
        assert_eq!(*used, 0);
    }
}

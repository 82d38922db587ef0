//! The objects whose calls are recorded: those with instrumented code, and the C++ library that
//! carries out `std::thread`, `std::mutex` and their kin for them. Locks inside other libraries are
//! not the program's.

use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

/// Address ranges of the objects whose calls count. The list is always replaced as a whole. Old
/// lists are kept, because another thread may be reading one and there are few.
#[derive(Debug)]
pub struct Callers {
    list: AtomicPtr<Vec<(usize, usize)>>,
}

impl Callers {
    /// No calls count.
    #[must_use]
    pub const fn new() -> Self {
        Callers { list: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Makes the calls from these ranges (first address, length) count from now on.
    pub fn replace(&self, ranges: Vec<(usize, usize)>) {
        self.list.store(Box::leak(Box::new(ranges)), Release);
    }

    /// The ranges.
    #[inline]
    #[allow(unsafe_code, reason = "reads a published list")]
    pub fn ranges(&self) -> &'static [(usize, usize)] {
        // SAFETY: the pointer is null or points to a leaked vector, which was filled before it was
        // published and has not changed since.
        unsafe { self.list.load(Acquire).as_ref() }.map_or(&[], Vec::as_slice)
    }

    /// Whether the code at this address is in one of the ranges.
    #[inline]
    pub fn contains(&self, address: usize) -> bool {
        self.ranges().iter().any(|(start, len)| address.wrapping_sub(*start) < *len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_in_a_range_count() {
        let callers = Callers::new();
        assert!(!callers.contains(0));
        callers.replace(vec![(0x1000, 0x100), (0x5000, 1)]);
        for (address, expected) in
            [(0xfff, false), (0x1000, true), (0x10ff, true), (0x1100, false), (0x5000, true)]
        {
            assert_eq!(callers.contains(address), expected, "{address:#x}");
        }
        callers.replace(Vec::new());
        assert!(!callers.contains(0x1000));
    }
}

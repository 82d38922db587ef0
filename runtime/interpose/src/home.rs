//! The process in which a library began its work, told from every copy of it.
//!
//! A copy can be made in many ways (`fork`, `_Fork`, `clone`, system calls that no function of ours
//! sees), and all but the first run no code of ours. So the kernel is asked to forget: a [`Home`]
//! is a pointer in a page that every copy finds empty (`MADV_WIPEONFORK`). To look costs two loads.
//! The child of a vfork shares the memory, and the pointer.

use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::memory;

/// The size of a page, or more.
const PAGE: usize = 4096;

/// A pointer that only the process which set it can see.
#[derive(Debug)]
pub struct Home<T: 'static>(AtomicPtr<AtomicPtr<T>>);

impl<T> Home<T> {
    /// No process has set it.
    #[must_use]
    pub const fn new() -> Self {
        Home(AtomicPtr::new(std::ptr::null_mut()))
    }

    fn page(&self) -> Option<&'static AtomicPtr<T>> {
        // SAFETY: the pointer is null, or to a page that is never unmapped.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    /// What this very process has set, if it has.
    #[inline(always)]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: the pointer is null, or `set` took it from a reference for ever.
        unsafe { self.page()?.load(Acquire).as_ref() }
    }

    /// Whether this process, or one that it is a copy of, has ever set it.
    pub fn was_set(&self) -> bool {
        !self.0.load(Relaxed).is_null()
    }

    /// Sets it for this process. Returns `false` if there is no memory. Do not call this from two
    /// threads at once.
    pub fn set(&self, value: &'static T) -> bool {
        if self.page().is_none() {
            let Some(page) = memory::map_wiped_on_fork(PAGE) else {
                return false;
            };
            self.0.store(page.cast(), Release);
        }
        let value = std::ptr::from_ref(value).cast_mut();
        self.page().inspect(|page| page.store(value, Release)).is_some()
    }

    /// Forgets what was set, in this process too.
    pub fn leave(&self) {
        if let Some(page) = self.page() {
            page.store(std::ptr::null_mut(), Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::raw_call;

    #[test]
    fn a_copy_of_the_process_made_in_any_way_is_not_at_home() {
        static HOME: Home<u32> = Home::new();
        assert!(HOME.get().is_none() && !HOME.was_set());
        assert!(HOME.set(&7));
        for flags in [libc::SIGCHLD, libc::SIGCHLD | libc::CLONE_PARENT_SETTID] {
            let mut id = 0i32;
            let flags = usize::try_from(flags).unwrap();
            // SAFETY: the child makes system calls only.
            unsafe {
                let id_at = (&raw mut id).expose_provenance();
                let child = raw_call(libc::SYS_clone, [flags, 0, id_at, 0, 0, 0]);
                if child == 0 {
                    let left = HOME.get().is_none() && HOME.was_set();
                    raw_call(libc::SYS_exit_group, [usize::from(!left), 0, 0, 0, 0, 0]);
                }
                let mut status = -1;
                libc::waitpid(i32::try_from(child).unwrap(), &raw mut status, 0);
                assert_eq!(status, 0);
            }
        }
        assert_eq!(HOME.get(), Some(&7));
        HOME.leave();
        assert!(HOME.get().is_none() && HOME.was_set());
    }
}

//! Memory, identity and errno. The C library's own names for some of these are defined by the
//! runtime for interception, so it must not call them.

use crate::kernel::call;

/// Maps fresh zeroed memory; `None` when there is none.
pub fn map(bytes: usize) -> Option<*mut u8> {
    const ACCESS: usize = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    const KIND: usize = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;
    // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no existing
    // memory.
    let at = unsafe { call(libc::SYS_mmap, [0, bytes, ACCESS, KIND, usize::MAX, 0]) };
    at.ok().map(std::ptr::with_exposed_provenance_mut)
}

/// Maps zeroed memory that is zeroed again in every copy of the process. A kernel that cannot do so
/// (before 4.14) copies it.
pub(crate) fn map_wiped_on_fork(bytes: usize) -> Option<*mut u8> {
    const WIPE: usize = libc::MADV_WIPEONFORK as usize;
    let at = map(bytes)?;
    // SAFETY: the memory was mapped here, and nothing is in it.
    let _ = unsafe { call(libc::SYS_madvise, [at.expose_provenance(), bytes, WIPE]) };
    Some(at)
}

/// Gives back memory of [`map`].
///
/// # Safety
/// Nothing refers to the `bytes` bytes at `at`, which one call of [`map`] returned.
pub unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: the caller gives up exactly one mapping nothing refers to.
    let _ = unsafe { call(libc::SYS_munmap, [at.expose_provenance(), bytes]) };
}

/// Process id from the kernel: differs in the child of a vfork, where memory does not.
#[must_use]
pub fn process_id() -> u32 {
    // SAFETY: getpid has no arguments and cannot fail.
    let id = unsafe { call(libc::SYS_getpid, []) };
    id.ok().and_then(|id| id.try_into().ok()).unwrap_or(0)
}

/// Kernel id of the calling thread; equals the process id in the main thread.
#[must_use]
pub fn thread_id() -> u32 {
    // SAFETY: gettid has no arguments and cannot fail.
    let id = unsafe { call(libc::SYS_gettid, []) };
    id.ok().and_then(|id| id.try_into().ok()).unwrap_or(0)
}

/// When a process began, in 1/100 s since the machine did.
#[must_use]
pub fn started(process: u32) -> Option<u64> {
    let about = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold anything; the start time is field 22.
    about.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Writes to stderr as much as one system call takes.
pub(crate) fn write_stderr(bytes: &[u8]) {
    // SAFETY: the pointer and length are those of a slice.
    let _ = unsafe { call(libc::SYS_write, [2, bytes.as_ptr().expose_provenance(), bytes.len()]) };
}

/// Restores errno when dropped: interception must not be visible in it.
#[derive(Debug)]
pub struct Errno(i32);

impl Errno {
    /// Remembers errno.
    #[must_use]
    pub fn save() -> Self {
        // SAFETY: the C library gives every thread a valid errno location.
        Errno(unsafe { *libc::__errno_location() })
    }

    /// The current value.
    #[must_use]
    pub fn get() -> i32 {
        Self::save().0
    }

    /// Sets errno.
    pub fn set(value: i32) {
        // SAFETY: the C library gives every thread a valid errno location.
        unsafe { *libc::__errno_location() = value }
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        Self::set(self.0);
    }
}

/// Memory the kernel thinks is available, in bytes, at most what the control group leaves.
#[must_use]
pub fn available() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let machine = meminfo
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:"))
        .and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok())
        .map_or(1 << 30, |kib| kib << 10);
    let number = |path| -> Option<u64> { std::fs::read_to_string(path).ok()?.trim().parse().ok() };
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|max| max.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    machine.min(group.unwrap_or(u64::MAX))
}

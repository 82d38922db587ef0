#![allow(
    unsafe_code,
    reason = "system calls made directly, past the functions the runtime itself interposes"
)]
//! System calls by number: memory, identity, errno. The C library's own names for some of these are
//! defined by the runtime for interception, so it must not call them.

/// Maps fresh zeroed memory; `None` when there is none.
pub fn map(bytes: usize) -> Option<*mut u8> {
    // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no existing memory.
    let at = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            0usize,
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1isize,
            0usize,
        )
    };
    (at != -1).then_some(at as *mut u8)
}

/// Gives back memory of [`map`].
///
/// # Safety
/// Nothing refers to the `bytes` bytes at `at`, which one call of [`map`] returned.
pub unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: the caller gives up exactly one mapping nothing refers to.
    unsafe { libc::syscall(libc::SYS_munmap, at, bytes) };
}

/// Process id from the kernel: differs in the child of a vfork, where memory does not.
#[must_use]
pub fn process_id() -> u32 {
    // SAFETY: getpid has no arguments and cannot fail.
    u32::try_from(unsafe { libc::syscall(libc::SYS_getpid) }).unwrap_or(0)
}

/// Kernel id of the calling thread; equals the process id in the main thread.
#[must_use]
pub fn thread_id() -> u32 {
    // SAFETY: gettid has no arguments and cannot fail.
    u32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).unwrap_or(0)
}

/// Writes to stderr as much as one system call takes.
pub(crate) fn write_stderr(bytes: &[u8]) {
    // SAFETY: the pointer and length are those of a slice.
    unsafe { libc::syscall(libc::SYS_write, 2, bytes.as_ptr(), bytes.len()) };
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

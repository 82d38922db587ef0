#![allow(
    unsafe_code,
    reason = "file descriptors are opened and written by system calls"
)]
//! The file, pipe or descriptor that a trace is written to.

use std::ffi::CString;
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use contech_trace::file::{FileHeader, HEADER_BYTES};

use crate::{mask, memory};

/// What takes the bytes of a trace.
pub trait Output: Send {
    /// Writes all of a header and a payload.
    ///
    /// # Errors
    /// An error of the system. In that case the trace may end in the middle of a chunk.
    fn write(&mut self, head: &[u8], body: &[u8]) -> io::Result<()>;

    /// Bytes that are free where the trace grows; `None` if it is no file, or if that is not known.
    fn free(&self) -> Option<u64> {
        None
    }
}

/// An open descriptor of the trace.
#[derive(Debug)]
pub struct Descriptor {
    fd: RawFd,
    /// Device and inode of the trace. They show when the program has closed the descriptor, which it does not know, and
    /// opened a file of its own under its number: the trace must not be written there.
    identity: (u64, u64),
    /// True when the program has ended. Then a reader that rests is waited for only for `patience`.
    ending: Option<&'static AtomicBool>,
    patience: Duration,
    /// Bytes of the disk that are left to others, and bytes to write before the disk is asked what is free.
    reserve: u64,
    unasked: u64,
}

/// How long a reader may rest before a signal that is to end the program ends the trace first. Signals are blocked
/// while the trace is written.
const REST: Duration = Duration::from_secs(1);
/// How long a reader may rest before a program that has ended exits without the rest of the trace.
const LAST_REST: Duration = Duration::from_secs(60);

/// Bytes of the disk that a trace leaves to others, or this part of what was free when it began.
const RESERVE: (u64, u64) = (1 << 30, 16);
/// The disk is asked what is free each time that so many bytes are written.
const ASKED: u64 = 64 << 20;

/// Descriptors from this number on are out of the way of programs that count on low numbers.
const FIRST_DESCRIPTOR: RawFd = 900;

fn last_error<T>() -> io::Result<T> {
    Err(io::Error::last_os_error())
}

fn identity(fd: RawFd) -> io::Result<(u64, u64, u32)> {
    // SAFETY: stat is plain data for which zero is a value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live stat.
    if unsafe { libc::fstat(fd, &raw mut stat) } != 0 {
        return last_error();
    }
    Ok((stat.st_dev, stat.st_ino, stat.st_mode & libc::S_IFMT))
}

impl Descriptor {
    /// Takes a copy of a descriptor, under a number out of the program's way.
    ///
    /// # Errors
    /// When the descriptor is not open.
    pub fn duplicate(fd: RawFd) -> io::Result<Self> {
        // SAFETY: duplicating needs no memory; a bad number is an error.
        let mut copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR) };
        if copy < 0 {
            // SAFETY: duplicating needs no memory, as above. The limit on descriptors may be below `FIRST_DESCRIPTOR`.
            copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
        }
        if copy < 0 {
            return last_error();
        }
        let (device, inode, _) = identity(copy)?;
        let mut made = Descriptor {
            fd: copy,
            identity: (device, inode),
            ending: None,
            patience: LAST_REST,
            reserve: 0,
            unasked: ASKED,
        };
        let free = made.free().unwrap_or(0);
        made.reserve = RESERVE.0.min(free / RESERVE.1);
        Ok(made)
    }

    /// Takes over a descriptor of the program. A pipe or terminal is opened once more, because only a descriptor of its
    /// own can be made non-blocking without a change for the program.
    ///
    /// # Errors
    /// Those of [`Descriptor::duplicate`].
    pub fn given(fd: RawFd) -> io::Result<Self> {
        let (.., kind) = identity(fd)?;
        if kind == libc::S_IFREG {
            return Self::duplicate(fd);
        }
        let again = CString::new(format!("/proc/self/fd/{fd}"))?;
        let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
        // SAFETY: the path is a C string.
        let own = unsafe { libc::open(again.as_ptr(), flags) };
        if own < 0 {
            return Self::duplicate(fd);
        }
        let made = Self::duplicate(own);
        close(own);
        made
    }

    /// From the moment `ending` is true, a reader that rests for long loses the rest of the trace.
    #[must_use]
    pub fn until(mut self, ending: &'static AtomicBool) -> Self {
        self.ending = Some(ending);
        self
    }

    /// Opens and empties a trace file, or opens a FIFO or device. For a FIFO this waits for a reader, or for a signal
    /// that is to end the program.
    ///
    /// # Errors
    /// An error of the system; [`io::ErrorKind::Interrupted`] after such a signal; [`io::ErrorKind::ResourceBusy`] when
    /// another process is writing its trace there, or this process did before it replaced its program.
    pub fn create(path: &str, started_unix_ns: u64) -> io::Result<Self> {
        let name = CString::new(path)?;
        let fifo = std::fs::metadata(path).is_ok_and(|m| {
            use std::os::unix::fs::FileTypeExt;
            m.file_type().is_fifo()
        });
        let common = libc::O_CLOEXEC | libc::O_NOCTTY;
        let open = |flags| {
            // SAFETY: the path is a C string.
            unsafe { libc::open(name.as_ptr(), flags | common, 0o666) }
        };
        // A FIFO is opened only for writing, so that the end of its reader is noticed. A file is opened for reading too
        // if possible, to look at what is there.
        let fd = if fifo {
            // The FIFO is opened, and later written, without blocking, because all signals are blocked here.
            loop {
                let fd = open(libc::O_WRONLY | libc::O_NONBLOCK);
                if fd >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENXIO) {
                    break fd;
                }
                if mask::end_is_asked() {
                    return Err(io::Error::new(
                        io::ErrorKind::Interrupted,
                        "a signal came before its reader",
                    ));
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        } else {
            match open(libc::O_RDWR | libc::O_CREAT) {
                -1 => open(libc::O_WRONLY | libc::O_CREAT),
                fd => fd,
            }
        };
        if fd < 0 {
            return last_error();
        }
        let made = Self::claim(fd, started_unix_ns);
        close(fd);
        made
    }

    fn claim(fd: RawFd, started_unix_ns: u64) -> io::Result<Self> {
        let (.., kind) = identity(fd)?;
        if kind == libc::S_IFREG {
            // SAFETY: locking needs no memory.
            if unsafe { libc::flock(fd, libc::LOCK_EX | libc::LOCK_NB) } != 0 {
                return match io::Error::last_os_error().raw_os_error() {
                    // The lock belongs to the open file, so the copy below keeps it.
                    Some(libc::EWOULDBLOCK) => Err(io::ErrorKind::ResourceBusy.into()),
                    _ => Self::truncate(fd), // a file system without locks
                };
            }
            if is_own(fd, started_unix_ns) {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            return Self::truncate(fd);
        }
        Self::duplicate(fd)
    }

    fn truncate(fd: RawFd) -> io::Result<Self> {
        // SAFETY: truncating needs no memory.
        if unsafe { libc::ftruncate(fd, 0) } != 0 {
            return last_error();
        }
        Self::duplicate(fd)
    }

    fn write_all(&self, mut parts: [libc::iovec; 2]) -> io::Result<()> {
        let mut progress = Instant::now();
        while parts.iter().any(|p| p.iov_len > 0) {
            // SAFETY: the parts point into slices the caller of `write` holds.
            let n = unsafe { libc::syscall(libc::SYS_writev, self.fd, parts.as_ptr(), 2) };
            let Ok(mut n) = usize::try_from(n) else {
                match io::Error::last_os_error() {
                    e if e.kind() == io::ErrorKind::Interrupted => {}
                    e if e.kind() == io::ErrorKind::WouldBlock => {
                        self.wait_writable();
                        let rest = progress.elapsed();
                        if rest > REST && mask::end_is_asked() {
                            return Err(io::Error::other(
                                "its reader rests, and a signal is to end the program",
                            ));
                        }
                        if rest > self.patience && self.ending.is_some_and(|e| e.load(Relaxed)) {
                            return Err(io::Error::other(
                                "its reader rests, and the program has ended",
                            ));
                        }
                    }
                    e => return Err(e),
                }
                continue;
            };
            progress = Instant::now();
            for part in &mut parts {
                let step = n.min(part.iov_len);
                part.iov_base = part.iov_base.cast::<u8>().wrapping_add(step).cast();
                part.iov_len -= step;
                n -= step;
            }
        }
        Ok(())
    }

    /// Refuses to write more when others need what is left of the disk.
    fn leave_room(&mut self, bytes: u64) -> io::Result<()> {
        self.unasked = self.unasked.saturating_sub(bytes);
        if self.unasked > 0 {
            return Ok(());
        }
        self.unasked = ASKED;
        match self.free() {
            Some(free) if free < self.reserve => Err(io::Error::new(
                io::ErrorKind::StorageFull,
                format!(
                    "the disk has {} MiB left, which a trace leaves to others",
                    free >> 20
                ),
            )),
            _ => Ok(()),
        }
    }

    fn wait_writable(&self) {
        let mut poll = libc::pollfd {
            fd: self.fd,
            events: libc::POLLOUT,
            revents: 0,
        };
        // SAFETY: the pointer is to one live pollfd.
        unsafe { libc::syscall(libc::SYS_poll, &raw mut poll, 1, 100) };
    }
}

fn close(fd: RawFd) {
    // SAFETY: the descriptor was opened here and is not used afterwards.
    unsafe { libc::syscall(libc::SYS_close, fd) };
}

/// Whether the file holds a trace that this very process has written since it started. Then the process has replaced
/// its program (exec), and the earlier trace must stay.
fn is_own(fd: RawFd, started_unix_ns: u64) -> bool {
    let mut head = [0u8; HEADER_BYTES];
    // SAFETY: pointer and length are those of the array.
    let n = unsafe { libc::pread(fd, head.as_mut_ptr().cast(), head.len(), 0) };
    usize::try_from(n) == Ok(HEADER_BYTES)
        && FileHeader::decode(&head)
            .is_ok_and(|h| h.pid == memory::process_id() && h.start_unix_ns >= started_unix_ns)
}

impl Output for Descriptor {
    fn write(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        let (device, inode, _) = identity(self.fd)?;
        if (device, inode) != self.identity {
            return Err(io::Error::other(
                "the program closed the trace's descriptor and opened another file under its number",
            ));
        }
        let part = |bytes: &[u8]| libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        self.leave_room(head.len() as u64 + body.len() as u64)?;
        self.write_all([part(head), part(body)])
    }

    fn free(&self) -> Option<u64> {
        let (.., kind) = identity(self.fd).ok()?;
        // SAFETY: statvfs is plain data for which zero is a value.
        let mut stat: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live statvfs.
        let known = unsafe { libc::fstatvfs(self.fd, &raw mut stat) } == 0;
        (known && kind == libc::S_IFREG).then(|| stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        close(self.fd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_device_is_an_error() {
        let mut out = Descriptor::create("/dev/full", 0).unwrap();
        let error = out.write(b"head", b"body").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
    }

    #[test]
    fn a_disk_is_not_filled_to_the_end() {
        let path = std::env::temp_dir().join(format!("contech-room-{}", memory::process_id()));
        let mut out = Descriptor::create(path.to_str().unwrap(), 0).unwrap();
        let free = out.free().unwrap();
        assert!(out.reserve <= 1 << 30 && out.reserve <= free);
        out.unasked = 6;
        out.write(b"head", b"body").unwrap();
        // Others have written so much that less is left.
        out.reserve = u64::MAX;
        out.write(b"head", b"body").unwrap();
        out.unasked = 8;
        let error = out.write(b"head", b"body").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(std::fs::read(&path).unwrap(), b"headbodyheadbody");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn head_and_body_follow_each_other() {
        let path = std::env::temp_dir().join(format!("contech-output-{}", memory::process_id()));
        let name = path.to_str().unwrap();
        std::fs::write(&path, "what was there before, and longer").unwrap();
        let mut out = Descriptor::create(name, 0).unwrap();
        out.write(b"head", b"").unwrap();
        out.write(b"", b"body").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"headbody");
        let busy = Descriptor::create(name, 0).unwrap_err();
        assert_eq!(busy.kind(), io::ErrorKind::ResourceBusy);
        drop(out);
        assert!(Descriptor::create(name, 0).is_ok());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_trace_this_process_wrote_before_an_exec_is_kept() {
        let path = std::env::temp_dir().join(format!("contech-own-{}", memory::process_id()));
        let header = FileHeader {
            pid: memory::process_id(),
            start_unix_ns: 1000,
            ..FileHeader::default()
        };
        std::fs::write(&path, header.encode()).unwrap();
        let name = path.to_str().unwrap();
        let busy = Descriptor::create(name, 999).unwrap_err();
        assert_eq!(busy.kind(), io::ErrorKind::ResourceBusy);
        assert!(
            Descriptor::create(name, 1001).is_ok(),
            "an older process had the same id"
        );
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_program_that_has_ended_does_not_wait_for_ever_for_a_reader_that_rests() {
        static ENDING: AtomicBool = AtomicBool::new(true);
        let mut ends = [0; 2];
        // SAFETY: the array is live and has room for two descriptors.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let mut out = Descriptor::given(ends[1]).unwrap().until(&ENDING);
        out.patience = Duration::from_millis(50);
        out.write(b"head", b"what the pipe has room for").unwrap();
        let error = out.write(b"head", &[0; 1 << 20]).unwrap_err();
        assert!(error.to_string().contains("its reader rests"), "{error}");
        ends.into_iter().for_each(close);
    }

    #[test]
    fn a_descriptor_that_is_not_open_is_an_error() {
        assert!(Descriptor::duplicate(-1).is_err());
    }
}

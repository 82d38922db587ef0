#![allow(
    unsafe_code,
    reason = "file descriptors are opened and written by system calls"
)]
//! The file, pipe or descriptor a trace is written to.

use std::ffi::CString;
use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use contech_trace::file::{FileHeader, HEADER_BYTES};

use crate::{mask, memory};

/// Takes the bytes of a trace.
pub trait Output: Send {
    /// Writes a header and a payload, whole.
    ///
    /// # Errors
    /// Of the system; the trace ends in the middle of something then.
    fn write(&mut self, head: &[u8], body: &[u8]) -> io::Result<()>;
}

/// An open descriptor of the trace.
#[derive(Debug)]
pub struct Descriptor {
    fd: RawFd,
    /// Device and inode: a program that closes descriptors it does not know must not find the trace
    /// in one of its own files.
    identity: (u64, u64),
}

/// How long a reader may rest before a signal that is to end the program ends the trace first: signals are blocked while
/// the trace is written.
const REST: Duration = Duration::from_secs(1);

/// Descriptors from here on are out of the way of programs that count on low numbers.
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
    /// Takes a copy of a descriptor, out of the program's way.
    ///
    /// # Errors
    /// When it is not open.
    pub fn duplicate(fd: RawFd) -> io::Result<Self> {
        // SAFETY: duplicating needs no memory; a bad number is an error.
        let mut copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR) };
        if copy < 0 {
            // SAFETY: as above; the limit on descriptors may be below ours.
            copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
        }
        if copy < 0 {
            return last_error();
        }
        let (device, inode, _) = identity(copy)?;
        Ok(Descriptor {
            fd: copy,
            identity: (device, inode),
        })
    }

    /// Opens and empties a trace file, or opens a FIFO or device. A FIFO waits for its reader, or for a signal that is to
    /// end the program.
    ///
    /// # Errors
    /// Of the system; [`io::ErrorKind::Interrupted`] by such a signal; [`io::ErrorKind::ResourceBusy`] when another process is writing its trace there,
    /// or this process did before it replaced its program.
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
        // A FIFO is opened for writing only, so that a reader that goes is noticed; a file for reading
        // too where possible, to look at what is there.
        let fd = if fifo {
            // Without blocking, then and later: all signals are blocked here.
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
                        if progress.elapsed() > REST && mask::end_is_asked() {
                            return Err(io::Error::other(
                                "its reader rests, and a signal is to end the program",
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

/// Whether the file holds a trace this very process has written since it started: then it has
/// replaced its program (exec), and the trace of before must stay.
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
        self.write_all([part(head), part(body)])
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
    fn a_descriptor_that_is_not_open_is_an_error() {
        assert!(Descriptor::duplicate(-1).is_err());
    }
}

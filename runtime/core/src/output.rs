#![allow(unsafe_code, reason = "file descriptors are opened and written by system calls")]
//! The file, pipe or descriptor that a trace is written to.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use contech_interpose::clock::Instant;
use contech_interpose::kernel;
use contech_trace::file::{FileHeader, HEADER_BYTES};

use crate::{mask, memory};

/// An open descriptor of the trace.
#[derive(Debug)]
pub(crate) struct Descriptor {
    fd: RawFd,
    /// Device and inode of the trace. They show when the program has closed the descriptor, which
    /// it does not know, and opened a file of its own under its number: the trace must not be
    /// written there.
    identity: (u64, u64),
    /// True when the program has ended. Then a reader that rests is waited for only for `patience`.
    ending: Option<&'static AtomicBool>,
    patience: Duration,
    /// Bytes of the disk that are left to others, and bytes to write before the disk is asked what
    /// is free.
    reserve: u64,
    unasked: u64,
}

/// How long a reader may rest before a signal that is to end the program ends the trace first.
/// Signals are blocked while the trace is written.
const REST: Duration = Duration::from_secs(1);
/// How long a reader may rest before a program that has ended exits without the rest of the trace.
const LAST_REST: Duration = Duration::from_secs(60);

/// Bytes of the disk that a trace leaves to others, or this part of what was free when it began.
const RESERVE: (u64, u64) = (1 << 30, 16);
/// The disk is asked what is free each time that so many bytes are written.
const ASKED: u64 = 64 << 20;

/// Descriptors from this number on are out of the way of programs that count on low numbers.
const FIRST_DESCRIPTOR: RawFd = 900;

/// A system call, past the C library.
fn call<const N: usize>(number: libc::c_long, arguments: [usize; N]) -> io::Result<usize> {
    // SAFETY: the callers of this module pass pointers to what lives through the call, with its
    // size.
    unsafe { kernel::call(number, arguments) }.map_err(io::Error::from_raw_os_error)
}

/// A descriptor or flags, as a system call takes them.
fn word(number: libc::c_int) -> usize {
    #[allow(clippy::cast_sign_loss, reason = "the kernel takes 32 bits of it")]
    let word = number as usize;
    word
}

fn descriptor(opened: usize) -> RawFd {
    RawFd::try_from(opened).unwrap_or(-1)
}

fn open(path: &CStr, flags: libc::c_int) -> io::Result<RawFd> {
    let (here, path) = (word(libc::AT_FDCWD), path.as_ptr().expose_provenance());
    let flags = word(flags | libc::O_CLOEXEC | libc::O_NOCTTY);
    call(libc::SYS_openat, [here, path, flags, 0o666]).map(descriptor)
}

fn identity(fd: RawFd) -> io::Result<(u64, u64, u32)> {
    // SAFETY: stat is plain data for which zero is a value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    let at = (&raw mut stat).expose_provenance();
    call(libc::SYS_fstat, [word(fd), at])?;
    Ok((stat.st_dev, stat.st_ino, stat.st_mode & libc::S_IFMT))
}

impl Descriptor {
    /// Takes a copy of a descriptor, under a number out of the program's way.
    pub(crate) fn duplicate(fd: RawFd) -> io::Result<Self> {
        let duplicate = |lowest: RawFd| {
            let how = [word(fd), word(libc::F_DUPFD_CLOEXEC), word(lowest)];
            call(libc::SYS_fcntl, how).map(descriptor)
        };
        // The limit on descriptors may be below `FIRST_DESCRIPTOR`.
        let copy = duplicate(FIRST_DESCRIPTOR).or_else(|_| duplicate(3))?;
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

    /// Takes over a descriptor of the program. A pipe or terminal is opened once more, because only
    /// a descriptor of its own can be made non-blocking without a change for the program.
    pub(crate) fn given(fd: RawFd) -> io::Result<Self> {
        let (.., kind) = identity(fd)?;
        if kind == libc::S_IFREG {
            return Self::duplicate(fd);
        }
        let again = CString::new(format!("/proc/self/fd/{fd}"))?;
        let Ok(own) = open(&again, libc::O_WRONLY | libc::O_NONBLOCK) else {
            return Self::duplicate(fd);
        };
        let made = Self::duplicate(own);
        close(own);
        made
    }

    /// From the moment `ending` is true, a reader that rests for long loses the rest of the trace.
    pub(crate) fn until(mut self, ending: &'static AtomicBool) -> Self {
        self.ending = Some(ending);
        self
    }

    /// Opens and empties a trace file, or opens a FIFO or device. For a FIFO this waits for a
    /// reader, or for a signal that is to end the program.
    /// [`io::ErrorKind::Interrupted`] comes after such a signal, and
    /// [`io::ErrorKind::ResourceBusy`] when another process is writing its trace there, or this
    /// process did before it replaced its program.
    pub(crate) fn create(path: &str, started_unix_ns: u64) -> io::Result<Self> {
        let name = CString::new(path)?;
        let fifo = std::fs::metadata(path).is_ok_and(|m| {
            use std::os::unix::fs::FileTypeExt;
            m.file_type().is_fifo()
        });
        // A FIFO is opened only for writing, so that the end of its reader is noticed. A file is
        // opened for reading too if possible, to look at what is there.
        let fd = if fifo {
            // The FIFO is opened, and later written, without blocking, because all signals are
            // blocked here.
            loop {
                match open(&name, libc::O_WRONLY | libc::O_NONBLOCK) {
                    Err(e) if e.raw_os_error() == Some(libc::ENXIO) => {}
                    opened => break opened?,
                }
                if mask::end_is_asked() {
                    return Err(io::Error::new(
                        io::ErrorKind::Interrupted,
                        "a signal came before its reader",
                    ));
                }
                kernel::sleep(Duration::from_millis(10));
            }
        } else {
            open(&name, libc::O_RDWR | libc::O_CREAT)
                .or_else(|_| open(&name, libc::O_WRONLY | libc::O_CREAT))?
        };
        let made = Self::claim(fd, started_unix_ns);
        close(fd);
        made
    }

    fn claim(fd: RawFd, started_unix_ns: u64) -> io::Result<Self> {
        let (.., kind) = identity(fd)?;
        if kind == libc::S_IFREG {
            if let Err(e) = call(libc::SYS_flock, [word(fd), word(libc::LOCK_EX | libc::LOCK_NB)]) {
                return match e.raw_os_error() {
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
        call(libc::SYS_ftruncate, [word(fd), 0])?;
        Self::duplicate(fd)
    }

    /// Writes all of a header and a payload. After an error the trace may end in the middle of a
    /// chunk.
    pub(crate) fn write(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
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

    /// Bytes that are free where the trace grows; `None` if it is no file, or if that is not known.
    pub(crate) fn free(&self) -> Option<u64> {
        let (.., kind) = identity(self.fd).ok()?;
        // SAFETY: statfs is plain data for which zero is a value.
        let mut stat: libc::statfs = unsafe { std::mem::zeroed() };
        let at = (&raw mut stat).expose_provenance();
        call(libc::SYS_fstatfs, [word(self.fd), at]).ok()?;
        let block = u64::try_from(stat.f_frsize).ok().filter(|n| *n > 0)?;
        (kind == libc::S_IFREG).then(|| stat.f_bavail.saturating_mul(block))
    }

    fn write_all(&self, mut parts: [libc::iovec; 2]) -> io::Result<()> {
        let mut progress = Instant::now();
        while parts.iter().any(|p| p.iov_len > 0) {
            let at = parts.as_ptr().expose_provenance();
            let mut n = match call(libc::SYS_writev, [word(self.fd), at, parts.len()]) {
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
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
                    continue;
                }
                Err(e) => return Err(e),
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
                format!("the disk has {} MiB left, which a trace leaves to others", free >> 20),
            )),
            _ => Ok(()),
        }
    }

    fn wait_writable(&self) {
        let mut poll = libc::pollfd { fd: self.fd, events: libc::POLLOUT, revents: 0 };
        let time = libc::timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let at = (&raw mut poll).expose_provenance();
        let time = (&raw const time).expose_provenance();
        let _ = call(libc::SYS_ppoll, [at, 1, time, 0, 0]);
    }
}

fn close(fd: RawFd) {
    let _ = call(libc::SYS_close, [word(fd)]);
}

/// Whether the file holds a trace that this very process has written since it started. Then the
/// process has replaced its program (exec), and the earlier trace must stay.
fn is_own(fd: RawFd, started_unix_ns: u64) -> bool {
    let mut head = [0u8; HEADER_BYTES];
    let at = head.as_mut_ptr().expose_provenance();
    let n = call(libc::SYS_pread64, [word(fd), at, head.len(), 0]);
    n.is_ok_and(|n| n == HEADER_BYTES)
        && FileHeader::decode(&head)
            .is_ok_and(|h| h.pid == memory::process_id() && h.start_unix_ns >= started_unix_ns)
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
        let header =
            FileHeader { pid: memory::process_id(), start_unix_ns: 1000, ..FileHeader::default() };
        std::fs::write(&path, header.encode()).unwrap();
        let name = path.to_str().unwrap();
        let busy = Descriptor::create(name, 999).unwrap_err();
        assert_eq!(busy.kind(), io::ErrorKind::ResourceBusy);
        assert!(Descriptor::create(name, 1001).is_ok(), "an older process had the same id");
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
}

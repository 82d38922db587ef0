//! Replacing the program. The trace is written out before, because nobody can do it afterwards. If the exec fails, the
//! program and the recording go on.

use std::ffi::{CStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

use contech_runtime_core::finish::Finish;
use contech_trace::event::EndReason;

use crate::current::{self, guarded};
use crate::real::{Strings, real};
use crate::tls::block;

fn checkpoint() {
    if let Some(recorder) = current::recorder() {
        let how = Finish {
            reason: EndReason::Exec,
            patience: None,
            note: None,
            registers: None,
        };
        guarded(|| recorder.checkpoint(block(), &how));
    }
}

/// Whether there is a program to run. Most failing execs are searches along a path.
fn is_executable(path: &CStr) -> bool {
    // SAFETY: the path is a C string.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

fn is_found(name: &CStr) -> bool {
    if name.to_bytes().contains(&b'/') {
        return is_executable(name);
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    std::env::split_paths(&path).any(|folder| {
        let mut full = folder.as_os_str().as_bytes().to_vec();
        full.push(b'/');
        full.extend_from_slice(name.to_bytes_with_nul());
        CStr::from_bytes_with_nul(&full).is_ok_and(is_executable)
    })
}

/// Writes the trace out if the exec of this file is going to succeed, as far as this can be known.
unsafe fn before(file: *const c_char, search: bool) {
    if file.is_null() || current::recorder().is_none() {
        return;
    }
    let _errno = contech_guest::memory::Errno::save();
    // SAFETY: the program passes a C string.
    let name = unsafe { CStr::from_ptr(file) };
    if guarded(|| {
        if search {
            is_found(name)
        } else {
            is_executable(name)
        }
    }) == Some(true)
    {
        checkpoint();
    }
}

pub(crate) unsafe extern "C-unwind" fn execve(
    file: *const c_char,
    args: Strings,
    env: Strings,
) -> c_int {
    // SAFETY: the caller's arguments are passed on, as everywhere below.
    unsafe {
        before(file, false);
        (real().execve)(file, args, env)
    }
}

pub(crate) unsafe extern "C-unwind" fn execv(file: *const c_char, args: Strings) -> c_int {
    // SAFETY: the caller's arguments are passed on, as in `execve`.
    unsafe {
        before(file, false);
        (real().execv)(file, args)
    }
}

pub(crate) unsafe extern "C-unwind" fn execvp(file: *const c_char, args: Strings) -> c_int {
    // SAFETY: the caller's arguments are passed on, as in `execve`.
    unsafe {
        before(file, true);
        (real().execvp)(file, args)
    }
}

pub(crate) unsafe extern "C-unwind" fn execvpe(
    file: *const c_char,
    args: Strings,
    env: Strings,
) -> c_int {
    // SAFETY: the caller's arguments are passed on, as in `execve`.
    unsafe {
        before(file, true);
        (real().execvpe)(file, args, env)
    }
}

pub(crate) unsafe extern "C-unwind" fn fexecve(file: c_int, args: Strings, env: Strings) -> c_int {
    checkpoint();
    // SAFETY: the caller's arguments are passed on, as in `execve`.
    unsafe { (real().fexecve)(file, args, env) }
}

pub(crate) unsafe extern "C-unwind" fn execveat(
    folder: c_int,
    file: *const c_char,
    args: Strings,
    env: Strings,
    flags: c_int,
) -> c_int {
    checkpoint();
    // SAFETY: the caller's arguments are passed on, as in `execve`.
    unsafe { (real().execveat)(folder, file, args, env, flags) }
}

/// Prepares the forms with a list of arguments, which only the real function can read. Returns the real function for
/// the stub to jump to.
pub(crate) unsafe extern "C" fn before_execl(file: *const c_char) -> usize {
    // SAFETY: the caller's arguments are passed on, as in `execve`.
    unsafe { before(file, false) };
    real().execl as usize
}

/// Does what [`before_execl`] does, for another form.
pub(crate) unsafe extern "C" fn before_execlp(file: *const c_char) -> usize {
    // SAFETY: the caller's arguments are passed on, as in `execve`.
    unsafe { before(file, true) };
    real().execlp as usize
}

/// Does what [`before_execl`] does, for another form.
pub(crate) unsafe extern "C" fn before_execle(file: *const c_char) -> usize {
    // SAFETY: the caller's arguments are passed on, as in `execve`.
    unsafe { before(file, false) };
    real().execle as usize
}

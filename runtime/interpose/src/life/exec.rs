//! Replacing the program. The library is told before, because nobody can tell it afterwards. If the
//! exec fails, the program goes on, and so does the library.

use std::ffi::{CStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

use super::{End, Life, Strings, real};
use crate::memory::Errno;

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

/// Says that the program is to be replaced, if `runs` says that there is one to run, as far as this
/// can be known.
fn before<L: Life>(runs: impl FnOnce() -> bool) {
    let _errno = Errno::save();
    if L::is_at_home() && runs() {
        L::end(End::Exec);
    }
}

/// Whether there is a program at the path `file`, or on the way that a `search` for it takes.
///
/// # Safety
/// `file` is a C string or null.
unsafe fn runs(file: *const c_char, search: bool) -> bool {
    if file.is_null() {
        return false;
    }
    // SAFETY: the caller says so.
    let name = unsafe { CStr::from_ptr(file) };
    if search { is_found(name) } else { is_executable(name) }
}

/// Functions that replace the program. Those with a `file` know where it is, or `search` for it.
macro_rules! execs {
    ($($name:ident($($arg:ident: $ty:ty),*): $runs:tt;)*) => {$(
        #[doc = concat!("Stands in for `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// The program calls it.
        pub unsafe extern "C-unwind" fn $name<L: Life>($($arg: $ty),*) -> c_int {
            before::<L>(execs!(@ $runs));
            // SAFETY: the caller's arguments are passed on.
            unsafe { (real().$name)($($arg),*) }
        }
    )*};
    ($($name:ident = $before:ident($file:ident): $runs:tt;)*) => {$(
        #[doc = concat!("Called before `", stringify!($name), "`, whose list of arguments only the real function can read.")]
        /// Returns the real function, for the stub to jump to.
        ///
        /// # Safety
        /// The program calls it.
        pub unsafe extern "C" fn $before<L: Life>($file: *const c_char) -> usize {
            before::<L>(execs!(@ $runs));
            real().$name as usize
        }
    )*};
    (@ ()) => { || true };
    (@ ($file:ident $search:tt)) => {
        // SAFETY: the program passes a C string.
        || unsafe { runs($file, $search) }
    };
}

execs! {
    execve(file: *const c_char, args: Strings, env: Strings): (file false);
    execv(file: *const c_char, args: Strings): (file false);
    execvp(file: *const c_char, args: Strings): (file true);
    execvpe(file: *const c_char, args: Strings, env: Strings): (file true);
    fexecve(file: c_int, args: Strings, env: Strings): ();
    execveat(folder: c_int, file: *const c_char, args: Strings, env: Strings, flags: c_int): ();
}

execs! {
    execl = before_execl(file): (file false);
    execlp = before_execlp(file): (file true);
    execle = before_execle(file): (file false);
}

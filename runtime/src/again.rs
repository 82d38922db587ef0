//! Starts the program once more, before any of it has run, when the kernel has put it where the ids
//! of its blocks are the ids of events. Ids are the low halves of addresses, so this happens to one
//! start in 2^32 / (number of blocks). The sanitizers of LLVM do the same about their shadow
//! memory.

use std::ffi::{CStr, CString, c_char};
use std::os::unix::fs::MetadataExt;

use contech_interpose::kernel;
use contech_interpose::life::Strings;
use contech_runtime_core::modules::FoundModule;

/// The address at which the last start of this process failed. A start that gets the same address
/// gives up.
const LAST: &CStr = c"CONTECH_AGAIN";

unsafe extern "C" {
    static environ: Strings;
}

/// Replaces the process by a new start of its program if a module of the executable has ids of
/// events. The call returns where that is not so, or is not possible; then the module is refused
/// like any other. The modules are the first of the process: once a library has registered its own,
/// something may have run.
pub(crate) fn if_chance_is_bad(modules: &[FoundModule]) {
    let last = std::env::var(LAST.to_str().unwrap_or_default()).ok();
    if last.is_some() {
        // SAFETY: the program has not begun, so it has one thread. It must not see the variable.
        unsafe { libc::unsetenv(LAST.as_ptr()) };
    }
    let Some(bad) = modules.iter().find(|m| m.has_reserved_ids()) else {
        return;
    };
    let address = format!("{:#x}", bad.descriptor.ids);
    if last.is_none_or(|last| last != address) {
        start_again(&bad.object, &address);
    }
}

/// Replaces the process. `None` says that this is not possible.
fn start_again(object: &str, address: &str) -> Option<()> {
    // Without an interpreter, the executable may be the dynamic linker, run by hand with the
    // program as an argument. SAFETY: the call reads the kernel's auxiliary vector.
    let interpreted = unsafe { libc::getauxval(libc::AT_BASE) } != 0;
    let running = std::fs::metadata("/proc/self/exe").ok()?;
    let file = std::fs::metadata(object).ok()?;
    if !interpreted || (running.dev(), running.ino()) != (file.dev(), file.ino()) {
        return None;
    }
    let arguments = strings(&std::fs::read("/proc/self/cmdline").ok()?)?;
    let variable = format!("{}={address}", LAST.to_str().ok()?);
    let variable = CString::new(variable).ok()?;
    let path = CString::new(object).ok()?;
    let null = std::iter::once(std::ptr::null());
    let arguments = arguments.iter().map(|s| s.as_ptr());
    let arguments: Vec<*const c_char> = arguments.chain(null.clone()).collect();
    // SAFETY: the environment is an array of strings that ends with null, and nobody else changes
    // it before main.
    let inherited = (0..).map_while(|i| unsafe {
        let string = *environ.add(i);
        (!string.is_null()).then_some(string)
    });
    let own = std::iter::once(variable.as_ptr());
    let environment: Vec<*const c_char> = inherited.chain(own).chain(null).collect();
    let lists = [arguments.as_ptr(), environment.as_ptr()].map(|list| list.expose_provenance());
    let path = path.as_ptr().expose_provenance();
    // SAFETY: both lists end with null, and their strings live until the call returns.
    let _ = unsafe { kernel::call(libc::SYS_execve, [path, lists[0], lists[1]]) };
    None
}

/// Splits what the kernel says of a command line. There is none without a first argument.
fn strings(bytes: &[u8]) -> Option<Vec<CString>> {
    let all = bytes.strip_suffix(b"\0")?;
    all.split(|b| *b == 0).map(|s| CString::new(s).ok()).collect()
}

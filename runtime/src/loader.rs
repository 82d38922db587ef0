//! Finds the dynamic linker's own code. The linker allocates in the middle of a block (at the first
//! use of a thread-local variable of a library), when the cursor in thread-local storage is behind
//! the one in the program's register. An event written then would tear the record apart.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_interpose::objects::Object;

static START: AtomicUsize = AtomicUsize::new(usize::MAX);
static END: AtomicUsize = AtomicUsize::new(0);

/// Whether the address lies in the dynamic linker.
#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    (START.load(Relaxed)..END.load(Relaxed)).contains(&address)
}

/// Finds it among the objects of the process.
pub(crate) fn find(objects: &[Object]) {
    // SAFETY: the call reads the auxiliary vector of this process. A program that is linked
    // statically has no linker; nobody loads anything there.
    let base = unsafe { libc::getauxval(libc::AT_BASE) };
    if let Some(linker) = objects.iter().find(|o| base != 0 && o.base as u64 == base) {
        START.store(linker.start, Relaxed);
        END.store(linker.start + linker.len, Relaxed);
    }
}

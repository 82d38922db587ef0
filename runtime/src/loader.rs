//! Finds the dynamic linker's own code. The linker allocates in the middle of a block (at the first
//! use of a thread-local variable of a library), when the cursor in thread-local storage is behind
//! the one in the program's register. An event written then would tear the record apart.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static START: AtomicUsize = AtomicUsize::new(usize::MAX);
static END: AtomicUsize = AtomicUsize::new(0);

/// Whether the address lies in the dynamic linker.
#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    (START.load(Relaxed)..END.load(Relaxed)).contains(&address)
}

/// Finds the dynamic linker. Called once, when recording starts.
pub(crate) fn find() {
    // SAFETY: the call reads the auxiliary vector of this process.
    let base = unsafe { libc::getauxval(libc::AT_BASE) };
    let Ok(base) = usize::try_from(base) else {
        return;
    };
    if base == 0 {
        return; // linked statically: nobody loads anything
    }
    let header = std::ptr::with_exposed_provenance::<libc::Elf64_Ehdr>(base);
    // SAFETY: AT_BASE is where the kernel mapped the dynamic linker, which begins with its ELF
    // header. Its program headers lie in the same first mapping and stay for the life of the
    // process.
    let segments = unsafe {
        let first = std::ptr::with_exposed_provenance::<libc::Elf64_Phdr>(
            base + usize::try_from((*header).e_phoff).unwrap_or(0),
        );
        std::slice::from_raw_parts(first, usize::from((*header).e_phnum))
    };
    let end = segments
        .iter()
        .filter(|s| s.p_type == libc::PT_LOAD)
        .filter_map(|s| usize::try_from(s.p_vaddr + s.p_memsz).ok())
        .max();
    START.store(base, Relaxed);
    END.store(base + end.unwrap_or(0), Relaxed);
}

//! The kernel's own code in the process (vDSO), which reads clocks without a system call and
//! without the C library.

use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

type Read = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int;

const NAME: &CStr = c"__vdso_clock_gettime";

const STRTAB: u64 = 5;
const SYMTAB: u64 = 6;
const UNKNOWN: usize = 0;
const NONE: usize = 1;

static FOUND: AtomicUsize = AtomicUsize::new(UNKNOWN);

/// The kernel's function, if it offers one.
pub(crate) fn clock_gettime() -> Option<Read> {
    let mut address = FOUND.load(Relaxed);
    if address == UNKNOWN {
        address = find().unwrap_or(NONE);
        FOUND.store(address, Relaxed);
    }
    let code = std::ptr::with_exposed_provenance::<()>(address);
    // SAFETY: the kernel's symbol of this name is such a function.
    (address != NONE).then(|| unsafe { std::mem::transmute::<*const (), Read>(code) })
}

fn at<T>(address: usize) -> *const T {
    std::ptr::with_exposed_provenance(address)
}

fn find() -> Option<usize> {
    // SAFETY: the call reads the auxiliary vector of this process.
    let base = usize::try_from(unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) }).ok()?;
    if base == 0 {
        return None;
    }
    // SAFETY: the kernel mapped a whole ELF object there, which stays; its program headers lie
    // where the header says.
    let segments = unsafe {
        let header = &*at::<libc::Elf64_Ehdr>(base);
        let first = at::<libc::Elf64_Phdr>(base + usize::try_from(header.e_phoff).ok()?);
        std::slice::from_raw_parts(first, usize::from(header.e_phnum))
    };
    let load = segments.iter().find(|s| s.p_type == libc::PT_LOAD)?;
    let dynamic = segments.iter().find(|s| s.p_type == libc::PT_DYNAMIC)?;
    let place = |address: u64| {
        let inside = address.wrapping_sub(load.p_vaddr);
        (inside < load.p_memsz).then(|| Some(base + usize::try_from(inside).ok()?))?
    };
    let first = place(dynamic.p_vaddr)?;
    let (mut names, mut symbols) = (None, None);
    for i in 0..usize::try_from(dynamic.p_memsz).ok()? / 16 {
        // SAFETY: the entry lies in the segment of the dynamic section.
        match unsafe { at::<[u64; 2]>(first + 16 * i).read() } {
            [0, _] => break,
            [STRTAB, address] => names = place(address),
            [SYMTAB, address] => symbols = place(address),
            _ => {}
        }
    }
    let (names, symbols) = (names?, symbols?);
    // The linker puts the names behind the symbols.
    for i in 0..names.saturating_sub(symbols) / size_of::<libc::Elf64_Sym>() {
        // SAFETY: the symbol lies in the object, before its names; what lies between them is read
        // as symbols too, and a name outside the object is not looked at.
        let symbol = unsafe { at::<libc::Elf64_Sym>(symbols).add(i).read() };
        let name = names + symbol.st_name as usize;
        let end = base + usize::try_from(load.p_memsz).ok()?;
        if name + NAME.to_bytes_with_nul().len() > end {
            continue;
        }
        // SAFETY: so many bytes lie in the object.
        let name =
            unsafe { std::slice::from_raw_parts(at::<u8>(name), NAME.to_bytes_with_nul().len()) };
        if name == NAME.to_bytes_with_nul() && symbol.st_shndx != 0 {
            return place(symbol.st_value);
        }
    }
    None
}

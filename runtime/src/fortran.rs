//! What is known of flang's run-time library: where it is, and what arrays its descriptors tell of.
//! It is linked into the program's own file. The locks of its input and output are not the
//! program's, so calls from its code do not count.

use std::fs::File;
use std::ops::Range;

use contech_trace::abi::{Ptr, Word};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSymbol, ReadCache, SymbolKind};

/// The address ranges of the library's code in the object file, as the file numbers them. There are
/// none if the file cannot be read, has no symbols (stripped), or does not hold the library.
pub(crate) fn library(path: &str) -> Vec<Range<u64>> {
    let path = if path.is_empty() { "/proc/self/exe" } else { path };
    File::open(path).ok().and_then(functions).map_or_else(Vec::new, runs)
}

/// The owner of a function's code, as far as the name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Library,
    Instrumented,
    Unknown,
}

fn owner(name: &[u8]) -> Owner {
    let contains = |part: &[u8]| name.windows(part.len()).any(|w| w == part);
    if name.starts_with(b"_Fortran") || name.starts_with(b"_Z") && contains(b"7Fortran7runtime") {
        Owner::Library
    } else if name.starts_with(b"__contech") || name.starts_with(b"_Q") {
        Owner::Instrumented
    } else {
        Owner::Unknown
    }
}

type Function = (Range<u64>, Owner);

/// The address ranges of the library's code. The linker puts an archive's code in one place, so
/// what lies between functions of the library is the library's too, unless the program's own code
/// lies there: between the library's cold code and the rest of it.
fn runs(mut functions: Vec<Function>) -> Vec<Range<u64>> {
    functions.sort_by_key(|(range, _)| range.start);
    let mut found: Vec<Range<u64>> = Vec::new();
    let mut joined = false;
    for (range, owner) in functions {
        match (owner, found.last_mut()) {
            (Owner::Library, Some(last)) if joined => last.end = last.end.max(range.end),
            (Owner::Library, _) => {
                found.push(range);
                joined = true;
            }
            (Owner::Instrumented, _) => joined = false,
            (Owner::Unknown, _) => {}
        }
    }
    found
}

fn functions(file: File) -> Option<Vec<Function>> {
    let file = ReadCache::new(file);
    let file = ElfFile::<FileHeader64<Endianness>, _>::parse(&file).ok()?;
    let functions = file.symbols().filter_map(|symbol| {
        let (start, name) = (symbol.address(), symbol.name_bytes().ok()?);
        let defined = symbol.is_definition() && symbol.kind() == SymbolKind::Text;
        defined.then(|| (start..start.saturating_add(symbol.size()), owner(name)))
    });
    Some(functions.collect())
}

/// `CFI_cdesc_t` of the C interface, which is flang's descriptor of an array.
#[repr(C)]
struct Descriptor {
    base: usize,
    element: usize,
    _version: i32,
    rank: u8,
    _rest: [u8; 3],
    dimensions: [Dimension; 15],
}

/// `CFI_dim_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Dimension {
    _lower: isize,
    extent: isize,
    /// Bytes from one element to the next.
    stride: isize,
}

/// Exported as `__contech_array`.
pub(crate) unsafe extern "C" fn array(descriptor: Ptr) -> Word {
    let descriptor = descriptor.cast::<Descriptor>();
    // SAFETY: the program hands the library a descriptor, which has as many dimensions as it says.
    let (base, element, rank) =
        unsafe { ((*descriptor).base, (*descriptor).element, (*descriptor).rank) };
    if base == 0 {
        return 0;
    }
    let mut bytes = element;
    for at in 0..usize::from(rank) {
        // SAFETY: as above.
        let of =
            unsafe { (&raw const (*descriptor).dimensions).cast::<Dimension>().add(at).read() };
        let extent = usize::try_from(of.extent).unwrap_or(0);
        if extent > 1 && usize::try_from(of.stride) != Ok(bytes) {
            return 0;
        }
        bytes = bytes.saturating_mul(extent);
    }
    bytes as Word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_has_the_bytes_of_its_elements_if_they_lie_one_behind_the_other() {
        let of = |base, dimensions: &[(isize, isize)]| {
            let mut all = [Dimension { _lower: 1, extent: 7, stride: 7 }; 15];
            for (to, &(extent, stride)) in all.iter_mut().zip(dimensions) {
                (to.extent, to.stride) = (extent, stride);
            }
            let mut descriptor = Descriptor {
                base,
                element: 8,
                _version: 1,
                rank: u8::try_from(dimensions.len()).unwrap(),
                _rest: [0; 3],
                dimensions: all,
            };
            // SAFETY: the descriptor is live.
            unsafe { array((&raw mut descriptor).cast()) }
        };
        assert_eq!(of(4096, &[]), 8);
        assert_eq!(of(4096, &[(5, 8)]), 40);
        assert_eq!(of(4096, &[(5, 8), (1, 9), (3, 40)]), 120);
        assert_eq!(of(4096, &[(0, 8), (3, 0)]), 0);
        for apart in [&[(5, 16)][..], &[(5, -8)], &[(5, 8), (3, 48)]] {
            assert_eq!(of(4096, apart), 0);
        }
        assert_eq!(of(0, &[(5, 8)]), 0);
    }

    #[test]
    fn what_lies_between_functions_of_the_library_is_its_own_unless_the_programs_code_is_there() {
        let f = |start, name: &str| (start..start + 8, owner(name.as_bytes()));
        let list = vec![
            f(0, "_FortranAFailImageStatement"),
            f(8, "_start"),
            f(16, "_QQmain"),
            f(24, "helper"),
            f(32, "_FortranAioBeginExternalListOutput"),
            f(40, "_ZL21CloseAllExternalUnitsPKc"),
            f(48, "_ZN7Fortran7runtime2io12ExternalUnit4OpenEv"),
            f(56, "_fini"),
        ];
        assert_eq!(runs(list), [0..8, 32..56]);
    }

    #[test]
    fn a_file_without_the_library_or_no_elf_file_has_none() {
        assert_eq!(library(""), Vec::<Range<u64>>::new());
        assert_eq!(library("/etc/passwd"), Vec::<Range<u64>>::new());
        assert_eq!(library("/nonexistent"), Vec::<Range<u64>>::new());
    }
}

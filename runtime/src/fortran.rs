//! flang's run-time library is linked into the program's own file. The locks of its input and output are not the
//! program's, so calls from its code do not count.

use std::fs::File;
use std::ops::Range;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSymbol, ReadCache, SymbolKind};

/// The address ranges of the library's code in the object file, as the file numbers them. There are none if the file
/// cannot be read, has no symbols (stripped), or does not hold the library.
pub(crate) fn library(path: &str) -> Vec<Range<u64>> {
    let path = if path.is_empty() {
        "/proc/self/exe"
    } else {
        path
    };
    File::open(path)
        .ok()
        .and_then(functions)
        .map_or_else(Vec::new, runs)
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

/// The address ranges of the library's code. The linker puts an archive's code in one place, so what lies between
/// functions of the library is the library's too, unless the program's own code lies there: between the library's cold
/// code and the rest of it.
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

#[cfg(test)]
mod tests {
    use super::*;

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

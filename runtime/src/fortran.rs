//! flang's run-time library, which is linked into the program's own file: the locks of its input and output are
//! no locks of the program, so calls from its code do not count.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

/// Bytes of the ELF header, of a section header and of a symbol (64 bits).
const HEADER: usize = 64;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

/// Section type of the full symbol table, and symbol type of functions.
const SHT_SYMTAB: u32 = 2;
const STT_FUNC: u8 = 2;

/// Most bytes of a symbol or string table that are read.
const LARGEST: u64 = 1 << 30;

/// Code of the library in the object file, as addresses of its own; empty where the file cannot be read, has no
/// symbols (stripped), or does not hold the library.
pub(crate) fn library(path: &str) -> Vec<Range<u64>> {
    let path = if path.is_empty() {
        "/proc/self/exe"
    } else {
        path
    };
    File::open(path)
        .ok()
        .and_then(|file| functions(&file))
        .map_or_else(Vec::new, runs)
}

/// Whose code a function is, as far as its name says.
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

/// The linker puts an archive's code in one place, so what lies between functions of the library is the library's,
/// unless the program's own code is there: between the library's cold code and the rest of it.
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

fn functions(file: &File) -> Option<Vec<Function>> {
    let header = read(file, 0, HEADER as u64)?;
    if header.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let sections_at = word(&header, 40)?;
    let count = half(&header, 60)?;
    let sections = read(file, sections_at, u64::from(count) * SECTION as u64)?;
    let section = |i: usize| sections.get(i * SECTION..(i + 1) * SECTION);
    let table = (0..usize::from(count))
        .filter_map(section)
        .find(|s| long(s, 4) == Some(SHT_SYMTAB))?;
    let strings = section(long(table, 40)? as usize)?;
    let contents = |s: &[u8]| read(file, word(s, 24)?, word(s, 32)?);
    let (symbols, names) = (contents(table)?, contents(strings)?);
    let function = |symbol: &[u8]| {
        let name = names.get(long(symbol, 0)? as usize..)?;
        let name = &name[..name.iter().position(|b| *b == 0)?];
        let (start, size) = (word(symbol, 8)?, word(symbol, 16)?);
        let defined = half(symbol, 6)? != 0 && symbol[4] & 15 == STT_FUNC;
        defined.then(|| (start..start.saturating_add(size), owner(name)))
    };
    Some(symbols.chunks_exact(SYMBOL).filter_map(function).collect())
}

fn read(file: &File, at: u64, len: u64) -> Option<Vec<u8>> {
    let end = file.metadata().ok()?.len();
    if len > LARGEST || at.checked_add(len)? > end {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
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

//! Names the places of an observation: function, file and line from debug information, or the name
//! of the symbol.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;

use addr2line::Loader;
use contech_observation::Place;
use object::elf::{ET_EXEC, FileHeader64};
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSymbol, ReadCache, SymbolKind};

use crate::scaling::PlaceName;
use crate::view::names;
use crate::view::names::demangled;

/// The address at which the linker puts an executable that is not position-independent.
const FIXED: u64 = 0x40_0000;

/// The places of all runs.
#[derive(Default)]
pub(super) struct Places {
    pub(super) names: Vec<PlaceName>,
    files: HashMap<String, Option<Module>>,
}

/// What a file says of its code.
struct Module {
    loader: Loader,
    /// The address of the first byte in the file's own count.
    base: u64,
    /// The end of the function at each address that has a symbol.
    ends: HashMap<u64, u64>,
}

impl Places {
    /// The index of a place in one of `modules`.
    pub(super) fn index(&mut self, modules: &[String], place: &Place) -> usize {
        let path = place.module.and_then(|module| modules.get(module as usize));
        let name = self.name(path.map_or("", String::as_str), place);
        // Equal names are one place, because a module may have been loaded elsewhere in another run,
        // and a line may wait at two addresses.
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn name(&mut self, path: &str, place: &Place) -> PlaceName {
        let file = self.files.entry(path.to_owned()).or_insert_with(|| Module::open(path));
        let mut name = PlaceName { function: place.symbol.clone(), ..PlaceName::default() };
        // The address is that to which a call returns, so the call is before it.
        let base = file.as_ref().map_or(0, |file| file.base);
        let at = (place.offset + base).saturating_sub(1);
        if let Some(symbol) = file.as_ref().and_then(|file| file.symbol(at)) {
            symbol.clone_into(&mut name.function);
        }
        if name.function.is_empty() && !path.is_empty() {
            let file = path.rsplit('/').next().unwrap_or(path);
            name.function = format!("{file}+{:#x}", place.offset);
            return name;
        }
        let Some(Module { loader, .. }) = file else {
            return name;
        };
        if let Ok(mut frames) = loader.find_frames(at) {
            let mut lines = Vec::new();
            while let Ok(Some(frame)) = frames.next() {
                if let Some(location) = frame.location {
                    lines.push((location.file.unwrap_or_default(), location.line.unwrap_or(0)));
                }
            }
            if let Some((file, line)) = ::workspan::source::shown(&lines) {
                (name.file, name.line) = (file.to_owned(), line);
            }
        }
        name.function = demangled(&name.function);
        // The code of an OpenMP region is a function that the compiler named after the function
        // that contains the region.
        let (_, outer) = names::part(&name.function);
        name.function = outer.to_owned();
        // Without line numbers, the places in a function are distinguished by their addresses.
        if name.line == 0 && !name.function.is_empty() {
            let _ = write!(name.function, " [{:#x}]", place.offset);
        }
        name
    }
}

impl Module {
    fn open(path: &str) -> Option<Self> {
        let file = ReadCache::new(File::open(path).ok()?);
        let file = ElfFile::<FileHeader64<Endianness>, _>::parse(&file).ok()?;
        let fixed = file.elf_header().e_type.get(file.endian()) == ET_EXEC;
        let mut ends: HashMap<u64, u64> = HashMap::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            if symbol.is_definition() && symbol.kind() == SymbolKind::Text {
                let end = ends.entry(symbol.address()).or_default();
                *end = (*end).max(symbol.address() + symbol.size());
            }
        }
        Some(Self { loader: Loader::new(path).ok()?, base: if fixed { FIXED } else { 0 }, ends })
    }

    /// The function at an address. The nearest symbol before it may be that of another function,
    /// because a file that was stripped has few.
    fn symbol(&self, at: u64) -> Option<&str> {
        let symbol = self.loader.find_symbol_info(at)?;
        let end = self.ends.get(&symbol.address())?;
        (at < *end).then(|| symbol.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_behind_the_last_function_is_not_named_after_it() {
        let path = std::env::current_exe().expect("this program");
        let path = path.to_str().expect("a name");
        let module = Module::open(path).expect("a file with symbols");
        let last = module.ends.values().max().expect("functions");
        let begins = |name: &str| {
            let mut all = module.ends.keys().copied();
            all.find(|&at| module.symbol(at) == Some(name))
        };
        let main = begins("main").expect("main");
        let mut places = Places::default();
        let mut name = |offset| {
            let place = Place { module: None, offset, symbol: String::new() };
            places.name(path, &place)
        };
        let found = name(main + 2 - module.base);
        assert!(found.function.starts_with("main"), "{found:?}");
        let behind = name(last + 64 - module.base);
        let file = path.rsplit('/').next().expect("a file");
        let expected = format!("{file}+{:#x}", last + 64 - module.base);
        assert_eq!((behind.function, behind.line), (expected, 0));
    }
}

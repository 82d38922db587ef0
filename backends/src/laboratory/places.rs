//! Names the places of an observation: function, file and line from debug information, or the name of the symbol.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Read;

use addr2line::Loader;
use contech_observation::{Observation, Place};

use crate::analysis::names;
use crate::scaling::PlaceName;

/// The address at which the linker puts an executable that is not position-independent.
const FIXED: u64 = 0x40_0000;

/// The places of all runs.
#[derive(Default)]
pub(super) struct Places {
    names: Vec<PlaceName>,
    /// Index in `names`, by the module's path and the offset.
    known: HashMap<(String, u64), usize>,
    /// Index in `names`, by name. Equal names are one place, because a module may have been loaded elsewhere in
    /// another run, and a line may wait at two addresses.
    same: HashMap<PlaceName, usize>,
    files: HashMap<String, Option<(Loader, u64)>>,
}

impl Places {
    /// The index of a place of `observation`.
    pub(super) fn index(&mut self, observation: &Observation, place: &Place) -> usize {
        let module = place
            .module
            .and_then(|module| observation.modules.get(module as usize));
        let path = module.map_or_else(String::new, |module| module.path.clone());
        let key = (path, place.offset);
        if let Some(index) = self.known.get(&key) {
            return *index;
        }
        let name = self.name(&key.0, place);
        let next = self.names.len();
        let index = *self.same.entry(name.clone()).or_insert(next);
        if index == next {
            self.names.push(name);
        }
        self.known.insert(key, index);
        index
    }

    /// The names of all places.
    pub(super) fn names(self) -> Vec<PlaceName> {
        self.names
    }

    fn name(&mut self, path: &str, place: &Place) -> PlaceName {
        let file = self
            .files
            .entry(path.to_owned())
            .or_insert_with(|| open(path));
        let mut name = PlaceName {
            function: place.symbol.clone(),
            ..PlaceName::default()
        };
        let Some((loader, base)) = file else {
            return name;
        };
        // The address is that to which a call returns, so the call is before it.
        let at = (place.offset + *base).saturating_sub(1);
        if let Some(symbol) = loader.find_symbol(at) {
            symbol.clone_into(&mut name.function);
        }
        if let Ok(mut frames) = loader.find_frames(at) {
            let mut lines = Vec::new();
            while let Ok(Some(frame)) = frames.next() {
                if let Some(location) = frame.location {
                    lines.push((
                        location.file.unwrap_or_default(),
                        location.line.unwrap_or(0),
                    ));
                }
            }
            if let Some((file, line)) = ::workspan::source::shown(&lines) {
                (name.file, name.line) = (file.to_owned(), line);
            }
        }
        name.function = addr2line::demangle_auto(name.function.as_str().into(), None).into_owned();
        // The code of an OpenMP region is a function that the compiler named after the function that contains the
        // region.
        let (_, outer) = names::part(&name.function);
        name.function = outer.to_owned();
        // Without line numbers, the places in a function are distinguished by their addresses.
        if name.line == 0 && !name.function.is_empty() {
            let _ = write!(name.function, " [{:#x}]", place.offset);
        }
        name
    }
}

fn open(path: &str) -> Option<(Loader, u64)> {
    let mut header = [0; 18];
    std::fs::File::open(path)
        .ok()?
        .read_exact(&mut header)
        .ok()?;
    // In ELF's `e_type`, 2 is an executable at fixed addresses.
    let fixed = header.starts_with(b"\x7fELF") && header[16] == 2;
    let base = if fixed { FIXED } else { 0 };
    Some((Loader::new(path).ok()?, base))
}

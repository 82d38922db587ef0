//! Names and source lines of addresses in the loaded objects, from their debug information.

use std::collections::HashMap;

use addr2line::Loader;
use contech_interpose::objects::{Object, objects};

/// A place in the source.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub function: String,
    pub file: String,
    pub line: u32,
}

/// The objects that are loaded, and what was read of them so far.
pub(crate) struct Symbols {
    objects: Vec<Object>,
    read: HashMap<usize, Option<Loader>>,
}

impl Symbols {
    /// Nothing is read yet.
    pub(crate) fn new() -> Self {
        Self { objects: objects(), read: HashMap::new() }
    }

    /// What is known of the code at `address`.
    pub(crate) fn place(&mut self, address: usize) -> Place {
        let Some(object) = self.objects.iter().find(|object| object.holds(address)) else {
            return Place::default();
        };
        let path = if object.path.is_empty() { "/proc/self/exe" } else { &object.path };
        let loader = self.read.entry(object.start).or_insert_with(|| Loader::new(path).ok());
        let Some(loader) = loader else {
            return Place::default();
        };
        let offset = (address - object.base) as u64;
        let mut lines = Vec::new();
        if let Ok(mut frames) = loader.find_frames(offset) {
            while let Ok(Some(frame)) = frames.next() {
                if let Some(location) = frame.location {
                    lines.push((location.file.unwrap_or_default(), location.line.unwrap_or(0)));
                }
            }
        }
        let (file, line) = workspan::source::shown(&lines).unwrap_or_default();
        Place {
            function: loader.find_symbol(offset).unwrap_or_default().to_owned(),
            file: file.to_owned(),
            line,
        }
    }
}

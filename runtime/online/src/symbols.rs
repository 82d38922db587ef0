//! Names and source lines of addresses in the loaded objects, from their debug information.
#![allow(unsafe_code, reason = "dladdr")]

use std::collections::HashMap;
use std::ffi::CStr;
use std::path::PathBuf;

use addr2line::Loader;
use contech_interpose::objects::about;

/// A place in the source.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub function: String,
    pub file: String,
    pub line: u32,
}

/// The objects read so far.
#[derive(Default)]
pub(crate) struct Symbols {
    objects: HashMap<PathBuf, Option<Loader>>,
}

impl Symbols {
    /// What is known of the code at `address`.
    pub(crate) fn place(&mut self, address: usize) -> Place {
        let Some((object, base)) = object(address) else {
            return Place::default();
        };
        let loader = self.objects.entry(object).or_insert_with_key(|path| Loader::new(path).ok());
        let Some(loader) = loader else {
            return Place::default();
        };
        let offset = (address - base) as u64;
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

/// The file from which the code at an address was loaded, and where it was loaded.
fn object(address: usize) -> Option<(PathBuf, usize)> {
    let info = about(address)?;
    // SAFETY: the name is a string of the linker's, which stays while the object is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) }.to_str().ok()?;
    let path = PathBuf::from(name);
    let path = if path.exists() { path } else { PathBuf::from("/proc/self/exe") };
    // Objects that are not position-independent have absolute addresses in their files.
    let fixed = info.dli_fbase as usize == 0x40_0000;
    Some((path, if fixed { 0 } else { info.dli_fbase as usize }))
}

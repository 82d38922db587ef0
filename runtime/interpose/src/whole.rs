//! Small files that appear whole or not at all.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Result, Write};
use std::path::Path;

/// Puts `bytes` where `path` says: into a file with another name first, which is renamed when it is
/// whole.
///
/// That file is a new one, and nobody can guess its name. The folder may be everybody's (`/tmp`),
/// and a link that somebody has put where the file was expected would be followed.
///
/// # Errors
/// An error of the system. What was there before is there still.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    loop {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".tmp-{:016x}", RandomState::new().hash_one(path)));
        let temporary = path.with_file_name(name);
        let made = OpenOptions::new().write(true).create_new(true).open(&temporary);
        let mut file = match made {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            made => made?,
        };
        return file.write_all(bytes).and_then(|()| fs::rename(&temporary, path)).inspect_err(
            |_| {
                let _ = fs::remove_file(&temporary);
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = std::env::temp_dir().join(format!("contech-whole-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("file");
        for text in ["one", "two"] {
            replace(&file, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        }
        // A folder cannot be replaced by a file.
        fs::create_dir(folder.join("taken")).unwrap();
        replace(&folder.join("taken"), b"three").unwrap_err();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(folder).unwrap();
    }
}

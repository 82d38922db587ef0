//! Open MPI's `mpif.h`, which flang 22 refuses, and the `mpif.h` that comes with the drivers.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::response;

/// The folder, within the folder of headers, of a `mpif.h` that includes all parts of Open MPI's
/// except [`PART`].
pub(crate) const FOLDER: &str = "contech/flang";

/// The part that flang refuses: it has interfaces of MPI_SIZEOF for kinds that flang lacks.
const PART: &str = "mpif-sizeof.h";

/// Whether Open MPI's `mpif.h` is the first one in the folders of a command line.
pub(crate) fn is_open_mpis(arguments: &[OsString]) -> bool {
    let first = folders(&response::expand(arguments))
        .into_iter()
        .find(|folder| folder.join("mpif.h").is_file());
    first.is_some_and(|folder| folder.join(PART).is_file())
}

/// The folders in which a command line looks for headers.
fn folders(arguments: &[OsString]) -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from(".")];
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.to_string_lossy().strip_prefix("-I") {
            Some("") => folders.extend(words.next().map(PathBuf::from)),
            Some(folder) => folders.push(PathBuf::from(folder)),
            None => {}
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn open_mpis_header_is_known_by_its_parts_unless_another_comes_first() {
        let dir = std::env::temp_dir().join(format!("contech-mpif-{}", std::process::id()));
        let (open, other) = (dir.join("open"), dir.join("other"));
        for folder in [&open, &other] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("mpif.h"), "").unwrap();
        }
        fs::write(open.join(PART), "").unwrap();
        let of = |folders: [&Path; 2]| {
            let glued = folders.map(|f| format!("-I{}", f.display()).into());
            is_open_mpis(&glued)
        };
        assert!(of([&open, &other]));
        assert!(!of([&other, &open]));
        assert!(!of([&dir, &other]));
        fs::remove_dir_all(&dir).unwrap();
    }
}

//! Open MPI's `mpif.h`, which flang 22 does not take as it is, and the one that comes with the drivers.

use std::ffi::OsString;
use std::path::Path;

use crate::{foreign, response};

/// In the folder of headers: a `mpif.h` that includes the parts of Open MPI's, but for the one of [`PART`].
pub(crate) const FOLDER: &str = "contech/flang";

/// The part that flang refuses: interfaces of MPI_SIZEOF for kinds it lacks.
const PART: &str = "mpif-sizeof.h";

/// Whether the first `mpif.h` in the folders of a command line is Open MPI's.
pub(crate) fn is_open_mpis(arguments: &[OsString]) -> bool {
    let (folders, _) = foreign::places(&response::expand(arguments));
    let has = |folder: &Path| folder.join("mpif.h").is_file();
    let first = folders.iter().find(|f| has(f));
    first.is_some_and(|f| f.join(PART).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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

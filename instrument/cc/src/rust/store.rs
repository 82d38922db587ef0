//! Instrumented objects and archives, kept under the checksum of what they were made from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use crate::Error;

/// What nobody has used for this long is removed from the folder of all toolchains.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);

/// The folder for what toolchains bring with them, which all programs share.
pub(crate) const SHARED: &str = "rust";
/// Where crates of the registry are built, which belong to no package of the user.
pub(crate) const INSTALLS: &str = "installs";

/// A folder of the user's for what can be made again.
pub(crate) fn cache(name: &str) -> PathBuf {
    let set = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    folder(set, std::env::home_dir()).join("contech").join(name)
}

/// What lies there is linked into programs, so it is no folder that is everybody's (`/tmp`), even
/// where there is no home.
fn folder(set: Option<PathBuf>, home: Option<PathBuf>) -> PathBuf {
    let named = |path: &PathBuf| path.is_absolute();
    set.filter(named)
        .or_else(|| home.filter(named).map(|home| home.join(".cache")))
        .unwrap_or_else(|| "target".into())
}

/// Makes `to`, unless it is there: `make` writes another file, which then gets the name. So nobody
/// sees half of it, and two who make it at the same time do not disturb each other.
pub(crate) fn make(
    to: &Path,
    make: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<bool, Error> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    if let Ok(file) = fs::File::open(to) {
        // The time says that it is in use. If it cannot be set, it is only made again some day.
        let _ = file.set_modified(SystemTime::now());
        return Ok(false);
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|cause| Error::file(folder, cause))?;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let extension = format!("{}-{number}.new", process::id());
    let new = to.with_extension(extension);
    let made = make(&new).and_then(|()| fs::rename(&new, to).map_err(|e| Error::file(to, e)));
    if made.is_err() {
        // What is not there need not be removed.
        let _ = fs::remove_file(&new);
    }
    made.map(|()| true)
}

/// Removes from a folder what `keep` does not ask for. What cannot be removed costs only its place.
pub(crate) fn prune(folder: &Path, keep: impl Fn(&Path) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !keep(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether a file was used lately.
pub(crate) fn is_used(path: &Path) -> bool {
    let modified = path.metadata().and_then(|m| m.modified()).ok();
    let age = modified.and_then(|at| at.elapsed().ok());
    age.is_none_or(|age| age < UNUSED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instrumented_objects_are_kept_where_only_the_user_writes() {
        let path = |path: &str| Some(PathBuf::from(path));
        for (set, home, expected) in [
            (path("/c"), path("/h"), "/c"),
            (path(""), path("/h"), "/h/.cache"),
            (None, path("/h"), "/h/.cache"),
            (None, path(""), "target"),
            (None, None, "target"),
        ] {
            assert_eq!(folder(set, home), Path::new(expected));
        }
    }
}

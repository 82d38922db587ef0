//! Module files of other Fortran compilers. flang reads them as text and reports them character by character.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use contech_plain::say;

use crate::line::FORTRAN;
use crate::response;

/// The first bytes of flang's module files: a byte order mark and this text.
const HEADER: &[u8] = b"\xEF\xBB\xBF!mod$";

/// Options that name a folder of module files, in the same argument or in the next.
const FOLDERS: [&str; 3] = ["-I", "-J", "-module-dir"];

/// The module files that a source of the command line uses by name and that flang has not written.
pub(crate) fn modules(arguments: &[OsString]) -> Vec<PathBuf> {
    let (folders, sources) = places(&response::expand(arguments));
    let found = not_flangs(&folders);
    if found.is_empty() {
        return Vec::new();
    }
    let used = sources
        .iter()
        .filter_map(|source| fs::read(source).ok())
        .flat_map(|text| used(&String::from_utf8_lossy(&text)))
        .collect::<Vec<_>>();
    let is_used = |(name, _): &(String, PathBuf)| used.contains(name);
    let found = found.into_iter().filter(is_used);
    found.map(|(_, path)| path).collect()
}

/// Explains what to do about these modules if the compiler failed with this status; returns the driver's own exit
/// code.
pub(crate) fn explain(modules: &[PathBuf], status: ExitStatus) -> ExitCode {
    if status.success() {
        return ExitCode::SUCCESS;
    }
    for path in modules {
        say!(
            "contech-fc: error: {} is no module file of flang (each Fortran compiler has its own format; gfortran's are gzip): \
             compile the module's source with contech-fc, and name the folder of its .mod before others with -I",
            path.display()
        );
    }
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The folders of module files and the Fortran sources of a command line.
pub(crate) fn places(arguments: &[OsString]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut folders, mut sources) = (vec![PathBuf::from(".")], Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if FOLDERS.contains(&&*text) {
            folders.extend(words.next().map(PathBuf::from));
        } else if let Some(folder) = FOLDERS.iter().find_map(|f| text.strip_prefix(f)) {
            folders.push(PathBuf::from(folder));
        } else if extension(Path::new(word)).is_some_and(|e| FORTRAN.contains(&e)) {
            sources.push(PathBuf::from(word));
        }
    }
    (folders, sources)
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(OsStr::to_str)
}

/// Names and paths of the module files that flang has not written; of one name, only the first in the order of the
/// folders.
fn not_flangs(folders: &[PathBuf]) -> Vec<(String, PathBuf)> {
    let mut first = BTreeMap::new();
    for folder in folders {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for path in entries.map(|e| e.path()) {
            if extension(&path) == Some("mod")
                && let Some(name) = path.file_stem().and_then(OsStr::to_str)
            {
                first.entry(name.to_ascii_lowercase()).or_insert(path);
            }
        }
    }
    first.into_iter().filter(|(_, p)| !is_flangs(p)).collect()
}

fn is_flangs(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|f| f.take(64).read_to_end(&mut start));
    // flang itself reports a file that cannot be read.
    read.is_err() || start.starts_with(HEADER)
}

/// Lower-case names of the modules that a source uses (`use m`, `use :: m`, `use, nature :: m`), as far as single
/// lines show them.
fn used(text: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let line = line.trim().to_ascii_lowercase();
        let rest = line.strip_prefix("use")?;
        let rest = match rest.split_once("::") {
            Some((nature, rest)) if nature.trim().is_empty() || nature.trim().starts_with(',') => {
                rest
            }
            _ => rest.strip_prefix([' ', '\t'])?,
        };
        let name = rest.trim_start();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        Some(name[..end.unwrap_or(name.len())].to_owned()).filter(|n| !n.is_empty())
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_found_in_all_their_spellings() {
        let text = "  USE Alpha\nuse :: beta, only: x\nuse, intrinsic :: iso_c_binding\nuser = 3\nuse gamma!no\n! use delta\n";
        assert_eq!(used(text), ["alpha", "beta", "iso_c_binding", "gamma"]);
    }

    #[test]
    fn only_used_modules_of_other_compilers_are_named_and_the_first_folder_counts() {
        let dir = std::env::temp_dir().join(format!("contech-foreign-{}", std::process::id()));
        let (ours, theirs) = (dir.join("ours"), dir.join("theirs"));
        fs::create_dir_all(&ours).unwrap();
        fs::create_dir_all(&theirs).unwrap();
        fs::write(ours.join("one.mod"), [HEADER, b" v1"].concat()).unwrap();
        for name in ["one.mod", "two.mod", "three.mod"] {
            fs::write(theirs.join(name), b"\x1f\x8b\x08").unwrap();
        }
        let source = dir.join("a.f90");
        fs::write(&source, "program p\nuse one\nuse two\nend\n").unwrap();
        let glued = format!("-I{}", ours.display());
        let arguments: Vec<OsString> = [glued.as_str(), "-J", theirs.to_str().unwrap(), "-c"]
            .iter()
            .map(OsString::from)
            .chain([source.into()])
            .collect();
        let found = modules(&arguments);
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(found, [theirs.join("two.mod")]);
    }
}

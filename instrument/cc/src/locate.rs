//! Where the compiler, the plugin and the runtime are.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Language, Line, Tools, response};

/// The variable, the name in `PATH`, and the path of Debian's package.
const CLANG: [&str; 3] = ["CONTECH_CLANG", "clang-22", "/usr/lib/llvm-22/bin/clang"];
const FLANG: [&str; 3] = ["CONTECH_FLANG", "flang-22", "/usr/lib/llvm-22/bin/flang"];
pub(crate) const PLUGIN: &str = "libcontech_instrument.so";
const RUNTIME: &str = "libcontech_rt.so";
const ONLINE: &str = "libcontech_ws.so";
const MPI: &str = "libcontech_mpi.so";
const HEADERS: &str = "include";
/// The folder, within that of headers, of a `mpif.h` that includes all parts of Open MPI's except
/// [`PART`].
const MPIF: &str = "contech/flang";
/// The part of Open MPI's `mpif.h` that flang 22 refuses: it has interfaces of MPI_SIZEOF for kinds
/// that flang lacks.
const PART: &str = "mpif-sizeof.h";

/// Finds what the command line needs: a link needs no plugin, and a compilation no runtime.
pub(crate) fn tools(
    language: Language,
    line: &Line,
    online: bool,
    words: &[OsString],
) -> Result<Tools, Error> {
    let instruments = line.compiles && !line.freestanding;
    let plugin = instruments.then(|| find(PLUGIN)).transpose()?;
    let library = if online { ONLINE } else { RUNTIME };
    let runtime = (line.links && !line.relocatable).then(|| find(library)).transpose()?;
    let mpi = (runtime.is_some() && line.mpi && !online).then(|| find(MPI)).transpose()?;
    let folders = folders();
    let mut headers = folders.iter().map(|f| f.join(HEADERS));
    let headers = if !instruments {
        None
    } else if language != Language::Fortran {
        headers.find(|f| f.join("contech/cilk.h").is_file())
    } else if is_open_mpis(words) {
        let mut headers = headers.map(|f| f.join(MPIF));
        headers.find(|f| f.join("mpif.h").is_file())
    } else {
        None
    };
    Ok(Tools {
        compiler: compiler(language)?,
        plugin,
        headers,
        mpi: mpi.is_some(),
        runtime_folder: runtime.and_then(|r| r.parent().map(Path::to_path_buf)),
    })
}

/// Whether Open MPI's `mpif.h` is the first one in the folders of a command line.
fn is_open_mpis(words: &[OsString]) -> bool {
    let folders = std::iter::once(OsStr::new(".")).chain(response::values(words, "-I"));
    let mut folders = folders.map(Path::new);
    let first = folders.find(|folder| folder.join("mpif.h").is_file());
    first.is_some_and(|folder| folder.join(PART).is_file())
}

/// Makes sure that a link finds the OpenMP library. The linker would say that it cannot find
/// `-lomp`, and not which package has it.
pub(crate) fn openmp(compiler: &Path, words: &[OsString]) -> Result<(), Error> {
    const NAME: &str = "libomp.so";
    let has_it = |folder: PathBuf| folder.join(NAME).is_file();
    let more = std::env::var_os("LIBRARY_PATH");
    if response::values(words, "-L").into_iter().map(PathBuf::from).any(has_it)
        || more.iter().flat_map(std::env::split_paths).any(has_it)
    {
        return Ok(());
    }
    // The compiler answers with the path, or with the name alone. Which folders it searches depends
    // on the options.
    let asked = ["--sysroot", "--target", "-target", "-m32", "--gcc-toolchain", "-B"];
    let decides = |word: &&OsString| {
        let word = word.to_string_lossy();
        asked.iter().any(|option| word.starts_with(option))
    };
    let answer = Command::new(compiler)
        .args(words.iter().filter(decides))
        .arg(format!("-print-file-name={NAME}"))
        .output();
    match answer {
        Ok(answer) if answer.stdout.trim_ascii() == NAME.as_bytes() => {
            Err(Error::NoOpenMp { compiler: compiler.to_owned() })
        }
        _ => Ok(()),
    }
}

/// A program that makes archives: LLVM's, or the system's.
pub(crate) fn archiver() -> PathBuf {
    on_path_or("llvm-ar-22", "/usr/lib/llvm-22/bin/llvm-ar").unwrap_or_else(|| "ar".into())
}

/// A library or program of Contech.
pub(crate) fn find(file: &'static str) -> Result<PathBuf, Error> {
    let folders = folders();
    let found = folders.iter().map(|f| f.join(file)).find(|p| p.is_file());
    found.ok_or_else(|| Error::NoLibrary {
        file,
        looked: folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", "),
    })
}

/// `$CONTECH_HOME`, then the driver's own folder (a cargo target folder, or `bin` of an
/// installation).
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(home) = std::env::var_os("CONTECH_HOME").filter(|h| !h.is_empty()) {
        let home = std::path::absolute(&home).unwrap_or_else(|_| PathBuf::from(home));
        folders.push(home.join("lib"));
        folders.push(home);
    }
    if let Some(own) = std::env::current_exe().ok().as_deref().and_then(Path::parent) {
        folders.push(own.to_path_buf());
        if let Some(up) = own.parent() {
            folders.push(up.join("lib/contech"));
            folders.push(up.join("lib"));
        }
    }
    folders
}

fn compiler(language: Language) -> Result<PathBuf, Error> {
    let fortran = language == Language::Fortran;
    let [variable, name, path] = if fortran { FLANG } else { CLANG };
    let (found, looked) = match std::env::var_os(variable).filter(|c| !c.is_empty()) {
        Some(named) => (on_path(&named), format!("{variable}={}", named.display())),
        None => (on_path_or(name, path), format!("{name} in PATH, {path}")),
    };
    found.ok_or(if fortran { Error::NoFlang { looked } } else { Error::NoClang { looked } })
}

/// The program of this name, or else that at this path.
fn on_path_or(name: &str, path: &str) -> Option<PathBuf> {
    on_path(OsStr::new(name)).or_else(|| Some(PathBuf::from(path)).filter(|p| is_program(p)))
}

/// The program of this name, or at this path.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name)).filter(|p| is_program(p));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| is_program(p))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
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

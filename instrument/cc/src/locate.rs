//! Where the compiler, the plugin and the runtime are.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{CLANG_VARIABLE, Error, FLANG_VARIABLE, HOME_VARIABLE, Language, Line, Mode, Tools};
use crate::{mpif, response};

/// The variable, the name in `PATH`, and the path of Debian's package.
const CLANG: [&str; 3] = [CLANG_VARIABLE, "clang-22", "/usr/lib/llvm-22/bin/clang"];
const FLANG: [&str; 3] = [FLANG_VARIABLE, "flang-22", "/usr/lib/llvm-22/bin/flang"];
const PLUGIN: &str = "libcontech_instrument.so";
const RUNTIME: &str = "libcontech_rt.so";
const ONLINE: &str = "libcontech_ws.so";
const MPI: &str = "libcontech_mpi.so";
const HEADERS: &str = "include";

/// Finds what the command line needs: a link needs no plugin, and a compilation no runtime.
pub(crate) fn tools(
    language: Language,
    line: &Line,
    mode: Mode,
    arguments: &[OsString],
) -> Result<Tools, Error> {
    let online = mode == Mode::Workspan;
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
    } else if mpif::is_open_mpis(arguments) {
        let mut headers = headers.map(|f| f.join(mpif::FOLDER));
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

/// Makes sure that a link finds the OpenMP library. The linker would say that it cannot find
/// `-lomp`, and not which package has it.
pub(crate) fn openmp(compiler: &Path, arguments: &[OsString]) -> Result<(), Error> {
    const NAME: &str = "libomp.so";
    let words = response::expand(arguments);
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut next = false;
    for word in &words {
        let bytes = word.as_encoded_bytes();
        if std::mem::replace(&mut next, bytes == b"-L") {
            folders.push(word.into());
        } else if let Some(folder) = word.to_str().and_then(|w| w.strip_prefix("-L")) {
            folders.push(folder.into());
        }
    }
    if let Some(more) = std::env::var_os("LIBRARY_PATH") {
        folders.extend(std::env::split_paths(&more));
    }
    if folders.iter().any(|folder| folder.join(NAME).is_file()) {
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

/// The pass.
pub(crate) fn plugin() -> Result<PathBuf, Error> {
    find(PLUGIN)
}

/// The program of Contech with this name, in the folders of its libraries.
pub(crate) fn command(name: &'static str) -> Result<PathBuf, Error> {
    find(name)
}

/// A program that makes archives: LLVM's, or the system's.
pub(crate) fn archiver() -> PathBuf {
    on_path(OsStr::new("llvm-ar-22"))
        .or_else(|| Some(PathBuf::from("/usr/lib/llvm-22/bin/llvm-ar")).filter(|p| is_program(p)))
        .unwrap_or_else(|| "ar".into())
}

fn find(file: &'static str) -> Result<PathBuf, Error> {
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
    if let Some(home) = std::env::var_os(HOME_VARIABLE).filter(|h| !h.is_empty()) {
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
    let absent = |looked| {
        if fortran { Error::NoFlang { looked } } else { Error::NoClang { looked } }
    };
    if let Some(named) = std::env::var_os(variable).filter(|c| !c.is_empty()) {
        let looked = format!("{variable}={}", named.display());
        return on_path(&named).ok_or_else(|| absent(looked));
    }
    on_path(OsStr::new(name))
        .or_else(|| Some(PathBuf::from(path)).filter(|p| is_program(p)))
        .ok_or_else(|| absent(format!("{name} in PATH, {path}")))
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

//! Where clang, the plugin and the runtime are.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{CLANG_VARIABLE, Error, HOME_VARIABLE, Line, Mode, Tools};

const CLANG: &str = "clang-22";
const LLVM_CLANG: &str = "/usr/lib/llvm-22/bin/clang";
const PLUGIN: &str = "libcontech_instrument.so";
const RUNTIME: &str = "libcontech_rt.so";
const ONLINE: &str = "libcontech_ws.so";
const HEADERS: &str = "include";

/// Finds what the command line needs; a link needs no plugin, a compilation no runtime.
pub(crate) fn tools(line: &Line, mode: Mode) -> Result<Tools, Error> {
    let folders = folders();
    let find = |file: &'static str| {
        folders
            .iter()
            .map(|f| f.join(file))
            .find(|p| p.is_file())
            .ok_or_else(|| Error::NoLibrary {
                file,
                looked: folders
                    .iter()
                    .map(|f| f.display().to_string())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    };
    let online = mode == Mode::Workspan;
    let instruments = line.compiles && !line.freestanding;
    let plugin = (instruments && !online).then(|| find(PLUGIN)).transpose()?;
    let library = if online { ONLINE } else { RUNTIME };
    let runtime = (line.links && !line.relocatable)
        .then(|| find(library))
        .transpose()?;
    let headers = folders.iter().map(|f| f.join(HEADERS));
    Ok(Tools {
        clang: clang()?,
        plugin,
        headers: headers
            .filter(|_| instruments)
            .find(|f| f.join("contech/cilk.h").is_file()),
        hooks: instruments && online,
        runtime_folder: runtime.and_then(|r| r.parent().map(Path::to_path_buf)),
    })
}

/// `$CONTECH_HOME`, then the driver's own folder (a cargo target folder, or `bin` of an installation).
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(home) = std::env::var_os(HOME_VARIABLE).filter(|h| !h.is_empty()) {
        let home = std::path::absolute(&home).unwrap_or_else(|_| PathBuf::from(home));
        folders.push(home.join("lib"));
        folders.push(home);
    }
    if let Some(own) = std::env::current_exe()
        .ok()
        .as_deref()
        .and_then(Path::parent)
    {
        folders.push(own.to_path_buf());
        if let Some(up) = own.parent() {
            folders.push(up.join("lib/contech"));
            folders.push(up.join("lib"));
        }
    }
    folders
}

fn clang() -> Result<PathBuf, Error> {
    if let Some(named) = std::env::var_os(CLANG_VARIABLE).filter(|c| !c.is_empty()) {
        let looked = format!("{CLANG_VARIABLE}={}", named.display());
        return on_path(&named).ok_or(Error::NoClang { looked });
    }
    on_path(OsStr::new(CLANG))
        .or_else(|| Some(PathBuf::from(LLVM_CLANG)).filter(|p| is_program(p)))
        .ok_or_else(|| Error::NoClang {
            looked: format!("{CLANG} in PATH, {LLVM_CLANG}"),
        })
}

/// The program of this name, or at this path.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name)).filter(|p| is_program(p));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|p| is_program(p))
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

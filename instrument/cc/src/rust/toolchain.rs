//! The Rust toolchain in use, and its standard library in instrumented form.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;

use contech_plain::say;

use super::link::{self, Maker};
use crate::Error;

/// The machine that programs are recorded on.
pub(crate) const HOST: &str = "x86_64-unknown-linux-gnu";
/// The LLVM of our clang, which reads the bitcode of older ones too.
const LLVM: u32 = 22;
/// Crates of the toolchain that few programs link. They are instrumented when one does.
const SELDOM: [&str; 6] =
    ["compiler_builtins", "getopts", "proc_macro", "profiler_builtins", "sysroot", "test"];

/// What rustc says of itself.
#[derive(Debug)]
pub(crate) struct Toolchain {
    release: String,
    sysroot: PathBuf,
}

impl Toolchain {
    /// Asks the rustc that cargo would run.
    pub(crate) fn of_cargo() -> Result<Self, Error> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
        let said = |arguments: &[&str]| {
            let ran = Command::new(&rustc).args(arguments).output();
            let output =
                ran.map_err(|cause| Error::Exec { program: rustc.clone().into(), cause })?;
            if output.status.success() {
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            } else {
                let said = sentence(&output.stderr);
                Err(Error::Cargo(format!("rustc does not answer: {said}")))
            }
        };
        let version = said(&["-vV"])?;
        let sysroot = said(&["--print", "sysroot"])?;
        Self::read(&version, sysroot.trim().into())
    }

    fn read(version: &str, sysroot: PathBuf) -> Result<Self, Error> {
        let field = |name: &str| {
            let mut lines = version.lines();
            let value = lines.find_map(|l| l.strip_prefix(name)?.strip_prefix(": "));
            value.unwrap_or("unknown").to_owned()
        };
        let (host, release, llvm) = (field("host"), field("release"), field("LLVM version"));
        if host != HOST {
            return Err(Error::Cargo(format!(
                "this Rust is for {host}, and only programs for {HOST} can be recorded: use a toolchain for that"
            )));
        }
        let major = llvm.split('.').next().and_then(|n| n.parse::<u32>().ok());
        if major.is_some_and(|n| n > LLVM) {
            return Err(Error::Cargo(format!(
                "rustc {release} has LLVM {llvm}, whose bitcode clang {LLVM} cannot read: use an older toolchain, for \
                 instance `rustup toolchain install 1.95 && cargo +1.95 contech ...`"
            )));
        }
        Ok(Self { release, sysroot })
    }

    /// Makes the instrumented standard library, unless an earlier run has, and says so.
    pub(crate) fn prepare(&self, maker: &Maker) -> Result<(), Error> {
        let folder = self.sysroot.join("lib/rustlib").join(HOST).join("lib");
        let named = |path: &Path, names: &[&str]| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            names.contains(&link::crate_of(&name))
        };
        let mut archives: Vec<PathBuf> = std::fs::read_dir(&folder)
            .map_err(|cause| Error::file(&folder, cause))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "rlib") && !named(path, &SELDOM))
            .collect();
        // The largest come first, so that all processors end at about the same time.
        archives.sort_by_key(|p| std::cmp::Reverse(p.metadata().map_or(0, |m| m.len())));
        for path in archives.iter().filter(|path| named(path, &["std"])) {
            if !link::has_bitcode(path, &link::read(path)?)? {
                return Err(Error::Cargo(format!(
                    "the standard library of Rust {} comes without bitcode and cannot be instrumented: use a toolchain \
                     of rustup",
                    self.release
                )));
            }
        }
        let missing = maker.missing(&archives)?;
        if missing.is_empty() {
            return Ok(());
        }
        let what = format!(
            "contech: instruments the standard library of Rust {}, once for this toolchain",
            self.release
        );
        let bar = stderr().is_terminal();
        if !bar {
            say!("{what}");
        }
        let tell = |n| {
            if bar {
                let _ = write!(stderr(), "\r{what}: {n} of {} crates", missing.len());
            }
        };
        tell(0);
        let made = maker.make_shared(&missing, tell);
        if bar {
            say!("");
        }
        made
    }
}

/// What a program says on its standard error, up to an empty line (a backtrace may follow), as one
/// sentence.
pub(crate) fn sentence(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let first = said.trim().split("\n\n").next().unwrap_or_default();
    let words = |line: &str| {
        let line = line.trim();
        let mark = ["error: ", "help: "].iter().find_map(|m| line.strip_prefix(m));
        mark.unwrap_or(line).to_owned()
    };
    first.lines().map(words).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rustup_says_of_a_missing_toolchain_is_one_sentence() {
        let said = b"error: toolchain 'x' is not installed\nhelp: run `rustup`\n\nStack backtrace:\n   0: a\n";
        assert_eq!(sentence(said), "toolchain 'x' is not installed: run `rustup`");
    }

    fn refusal(host: &str, llvm: &str) -> Option<String> {
        let version =
            format!("rustc 1.97.0\nhost: {host}\nrelease: 1.97.0\nLLVM version: {llvm}\n");
        let read = Toolchain::read(&version, PathBuf::new());
        read.err().map(|e| e.to_string())
    }

    #[test]
    fn other_machines_and_a_newer_llvm_are_refused_with_advice() {
        assert_eq!(refusal(HOST, "22.1.2"), None);
        assert_eq!(refusal(HOST, "20.1.0"), None);
        let newer = refusal(HOST, "23.1.0").unwrap_or_default();
        assert!(newer.contains("cargo +1.95"), "{newer}");
        let other = refusal("aarch64-unknown-linux-gnu", "22.1.2").unwrap_or_default();
        assert!(other.contains(HOST), "{other}");
    }
}

//! This program in front of rustc: crates of the program are compiled to bitcode, and linked with
//! `contech-cc`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use contech_plain::say;

use super::tasks;
use crate::{Error, Options, locate};

/// Runs rustc with the arguments that cargo gave; returns only on failure.
pub(crate) fn run(rustc: OsString, arguments: &[OsString]) -> Result<ExitCode, Error> {
    let mut all = arguments.to_vec();
    if has_target(arguments) {
        let (options, _) = Options::given(Vec::new())?;
        all = extended(arguments, locate::find("contech-cc")?.into_os_string());
        // The on-line profiler knows no tasks.
        if !options.online() {
            all.extend(MARKS.map(OsString::from));
            all = tasks::marked(all)?;
        }
    }
    let cause = Command::new(&rustc).args(all).exec();
    Err(Error::Exec { program: rustc.into(), cause })
}

/// What tells a source that the marks for tasks mean something.
const MARKS: [&str; 2] = ["--cfg=contech", "--check-cfg=cfg(contech)"];

/// The feature of a target that asks for static executables.
const STATIC: &str = "+crt-static";

/// Whether a crate is one of the program, which is compiled for a target. Build scripts and
/// procedural macros are not: cargo compiles them for the host.
fn has_target(arguments: &[OsString]) -> bool {
    let is_target = |a: &OsString| a.to_str().is_some_and(|a| a.starts_with("--target"));
    arguments.iter().any(is_target)
}

/// The arguments for a crate of the program.
fn extended(arguments: &[OsString], linker: OsString) -> Vec<OsString> {
    // What comes later wins: the program may ask for more debugging information, but not for
    // another linker.
    let mut all: Vec<OsString> = vec!["-Cdebuginfo=line-tables-only".into()];
    all.extend_from_slice(arguments);
    let mut flag = OsString::from("-Clinker=");
    flag.push(linker);
    all.extend(["-Clinker-plugin-lto".into(), flag, "-Clink-arg=--contech-bitcode".into()]);
    let mut is_static = false;
    for word in &mut all {
        // rustc takes the positive form wherever it stands, so the word itself is changed.
        if let Some(text) = word.to_str().filter(|text| text.contains(STATIC)) {
            *word = text.replace(STATIC, "-crt-static").into();
            is_static = true;
        }
    }
    // A static executable cannot load the recorder.
    if is_static && arguments.windows(2).any(|two| two == ["--crate-type", "bin"]) {
        say!("contech: {STATIC} is left out, because the recorder is a shared library");
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> String {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let all = extended(&words, "/h/contech-cc".into());
        all.join(" ".as_ref()).into_string().unwrap_or_default()
    }

    #[test]
    fn a_crate_of_the_program_is_compiled_to_bitcode() {
        assert_eq!(
            line("--crate-name a --target x -Cdebuginfo=2"),
            "-Cdebuginfo=line-tables-only --crate-name a --target x -Cdebuginfo=2 -Clinker-plugin-lto \
             -Clinker=/h/contech-cc -Clink-arg=--contech-bitcode"
        );
    }

    #[test]
    fn a_static_program_becomes_a_dynamic_one() {
        let line = line("--target x -C target-feature=+avx,+crt-static");
        assert!(line.contains(" target-feature=+avx,-crt-static "), "{line}");
    }

    #[test]
    fn a_build_script_is_compiled_as_ever() {
        let words = "--crate-name build_script_build --crate-type bin".split(' ');
        assert!(!has_target(&words.map(OsString::from).collect::<Vec<_>>()));
    }
}

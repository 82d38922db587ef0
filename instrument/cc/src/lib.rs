//! Drop-in compiler drivers: `CC=contech-cc CXX=contech-c++ FC=contech-fc` in any build.
//!
//! A driver becomes clang 22, or flang 22 for Fortran (`exec`). Every argument goes through in its
//! order, so exit code, signals, output and configure checks are clang's own. In front of the
//! arguments it puts the pass plugin and line tables when clang will compile code, and the runtime
//! library when it will link. These flags stand between `--start-no-unused-arguments` and
//! `--end-no-unused-arguments` and lose against any later flag of the user, so a wrong guess about
//! a command line costs nothing.

mod environment;
mod error;
mod help;
mod invocation;
mod language;
mod line;
mod linked;
mod locate;
mod mpif;
mod options;
mod response;
mod rust;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use contech_plain::say;

pub use error::Error;
pub use invocation::{Invocation, Tools};
pub use language::Language;
pub use line::{Line, classify};
pub use options::{Form, Mode, Options};
pub use rust::cargo::main as cargo;

/// Variable that names another clang 22.
pub const CLANG_VARIABLE: &str = "CONTECH_CLANG";
/// Variable that names another flang 22.
pub const FLANG_VARIABLE: &str = "CONTECH_FLANG";
/// Variable with `--contech-*` options, for builds that own their flags.
pub const OPTIONS_VARIABLE: &str = "CONTECH_OPTIONS";
/// Variable that names the folder of plugin and runtime.
pub const HOME_VARIABLE: &str = "CONTECH_HOME";
/// The variable through which the options reach the pass.
pub const PASS_VARIABLE: &str = "CONTECH_PASS_OPTIONS";

/// Runs the driver on the process's arguments; returns only on failure.
#[must_use]
pub fn main(language: Language) -> ExitCode {
    let error = match run(language, std::env::args_os().skip(1).collect()) {
        Ok(code) => return code,
        Err(error) => error,
    };
    say!("{}: error: {error}", language.driver());
    ExitCode::FAILURE
}

fn run(language: Language, arguments: Vec<OsString>) -> Result<ExitCode, Error> {
    let from_env = std::env::var(OPTIONS_VARIABLE).unwrap_or_default();
    let (options, rest) = Options::extract(&from_env, arguments)?;
    if options.help {
        print(&help::text(language));
        return Ok(ExitCode::SUCCESS);
    }
    if options.developers {
        print(&environment::developers());
        return Ok(ExitCode::SUCCESS);
    }
    // The link of a Rust program has a report of its own.
    let (mode, is_rust) = (options.mode, options.bitcode);
    let rest = if options.bitcode { rust::link::prepare(options.clone(), rest)? } else { rest };
    let line = classify(language, &rest);
    let tools = locate::tools(language, &line, options.mode, &rest)?;
    if line.links && line.openmp && !line.relocatable {
        locate::openmp(&tools.compiler, &rest)?;
    }
    let answer = help::answer(language, &rest);
    let invocation = Invocation::new(language, options, &line, tools, rest)?;
    if let Some(flag) = &invocation.left_out {
        say!(
            "{}: warning: {flag} is left out and the program is linked dynamically, because the recording runtime is a \
             shared library",
            language.driver()
        );
    }
    if line.links
        && !line.relocatable
        && mode == Mode::Full
        && !is_rust
        && let Some(warning) = linked::warning(&line.files)
    {
        say!("{}: warning: {warning}", language.driver());
    }
    let mut command = invocation.command();
    let cause = match answer {
        None => command.exec(),
        Some(answer) => match command.status() {
            Ok(status) => {
                print(&answer);
                let code = status.code().and_then(|code| u8::try_from(code).ok());
                return Ok(code.map_or(ExitCode::FAILURE, ExitCode::from));
            }
            Err(cause) => cause,
        },
    };
    if cause.kind() == std::io::ErrorKind::ArgumentListTooLong {
        return Err(Error::TooLong);
    }
    Err(Error::Exec { program: invocation.program, cause })
}

/// Writes what was asked for to standard output. Whoever asked may have stopped reading.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

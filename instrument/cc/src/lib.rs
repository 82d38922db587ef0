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
mod line;
mod linked;
mod locate;
mod options;
mod response;
mod rust;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::process::{ExitCode, ExitStatus};

use contech_plain::say;

use error::Error;
use invocation::Tools;
use line::{Line, classify};
use options::{FULL, Options};
pub use rust::cargo::main as cargo;

/// Which driver this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `contech-cc`.
    C,
    /// `contech-c++`.
    Cxx,
    /// `contech-fc`.
    Fortran,
}

impl Language {
    fn driver(self) -> &'static str {
        match self {
            Language::C => "contech-cc",
            Language::Cxx => "contech-c++",
            Language::Fortran => "contech-fc",
        }
    }
}

/// Runs the driver on the process's arguments; returns only on failure.
#[must_use]
pub fn main(language: Language) -> ExitCode {
    run(language, std::env::args_os().skip(1).collect()).unwrap_or_else(|error| {
        say!("{}: error: {error}", language.driver());
        ExitCode::FAILURE
    })
}

fn run(language: Language, arguments: Vec<OsString>) -> Result<ExitCode, Error> {
    let (options, rest) = Options::given(arguments)?;
    if options.help {
        print(&help::text(language));
        return Ok(ExitCode::SUCCESS);
    }
    if options.developers {
        print(environment::DEVELOPERS);
        return Ok(ExitCode::SUCCESS);
    }
    // The link of a Rust program has a report of its own.
    let warns = options.mode() == FULL && !options.bitcode;
    let rest = if options.bitcode { rust::link::prepare(options.clone(), rest)? } else { rest };
    let words = response::expand(&rest);
    let line = classify(language, &words);
    let tools = locate::tools(language, &line, options.online(), &words)?;
    if line.links && line.openmp && !line.relocatable {
        locate::openmp(&tools.compiler, &words)?;
    }
    let answer = help::answer(language, &rest);
    let mut command = invocation::command(language, &options, &line, &tools, rest)?;
    if let Some(flag) = invocation::left_out(&line, &tools) {
        say!(
            "{}: warning: {flag} is left out and the program is linked dynamically, because the recording runtime is a \
             shared library",
            language.driver()
        );
    }
    if line.links
        && !line.relocatable
        && warns
        && let Some(warning) = linked::warning(&line.files)
    {
        say!("{}: warning: {warning}", language.driver());
    }
    let cause = match answer {
        None => command.exec(),
        Some(answer) => match command.status() {
            Ok(status) => {
                print(&answer);
                return Ok(exit_code(status));
            }
            Err(cause) => cause,
        },
    };
    if cause.kind() == std::io::ErrorKind::ArgumentListTooLong {
        return Err(Error::TooLong);
    }
    Err(Error::Exec { program: command.get_program().into(), cause })
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Writes what was asked for to standard output. Whoever asked may have stopped reading.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

//! The clang or flang command line that a driver turns into.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::line::without_static;
use crate::{Error, Language, Line, Options};

/// The variable through which the options reach the pass.
const PASS_VARIABLE: &str = "CONTECH_PASS_OPTIONS";

/// The files a command line needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tools {
    /// clang 22, or flang 22 for Fortran.
    pub(crate) compiler: PathBuf,
    /// The pass plugin, if code is compiled.
    pub(crate) plugin: Option<PathBuf>,
    /// If code is compiled: the folder of `contech/cilk.h`, or for Fortran that of a `mpif.h` that
    /// replaces Open MPI's.
    pub(crate) headers: Option<PathBuf>,
    /// Whether the library that stands in front of MPI is linked; it lies in the folder of the
    /// runtime library.
    pub(crate) mpi: bool,
    /// Folder of the runtime library, if something is linked.
    pub(crate) runtime_folder: Option<PathBuf>,
}

/// The flag that asks for a static executable, if the link is a dynamic one instead: the runtime is
/// a shared library, which a static executable cannot load.
pub(crate) fn left_out<'a>(line: &'a Line, tools: &Tools) -> Option<&'a str> {
    line.fully_static.as_deref().filter(|_| tools.runtime_folder.is_some())
}

/// The command: the added flags, then the user's arguments unchanged. Options of the pass that the
/// environment has already come last and win.
pub(crate) fn command(
    language: Language,
    options: &Options,
    line: &Line,
    tools: &Tools,
    user: Vec<OsString>,
) -> Result<Command, Error> {
    let fortran = language == Language::Fortran;
    if fortran && line.coarrays {
        return Err(Error::Coarrays);
    }
    if options.online() && line.openmp {
        return Err(Error::ParallelProfile);
    }
    let mut added: Vec<OsString> = Vec::new();
    if let Some(plugin) = &tools.plugin {
        let mut flag = OsString::from("-fpass-plugin=");
        flag.push(plugin);
        added.push(flag);
        // Line tables do not change code; any -g of the user comes later and wins. flang warns
        // of two.
        let own = |argument: &OsString| argument.as_encoded_bytes().starts_with(b"-g");
        if !(fortran && user.iter().any(own)) {
            added.push("-gline-tables-only".into());
        }
        // The serial form of contech/cilk.h marks spawns and syncs.
        added.push("-D__CONTECH__=1".into());
    }
    if let Some(folder) = &tools.headers {
        let place = if fortran { "-I" } else { "-idirafter" };
        added.extend([place.into(), folder.into()]);
    }
    let library = if options.online() { "-lcontech_ws" } else { "-lcontech_rt" };
    if let Some(folder) = &tools.runtime_folder {
        let mut search = OsString::from("-L");
        search.push(folder);
        // The runtime comes first in the link, so that its pthread and allocation functions
        // come before libc's. It is needed even where the program uses only those functions.
        // Without the standard libraries it is linked only when instrumented code asks for it.
        let needed = if line.no_standard { "--as-needed" } else { "--no-as-needed" };
        added.extend([
            search,
            "-Xlinker".into(),
            "-rpath".into(),
            "-Xlinker".into(),
            folder.into(),
            format!("-Wl,--push-state,{needed}").into(),
        ]);
        // The MPI library comes before the runtime, so that the functions that it finds behind
        // itself are MPI's own.
        added.extend(tools.mpi.then(|| "-lcontech_mpi".into()));
        added.extend([library.into(), "-Wl,--pop-state".into()]);
    }
    let user = if left_out(line, tools).is_some() { without_static(&user) } else { user };
    let mut command = Command::new(&tools.compiler);
    if language == Language::Cxx {
        command.arg("--driver-mode=g++");
    }
    // flang has no options that bracket unused arguments, so it gets no flags that it would not use.
    let brackets = !fortran && !added.is_empty();
    command.args(brackets.then_some("--start-no-unused-arguments")).args(added);
    command.args(brackets.then_some("--end-no-unused-arguments")).args(user);
    let mut words = options.for_pass();
    if let Some(own) = std::env::var(PASS_VARIABLE).ok().filter(|v| !v.is_empty()) {
        words = format!("{words},{own}");
    }
    command.env(PASS_VARIABLE, words);
    Ok(command)
}

//! The clang or flang command line that a driver turns into.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::line::without_static;
use crate::{Error, Language, Line, Mode, Options};

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    /// The added flags, then the user's arguments unchanged.
    pub(crate) arguments: Vec<OsString>,
    /// What the environment tells the pass.
    pub(crate) pass_options: String,
    /// The flag that asks for a static executable, if the link is a dynamic one instead.
    pub(crate) left_out: Option<String>,
}

impl Invocation {
    /// Builds the command line.
    pub(crate) fn new(
        language: Language,
        options: Options,
        line: &Line,
        tools: Tools,
        user: Vec<OsString>,
    ) -> Result<Self, Error> {
        let fortran = language == Language::Fortran;
        if fortran && line.coarrays {
            return Err(Error::Coarrays);
        }
        if options.mode == Mode::Workspan && line.openmp {
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
        let library = match options.mode {
            Mode::Workspan => "-lcontech_ws",
            Mode::Full | Mode::Sync => "-lcontech_rt",
        };
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
        // The runtime is a shared library, which a static executable cannot load.
        let left_out = line.fully_static.clone();
        let left_out = left_out.filter(|_| tools.runtime_folder.is_some());
        let user = match left_out {
            Some(_) => without_static(&user),
            None => user,
        };
        let mut arguments: Vec<OsString> = Vec::with_capacity(added.len() + user.len() + 3);
        if language == Language::Cxx {
            arguments.push("--driver-mode=g++".into());
        }
        if fortran {
            // flang has no options that bracket unused arguments, so it gets no flags that it would
            // not use.
            arguments.append(&mut added);
        } else if !added.is_empty() {
            arguments.push("--start-no-unused-arguments".into());
            arguments.append(&mut added);
            arguments.push("--end-no-unused-arguments".into());
        }
        arguments.extend(user);
        Ok(Invocation {
            program: tools.compiler,
            arguments,
            pass_options: options.for_pass(),
            left_out,
        })
    }

    /// The command, with the options of the pass in its environment; those that are there already
    /// come last and win.
    pub(crate) fn command(&self) -> Command {
        let own = std::env::var(PASS_VARIABLE).ok().filter(|v| !v.is_empty());
        let options: Vec<_> =
            [Some(self.pass_options.clone()), own].into_iter().flatten().collect();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env(PASS_VARIABLE, options.join(","));
        command
    }
}

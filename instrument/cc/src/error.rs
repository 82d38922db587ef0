//! The one error of the drivers.

use std::path::{Path, PathBuf};

/// Why the compiler was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A `--contech-*` option that does not exist.
    #[error("unknown option `{option}`; valid: {valid}")]
    UnknownOption {
        /// The option as written.
        option: String,
        /// The options that exist.
        valid: &'static str,
    },
    #[error(
        "clang 22 not found: looked for {looked}; install it (Debian: clang-22), or set CONTECH_CLANG to its path"
    )]
    NoClang { looked: String },
    #[error(
        "flang 22 not found: looked for {looked}; install it (Debian: flang-22 and libflang-22-dev), or set CONTECH_FLANG to its path"
    )]
    NoFlang { looked: String },
    /// LLVM's OpenMP library, which every link with `-fopenmp` needs.
    #[error(
        "-fopenmp: libomp.so not found by {}; install it (Debian: libomp-22-dev), or name its folder with -L",
        compiler.display()
    )]
    NoOpenMp { compiler: PathBuf },
    /// Coarrays, which flang cannot run.
    #[error(
        "-fcoarray: coarrays are not supported (flang 22 compiles few of their uses and has no run-time library for images): use OpenMP or MPI, or compile without contech-fc"
    )]
    Coarrays,
    /// OpenMP in a program that profiles itself.
    #[error(
        "--contech-mode=workspan: OpenMP programs do not profile themselves: compile without this option, and ask the recording (contech record, contech graph, contech analyse workspan)"
    )]
    ParallelProfile,
    /// The plugin or the runtime library is not where it belongs.
    #[error(
        "{file} not found in {looked}; build it with `cargo build --release` (the plugin needs llvm-22-dev), or set CONTECH_HOME to its folder"
    )]
    NoLibrary {
        file: &'static str,
        /// The folders that were searched.
        looked: String,
    },
    /// The driver has replaced a response file by its words, and they are too many for a command
    /// line.
    #[error(
        "the command line is too long with its response files in it: give the --contech options outside of them, or in CONTECH_OPTIONS"
    )]
    TooLong,
    /// A piece of bitcode that clang and the pass did not compile.
    #[error("cannot instrument {}:\n{said}", path.display())]
    NotInstrumented {
        path: PathBuf,
        /// What clang said.
        said: String,
    },
    #[error("cannot read the archive {}: {cause}", path.display())]
    Archive { path: PathBuf, cause: object::read::Error },
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: std::io::Error },
    /// What `cargo contech` cannot do, and what to do instead.
    #[error("{0}")]
    Cargo(String),
    /// The compiler was found but did not start.
    #[error("cannot start {}: {cause}", program.display())]
    Exec {
        /// The program to start.
        program: PathBuf,
        cause: std::io::Error,
    },
}

impl Error {
    pub(crate) fn file(path: &Path, cause: std::io::Error) -> Self {
        let path = path.to_owned();
        Self::File { path, cause }
    }
}

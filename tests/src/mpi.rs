//! Debian's MPI libraries, side by side, and programs built and run with them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::outputs::{output, workspace};
use crate::process::{Finished, run, run_for};
use crate::program::Language;
use crate::toolchain::Toolchain;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mpi {
    Open,
    Mpich,
}

impl Mpi {
    pub const ALL: [Self; 2] = [Mpi::Open, Mpi::Mpich];

    /// The name in Debian's alternatives.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mpi::Open => "openmpi",
            Mpi::Mpich => "mpich",
        }
    }

    /// The library's compiler wrapper around a compiler.
    #[must_use]
    pub fn compiler(self, around: &Path) -> Command {
        let mut command = Command::new(format!("mpicc.{}", self.name()));
        command.env("OMPI_CC", around).env("MPICH_CC", around);
        command
    }

    /// Compiles one of `tests/programs/mpi`; what the compiler said. With Open MPI both Fortran
    /// compilers get the `mpif.h` of the drivers, since flang refuses Open MPI's own; `contech-fc`
    /// needs no flag for that.
    pub fn build(
        self,
        program: &str,
        tools: &Toolchain,
        flags: &[&str],
        to: &Path,
    ) -> Result<Finished> {
        const MPICH: &str = "/usr/lib/x86_64-linux-gnu/mpich/include";
        let source = workspace().join("tests/programs/mpi").join(program);
        let mut command = match (Language::of(&source), self) {
            (Language::Fortran, Mpi::Open) => {
                let mut wrapper = Command::new("mpif90.openmpi");
                wrapper.env("OMPI_FC", &tools.fc);
                if tools.is_native() {
                    wrapper.arg("-I").arg(output("include/contech/flang"));
                }
                wrapper
            }
            (Language::Fortran, Mpi::Mpich) => {
                // Debian's wrapper passes options that only gfortran knows.
                let mut plain = Command::new(&tools.fc);
                plain.args(["-I", MPICH, "-lmpichfort", "-lmpich"]);
                plain
            }
            _ => self.compiler(&tools.cc),
        };
        // The compiler writes the files of modules to its working directory.
        command.current_dir(to.parent().unwrap_or(workspace()));
        run(command.args(flags).arg(source).arg("-o").arg(to))?.ok()
    }

    /// The launcher for so many ranks, without the program and its arguments.
    #[must_use]
    pub fn launcher(self, ranks: usize) -> Command {
        let mut command = Command::new(format!("mpirun.{}", self.name()));
        if self == Mpi::Open {
            command.args(["--allow-run-as-root", "--oversubscribe"]);
        }
        command.args(["-np", &ranks.to_string()]);
        command
    }

    /// Runs a program with so many ranks, whose traces go to `dir`.
    pub fn run(
        self,
        ranks: usize,
        program: &Path,
        arguments: &[&str],
        dir: &Path,
    ) -> Result<Finished> {
        let mut command = self.launcher(ranks);
        command.arg(program).args(arguments);
        command.env("CONTECH_TRACE", dir.join("trace.%r.bin"));
        run_for(&mut command, Duration::from_secs(120))
    }
}

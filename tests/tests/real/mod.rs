//! The frame of tests with programs from Debian's archive: one trial for each program, which its own build system
//! builds twice.

mod frame;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use contech_tests::debian;
use contech_tests::matrix;
use contech_tests::process::{run, run_for};
use contech_tests::toolchain::{Toolchain, kept};

/// A Debian source package, and how its own build system is called.
pub(crate) struct Source {
    pub(crate) name: &'static str,
    /// Shell commands in the source tree; the test sets the compilers, `$CC` and the like.
    pub(crate) build: &'static str,
    /// The program that the commands make.
    pub(crate) program: &'static str,
}

impl Source {
    /// Builds the program from a copy of `tree` and puts all that is built into `to`; returns the program's path. What
    /// is kept of an earlier run is not built again.
    pub(crate) fn build(
        &self,
        tree: &Path,
        to: &Path,
        tools: &Toolchain,
        compilers: &[(&str, &Path)],
    ) -> Result<PathBuf> {
        let copy = |from: &Path, to: &Path| {
            let from = from.join(".");
            run(Command::new("cp").arg("-a").arg(from).arg(to))?.ok()
        };
        let from = (tree, self.build, compilers);
        let built = kept(tools, &format!("real-{}", self.name), &from, |built| {
            copy(tree, built)?;
            let mut shell = Command::new("sh");
            shell.current_dir(built).args(["-ec", self.build]);
            shell.envs(compilers.iter().copied());
            run_for(&mut shell, Duration::from_secs(600))?.ok()?;
            let (name, program) = (self.name, self.program);
            ensure!(
                built.join(program).exists(),
                "{name} was built, but there is no {program}"
            );
            Ok(())
        })?;
        copy(&built, to)?;
        Ok(to.join(self.program))
    }
}

/// Runs a trial for each package of the commit's share of so many, and one that fails when not all could be fetched.
pub(crate) fn main<P: Sync>(
    (packages, shares): (&'static [P], usize),
    source: fn(&P) -> &Source,
    trial: fn(&P) -> Result<()>,
    claim: &str,
) {
    let name = |package: &P| source(package).name;
    let available = |package: &P| debian::available(name(package));
    let packages = matrix::share(claim, packages, shares);
    frame::main(packages, name, available, trial, claim);
}

//! The frame of tests with programs from Debian's archive: one trial for each program, which its own build system
//! builds twice.
//!
//! A package that cannot be fetched is reported as ignored, by its name; if too few can be fetched, a trial fails.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use contech_tests::debian;
use contech_tests::outputs::Outputs;
use contech_tests::process::{run, run_for};
use libtest_mimic::{Arguments, Failed, Trial};

/// A Debian source package, and how its own build system is called.
pub(crate) struct Source {
    pub(crate) name: &'static str,
    /// Shell commands in the source tree; the test sets the compilers, `$CC` and the like.
    pub(crate) build: &'static str,
    /// The program that the commands make.
    pub(crate) program: &'static str,
}

impl Source {
    /// Builds the program from a copy of `tree` in `to`; returns its path.
    pub(crate) fn build(
        &self,
        tree: &Path,
        to: &Path,
        compilers: &[(&str, &Path)],
    ) -> Result<PathBuf> {
        run(Command::new("cp").arg("-a").arg(tree).arg(to))?.ok()?;
        let mut shell = Command::new("sh");
        shell.current_dir(to).args(["-ec", self.build]);
        shell.envs(compilers.iter().copied());
        run_for(&mut shell, Duration::from_secs(600))?.ok()?;
        let program = to.join(self.program);
        if !program.exists() {
            bail!(
                "{} was built, but there is no {}",
                self.name,
                program.display()
            );
        }
        Ok(program)
    }
}

/// The variable to set where there is no network: packages that cannot be fetched are then skipped, by name.
const OFFLINE: &str = "CONTECH_OFFLINE";

/// Runs a trial for each package, and one that fails when fewer than `least` could be fetched.
pub(crate) fn main<P: Sync>(
    packages: &'static [P],
    source: fn(&P) -> &Source,
    trial: fn(&P) -> Result<()>,
    (claim, least): (&str, usize),
) {
    let arguments = Arguments::from_args();
    if !arguments.list {
        Outputs::get();
    }
    let offline = std::env::var_os(OFFLINE).is_some();
    let mut trials = Vec::new();
    let mut fetched = 0;
    for package in packages {
        let name = source(package).name;
        let there = arguments.list || debian::available(name);
        fetched += usize::from(there);
        let test = move || trial(package).map_err(|e| Failed::from(format!("{e:#}")));
        trials.push(Trial::test(name, test).with_ignored_flag(!there));
    }
    let enough = move || {
        if fetched >= least {
            return Ok(());
        }
        let all = packages.len();
        Err(Failed::from(format!(
            "only {fetched} of {all} sources could be fetched, {least} are wanted; {OFFLINE}=1 skips them where there \
             is no network"
        )))
    };
    trials.push(Trial::test(claim, enough).with_ignored_flag(offline && fetched == 0));
    libtest_mimic::run(&arguments, trials).exit();
}

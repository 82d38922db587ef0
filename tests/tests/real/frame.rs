//! One trial for each program that somebody else wrote.

use std::fs;
use std::path::Path;

use anyhow::Result;
use contech_tests::scratch::entries;
use contech_tests::verdict::{self, Tools};

/// The variable to set where there is no network: packages that cannot be fetched are then skipped,
/// by name.
const OFFLINE: &str = "CONTECH_OFFLINE";

/// Runs a trial for each package, which fails when the package cannot be fetched.
pub(crate) fn main<P: Sync>(
    packages: Vec<&'static P>,
    name: impl Fn(&P) -> &'static str,
    available: impl Fn(&P) -> bool,
    trial: fn(&P) -> Result<()>,
) {
    let arguments = verdict::arguments();
    let online = arguments.list || std::env::var_os(OFFLINE).is_none();
    let texts = texts().unwrap_or_default();
    let trials = packages.into_iter().map(|package| {
        // Of what is run, some reads the programs of the tests, and of what is built, all is named
        // by the executable.
        let run = move || trial(package);
        let trial = verdict::trial(name(package).to_owned(), Tools::All, &texts, run);
        trial.with_ignored_flag(!online && !available(package))
    });
    let trials = trials.collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// The programs of the tests that are inputs and libraries of some trials.
fn texts() -> Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut all = Vec::new();
    for from in [folder.clone(), folder.join("registry"), folder.join("registry/src/bin")] {
        all.extend(entries(&from)?);
    }
    all.retain(|path| path.is_file());
    Ok(all.iter().map(fs::read).collect::<Result<_, _>>()?)
}

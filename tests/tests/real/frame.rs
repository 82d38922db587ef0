//! One trial for each program that somebody else wrote, and one that fails when not all of them
//! could be fetched.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use contech_tests::scratch::entries;
use contech_tests::verdict::{self, Tools};

/// The variable to set where there is no network: packages that cannot be fetched are then skipped,
/// by name.
const OFFLINE: &str = "CONTECH_OFFLINE";

/// Runs a trial for each package, and one that fails when not all could be fetched. A package that
/// cannot be fetched is reported as ignored, by its name.
pub(crate) fn main<P: Sync>(
    packages: Vec<&'static P>,
    name: impl Fn(&P) -> &'static str,
    available: impl Fn(&P) -> bool,
    trial: fn(&P) -> Result<()>,
    claim: &str,
) {
    let arguments = verdict::arguments();
    let offline = std::env::var_os(OFFLINE).is_some();
    let texts = texts().unwrap_or_default();
    let mut trials = Vec::new();
    let mut fetched = 0;
    for &package in &packages {
        let there = arguments.list || available(package);
        fetched += usize::from(there);
        // Of what is run, some reads the programs of the tests, and of what is built, all is named
        // by the executable.
        let trial =
            verdict::trial(name(package).to_owned(), Tools::All, &texts, move || trial(package));
        trials.push(trial.with_ignored_flag(!there));
    }
    let all = packages.len();
    let enough = move || {
        ensure!(
            fetched == all,
            "only {fetched} of {all} sources could be fetched; {OFFLINE}=1 skips them where there is no network"
        );
        Ok(())
    };
    let claim = verdict::always(claim.to_owned(), enough);
    trials.push(claim.with_ignored_flag(offline && fetched < all));
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

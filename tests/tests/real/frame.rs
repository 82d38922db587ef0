//! One trial for each program that somebody else wrote, and one that fails when not all of them could be fetched.

use anyhow::Result;
use contech_tests::outputs::Outputs;
use libtest_mimic::{Arguments, Failed, Trial};

/// The variable to set where there is no network: packages that cannot be fetched are then skipped, by name.
const OFFLINE: &str = "CONTECH_OFFLINE";

/// Runs a trial for each package, and one that fails when not all could be fetched. A package that cannot be
/// fetched is reported as ignored, by its name.
pub(crate) fn main<P: Sync>(
    packages: &'static [P],
    name: impl Fn(&P) -> &'static str,
    available: impl Fn(&P) -> bool,
    trial: fn(&P) -> Result<()>,
    claim: &str,
) {
    let arguments = Arguments::from_args();
    if !arguments.list {
        Outputs::get();
    }
    let offline = std::env::var_os(OFFLINE).is_some();
    let mut trials = Vec::new();
    let mut fetched = 0;
    for package in packages {
        let there = arguments.list || available(package);
        fetched += usize::from(there);
        let test = move || trial(package).map_err(|e| Failed::from(format!("{e:#}")));
        trials.push(Trial::test(name(package), test).with_ignored_flag(!there));
    }
    let enough = move || {
        let all = packages.len();
        if fetched == all {
            return Ok(());
        }
        Err(Failed::from(format!(
            "only {fetched} of {all} sources could be fetched; {OFFLINE}=1 skips them where there is no network"
        )))
    };
    trials.push(Trial::test(claim, enough).with_ignored_flag(offline && fetched < packages.len()));
    libtest_mimic::run(&arguments, trials).exit();
}

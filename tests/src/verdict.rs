//! Trials whose verdict is kept. A trial that has passed is not run again while the test's own
//! executable, the tools and all that it is made of are the same. `cargo test-all --all` runs it
//! all the same, and so do the whole matrix and a command line that names it.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::Result;
use libtest_mimic::{Arguments, Failed, Trial};

use crate::matrix;
use crate::outputs::{home, output, target_dir};
use crate::scratch::files;
use crate::toolchain::{CLANG, drivers};

/// Set by `cargo test-all --all`.
pub const ALL: &str = "TEST_ALL_RUNS_ALL";

/// How the harness shows a trial that is not run again.
pub const KEPT: &str = "kept";

/// The tools that a trial runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tools {
    /// The compilers, the recorder and the middle layer.
    Recording,
    /// Analyses and `cargo contech`, too.
    All,
}

/// A trial of this name that depends on the tools, and on `from`: sources, options, what is
/// expected.
pub fn trial(
    name: String,
    tools: Tools,
    from: &impl Hash,
    run: impl FnOnce() -> Result<()> + Send + 'static,
) -> Trial {
    // Variables of the tools and of the tests, such as the one that blesses.
    let told = |(name, _): &(String, String)| name.starts_with("CONTECH_");
    let told: BTreeSet<_> = std::env::vars().filter(told).collect();
    let verdict = of((of_tools(tools), told, from)).to_string();
    let again = matrix::asked() || std::env::var_os(ALL).is_some();
    kept(name, verdict, again, run)
}

/// A trial that is always run.
pub fn always(name: String, run: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, || run().map_err(|error| Failed::from(format!("{error:#}"))))
}

/// The command line of a harness. Unless it only asks for a list, the tools are built.
#[must_use]
pub fn arguments() -> Arguments {
    let arguments = Arguments::from_args();
    if !arguments.list {
        home();
    }
    arguments
}

/// A trial that does not run if it has passed with this verdict, unless it is to run `again`.
fn kept(
    name: String,
    verdict: String,
    again: bool,
    run: impl FnOnce() -> Result<()> + Send + 'static,
) -> Trial {
    let file = place(&name);
    if !again && fs::read_to_string(&file).is_ok_and(|passed| passed == verdict) {
        return Trial::test(name, || Ok(())).with_kind(KEPT);
    }
    always(name, move || {
        // What fails must not be taken for what passed before.
        let _ = fs::remove_file(&file);
        run()?;
        fs::write(&file, verdict)?;
        Ok(())
    })
}

/// Where the verdict of a trial of this executable is kept.
fn place(name: &str) -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let this = std::env::current_exe().unwrap_or_default();
        let stem = this.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (test, _) = stem.rsplit_once('-').unwrap_or((&stem, ""));
        let folder = target_dir().join("tmp/contech-passed").join(test);
        let _ = fs::create_dir_all(&folder);
        folder
    });
    FOLDER.join(name.replace(['/', ' '], "_"))
}

/// A hash of the test's executable, of the tools and of the machine.
fn of_tools(tools: Tools) -> u64 {
    static RECORDING: LazyLock<u64> = LazyLock::new(|| {
        let mut all = drivers();
        all.push(output("contech-middle"));
        all.push(std::env::current_exe().unwrap_or_default());
        all.extend(files(home(), "so").unwrap_or_default());
        let clang = fs::metadata(CLANG);
        let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = processor.lines().find(|line| line.starts_with("flags"));
        of((
            all.iter().map(|path| bytes(path)).collect::<Vec<_>>(),
            clang.ok().and_then(|about| about.modified().ok()),
            processor.map(str::to_owned),
        ))
    });
    static ALL: LazyLock<u64> = LazyLock::new(|| {
        let more = ["contech", "contech-backend", "cargo-contech"].map(|name| bytes(&output(name)));
        let rustc = Command::new("rustc").arg("-vV").output();
        of((*RECORDING, more, rustc.map(|said| said.stdout).ok()))
    });
    match tools {
        Tools::Recording => *RECORDING,
        Tools::All => *ALL,
    }
}

fn of(what: impl Hash) -> u64 {
    let mut hash = DefaultHasher::new();
    what.hash(&mut hash);
    hash.finish()
}

/// A hash of a file's bytes; of one that is not there, the time, so that nothing is kept.
fn bytes(path: &Path) -> u64 {
    match fs::read(path) {
        Ok(bytes) => of(bytes),
        Err(_) => of(std::time::SystemTime::now()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::ensure;

    /// Whether the trial was not run, and whether it failed.
    fn run(verdict: &str, again: bool, passes: bool) -> (bool, bool) {
        let test = move || {
            ensure!(passes);
            Ok(())
        };
        let trial = kept("a_kept_verdict".to_owned(), verdict.to_owned(), again, test);
        let kept = trial.kind() == KEPT;
        // The test command counts what harnesses write to standard output.
        let quietly = Arguments { logfile: Some("/dev/null".to_owned()), ..Arguments::default() };
        let done = libtest_mimic::run(&quietly, vec![trial]);
        (kept, done.has_failed())
    }

    #[test]
    fn what_passed_is_not_run_again_until_something_is_changed_or_it_fails() {
        let _ = fs::remove_file(place("a_kept_verdict"));
        for (verdict, again, passes, expected) in [
            ("one", false, true, (false, false)),
            ("one", false, false, (true, false)),
            ("two", false, false, (false, true)),
            ("one", false, true, (false, false)),
            ("one", true, false, (false, true)),
            ("one", false, true, (false, false)),
        ] {
            assert_eq!(run(verdict, again, passes), expected, "{verdict} {again} {passes}");
        }
    }
}

//! Python with packages of the package index, for tests that read what we write with readers of
//! others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::once::Once;
use crate::outputs::target_dir;
use crate::process::run;

/// The packages with all that they need: what is installed is what was tested.
const PACKAGES: [&str; 14] = [
    "flamegraph-textual==0.1.2", // folded stacks
    "iteround==1.0.4",           // for that
    "markdown-it-py==4.3.0",     // for that
    "mdurl==0.1.2",              // for that
    "pygments==2.21.0",          // for that
    "rich==13.9.4",              // for that
    "textual==0.37.1",           // for that
    "typing_extensions==4.16.0", // for that
    "duckdb==2.0.0",             // Parquet
    "polars==2.1.0",             // Parquet
    "polars-runtime-32==2.1.0",  // for that
    "perfetto==0.59.1",          // the messages of Perfetto's traces
    "protobuf==7.36.2",          // for that
    "otf2==3.2",                 // OTF2
];

/// The interpreter of a virtual environment with the packages, which is made once and kept while
/// they are the same.
///
/// # Errors
/// When the packages cannot be installed.
pub fn interpreter() -> Result<PathBuf> {
    static MADE: Once<PathBuf> = Once::new();
    MADE.get("python", || {
        let dir = target_dir().join("tmp/contech/python");
        environment(&dir, &PACKAGES)
    })
}

/// A virtual environment in `dir`.
///
/// # Errors
/// When it cannot be made.
pub fn environment(dir: &Path, packages: &[&str]) -> Result<PathBuf> {
    let interpreter = dir.join("bin/python");
    let (stamp, wanted) = (dir.join("packages"), packages.join("\n"));
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(interpreter);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(dir))?.ok()?;
    let mut install = Command::new(&interpreter);
    install.args([
        "-m",
        "pip",
        "install",
        "-q",
        // To compile thousands of files costs more than the tests, which load few of them.
        "--no-compile",
        "--no-deps",
        "--only-binary=:all:",
    ]);
    run(install.arg("--disable-pip-version-check").args(packages))?.ok()?;
    fs::write(stamp, wanted)?;
    Ok(interpreter)
}

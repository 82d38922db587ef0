//! The project's own commands, built once per test process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, Result, bail};

/// Set by `cargo test-all`, which has built the outputs. Without it each test binary asks cargo,
/// and waits for its lock.
pub const BUILT: &str = "TEST_ALL_HAS_BUILT";

/// The directory that holds the commands, the pass plugin and the runtime library. They are built
/// on first use with `cargo build --release`. `CONTECH_HOME` names a directory to use instead of
/// building.
///
/// # Panics
/// When they cannot be built: no test can go on without them.
pub fn home() -> &'static Path {
    static HOME: LazyLock<PathBuf> =
        LazyLock::new(|| locate().unwrap_or_else(|error| panic!("{error:#}")));
    HOME.as_path()
}

/// Builds (or finds) the directory of [`home`].
///
/// # Errors
/// When cargo fails, which then has shown its own messages.
pub fn locate() -> Result<PathBuf> {
    match std::env::var_os("CONTECH_HOME") {
        Some(dir) => Ok(dir.into()),
        None if std::env::var_os(BUILT).is_some() => Ok(target_dir().join("release")),
        None => build(true),
    }
}

/// The place of a file in [`home`].
#[must_use]
pub fn output(name: &str) -> PathBuf {
    home().join(name)
}

/// A value of `PATH` by which commands are looked for in this folder first.
pub fn path_from(folder: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(all)?)
}

/// Builds all that users get, and returns where it is. The whole workspace is built, as `cargo
/// build` does it: libraries of a part of it would have other features, and be compiled once more.
/// A `quiet` cargo shows only errors.
///
/// # Errors
/// When cargo fails, which then has shown its own messages.
pub fn build(quiet: bool) -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--release", "--workspace"]).args(quiet.then_some("--quiet"));
    let status = build.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("cargo build of the workspace failed: {status}");
    }
    Ok(target_dir().join("release"))
}

/// The cargo that runs this, at the root of the repository.
#[must_use]
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace());
    cargo
}

/// A command of one of the tools.
#[must_use]
pub fn tool(name: &str) -> Command {
    Command::new(output(name))
}

/// `cargo contech` in a folder. What it makes of the toolchain is kept with the other results of
/// tests.
#[must_use]
pub fn cargo_contech(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = tool("cargo-contech");
    command.arg("contech").args(arguments).current_dir(folder);
    command.env("XDG_CACHE_HOME", target_dir().join("tmp/rust-programs/cache"));
    command
}

/// The root of the repository.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Cargo's target directory, as the running cargo sees it.
#[must_use]
pub fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => workspace().join(dir),
        None => workspace().join("target"),
    }
}

//! `cargo deb [FOLDER]`: builds the tools and makes a Debian package of them, in the folder or in this one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::outputs::Outputs;

fn main() -> Result<()> {
    let to = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("."), PathBuf::from);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--workspace"]);
    ensure!(
        build.current_dir(workspace).status()?.success(),
        "the build failed"
    );
    println!(
        "{}",
        contech_tests::deb::package(Outputs::get().dir(), &to)?.display()
    );
    Ok(())
}

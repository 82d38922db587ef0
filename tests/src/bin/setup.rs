//! `cargo setup [PREFIX]`: builds the tools and installs all that they need below the prefix, or
//! where cargo installs.

use std::path::PathBuf;

use anyhow::{Context, Result};
use contech_tests::{install, outputs};

fn main() -> Result<()> {
    let prefix = std::env::args_os().nth(1).map(PathBuf::from);
    let cargo = || std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = || Some(std::env::home_dir()?.join(".cargo"));
    let prefix = prefix.or_else(cargo).or_else(home);
    let prefix = prefix.context("there is no home: name a prefix")?;
    install::install(&outputs::build(false)?, &prefix)?;
    println!("installed in {}", prefix.join("bin").display());
    Ok(())
}

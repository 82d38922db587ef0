//! `cargo deb [FOLDER]`: builds the tools and makes a Debian package of them, in the folder or in
//! this one.

use std::path::PathBuf;

use anyhow::Result;
use contech_tests::{deb, outputs};

fn main() -> Result<()> {
    let to = std::env::args_os().nth(1).map(PathBuf::from);
    let to = to.unwrap_or_else(|| PathBuf::from("."));
    println!("{}", deb::package(&outputs::build(false)?, &to)?.display());
    Ok(())
}

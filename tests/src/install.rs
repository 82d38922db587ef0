//! An installation of what `cargo build --release` made. All of it is in one folder of the prefix,
//! `lib/contech`, where the programs look for one another, and `bin` has links to them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::run;

const FOLDER: &str = "lib/contech";
/// The programs that are installed.
pub const PROGRAMS: [&str; 7] = [
    "cargo-contech",
    "contech",
    "contech-backend",
    "contech-cc",
    "contech-cxx",
    "contech-fc",
    "contech-middle",
];
const LINKS: [&str; 3] = ["contech-c++", "contech-llvm-ar", "contech-llvm-ranlib"];
/// What the programs load, or link into what they compile.
pub const LIBRARIES: [&str; 5] = [
    "libcontech_instrument.so",
    "libcontech_mpi.so",
    "libcontech_observe.so",
    "libcontech_rt.so",
    "libcontech_ws.so",
];

/// Puts the programs and libraries in `made` below the prefix, in place of an older installation.
///
/// # Errors
/// When something is not built, the prefix cannot be written, or has a program of this name that is
/// not ours.
pub fn install(made: &Path, prefix: &Path) -> Result<()> {
    let (folder, bin) = (prefix.join(FOLDER), prefix.join("bin"));
    let links = PROGRAMS.iter().chain(&LINKS);
    let links = links.map(|name| (bin.join(name), Path::new("..").join(FOLDER).join(name)));
    let links: Vec<(PathBuf, PathBuf)> = links.collect();
    for (link, to) in &links {
        let free = fs::symlink_metadata(link).is_err();
        if !free && fs::read_link(link).ok().as_ref() != Some(to) {
            bail!(
                "{} exists and is no link to {}: remove it, or name another prefix",
                link.display(),
                to.display()
            );
        }
    }
    let new = folder.with_added_extension("new");
    // What an installation that was interrupted has left.
    let _ = fs::remove_dir_all(&new);
    for made in [&new, &bin] {
        fs::create_dir_all(made).with_context(|| format!("cannot make {}", made.display()))?;
    }
    for name in PROGRAMS.iter().chain(&LIBRARIES) {
        let from = made.join(name);
        fs::copy(&from, new.join(name))
            .with_context(|| format!("cannot copy {}", from.display()))?;
    }
    let strip = |name| new.join(name);
    let mut lighten = Command::new("strip");
    run(lighten.arg("--strip-unneeded").args(PROGRAMS.map(strip)).args(LIBRARIES.map(strip)))?
        .ok()?;
    run(Command::new("cp").arg("-r").arg(made.join("include")).arg(&new))?.ok()?;
    for name in LINKS {
        symlink(fs::read_link(made.join(name))?, new.join(name))?;
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::rename(&new, &folder)?;
    for (link, to) in links {
        if fs::symlink_metadata(&link).is_err() {
            symlink(to, link)?;
        }
    }
    for_readers_and_shells(&folder.join("contech"), &prefix.join("share"))
}

/// Where the shells look for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/contech"),
    ("fish", "fish/vendor_completions.d/contech.fish"),
    ("zsh", "zsh/vendor-completions/_contech"),
];

/// Writes the manual pages and the completions of the command.
fn for_readers_and_shells(contech: &Path, share: &Path) -> Result<()> {
    let pages = share.join("man/man1");
    fs::create_dir_all(&pages)?;
    run(Command::new(contech).arg("man").arg(&pages))?.ok()?;
    for (shell, path) in COMPLETIONS {
        let path = share.join(path);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        let said = run(Command::new(contech).args(["completions", shell]))?.ok()?;
        fs::write(path, said.stdout)?;
    }
    Ok(())
}

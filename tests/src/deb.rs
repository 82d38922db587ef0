//! A Debian package of what `cargo build --release` made. All of it is in one folder, where the programs look for one
//! another, and `/usr/bin` has links to them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::run;

const FOLDER: &str = "usr/lib/contech";
const PROGRAMS: [&str; 7] = [
    "cargo-contech",
    "contech",
    "contech-backend",
    "contech-cc",
    "contech-cxx",
    "contech-fc",
    "contech-middle",
];
const LINKS: [&str; 3] = ["contech-c++", "contech-llvm-ar", "contech-llvm-ranlib"];
const LIBRARIES: [&str; 6] = [
    "libcontech_instrument.so",
    "libcontech_mpi.so",
    "libcontech_observe.so",
    "libcontech_refine.so",
    "libcontech_rt.so",
    "libcontech_ws.so",
];
/// The pass runs in this compiler.
const DEPENDS: &str = "clang-22, lld-22, llvm-22, libc6-dev";
const RECOMMENDS: &str = "flang-22, libomp-22-dev, libclang-rt-22-dev";

/// Makes the package of the programs and libraries in `made`, in the folder `to`. Returns its path.
///
/// # Errors
/// When something is not built, or `dpkg-deb` fails.
pub fn package(made: &Path, to: &Path) -> Result<PathBuf> {
    let version = env!("CARGO_PKG_VERSION");
    let root = to.join(format!("contech_{version}_amd64"));
    let (folder, bin) = (root.join(FOLDER), root.join("usr/bin"));
    for made in [&folder, &bin, &root.join("DEBIAN")] {
        fs::create_dir_all(made)?;
    }
    for name in PROGRAMS.iter().chain(&LIBRARIES) {
        let from = made.join(name);
        fs::copy(&from, folder.join(name))
            .with_context(|| format!("{} is not built", from.display()))?;
    }
    let strip = |name| folder.join(name);
    let mut lighten = Command::new("strip");
    run(lighten
        .arg("--strip-unneeded")
        .args(PROGRAMS.map(strip))
        .args(LIBRARIES.map(strip)))?
    .ok()?;
    run(Command::new("cp")
        .arg("-r")
        .arg(made.join("include"))
        .arg(&folder))?
    .ok()?;
    for name in LINKS {
        symlink(fs::read_link(made.join(name))?, folder.join(name))?;
    }
    for name in PROGRAMS.iter().chain(&LINKS) {
        symlink(Path::new("../lib/contech").join(name), bin.join(name))?;
    }
    let control = format!(
        "Package: contech\nVersion: {version}\nArchitecture: amd64\nSection: devel\nPriority: optional\n\
         Maintainer: The Contech developers\nDepends: {DEPENDS}\nRecommends: {RECOMMENDS}\n\
         Description: records parallel programs as task graphs, and analyses them\n"
    );
    fs::write(root.join("DEBIAN/control"), control)?;
    let package = root.with_added_extension("deb");
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "-z1", "--build"]);
    run(build.arg(&root).arg(&package))?.ok()?;
    fs::remove_dir_all(&root)?;
    Ok(package)
}

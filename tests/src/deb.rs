//! A Debian package of an installation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::install::install;
use crate::process::run;

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
    fs::create_dir_all(root.join("DEBIAN"))?;
    install(made, &root.join("usr"))?;
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

//! The Debian package: what it installs works from where it is.

use std::fs;
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::deb::package;
use contech_tests::outputs::{Outputs, workspace};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;

#[test]
fn what_the_debian_package_installs_records_and_reports_a_program() -> Result<()> {
    let scratch = Scratch::new("package")?;
    let made = package(Outputs::get().dir(), scratch.dir())?;
    let root = scratch.join("root");
    fs::create_dir_all(&root)?;
    run(Command::new("dpkg-deb").arg("-x").arg(&made).arg(&root))?.ok()?;
    let installed = |name: &str| {
        let mut command = Command::new(root.join("usr/bin").join(name));
        command
            .env_remove("CONTECH_HOME")
            .current_dir(scratch.dir());
        command
    };
    let source = workspace().join("tests/programs/omp_sort.c");
    let mut build = installed("contech-cc");
    run(build
        .args(["-g", "-O1", "-fopenmp", "-o", "sort"])
        .arg(source))?
    .ok()?;
    let said = run(installed("contech").args(["run", "./sort", "1000"]))?.ok()?;
    ensure!(said.err().contains("accesses"), "{said}");
    ensure!(scratch.join("contech-out/report.html").is_file(), "{said}");
    for name in ["contech-backend", "contech-middle", "contech", "contech-cc"] {
        let said = run(installed(name).arg("--version"))?.ok()?;
        ensure!(
            said.to_string().contains(env!("CARGO_PKG_VERSION")),
            "{said}"
        );
    }
    scratch.done();
    Ok(())
}

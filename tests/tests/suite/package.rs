//! Installations: what is installed works from where it is, and the library is ready to be published.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use contech_tests::deb::package;
use contech_tests::install::{PROGRAMS, install};
use contech_tests::outputs::{Outputs, target_dir, workspace};
use contech_tests::process::{run, run_for};
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
    for name in PROGRAMS {
        let said = run(installed(name).arg("--version"))?.ok()?;
        let version = concat!(env!("CARGO_PKG_VERSION"), " (");
        ensure!(
            said.out().contains(version) && said.out().contains(" format "),
            "{said}"
        );
    }
    scratch.done();
    Ok(())
}

#[test]
fn the_library_and_what_it_needs_can_be_published() -> Result<()> {
    // Cargo would take the build of an older commit, too. Here the library is built with nothing else.
    let target = target_dir().join("publish");
    for made in fs::read_dir(target.join("debug/.fingerprint"))
        .into_iter()
        .flatten()
    {
        let made = made?;
        if made
            .file_name()
            .to_string_lossy()
            .starts_with("contech-program")
        {
            fs::remove_dir_all(made.path())?;
        }
    }
    forget_unpacked("contech-program")?;
    let mut publish = Command::new(env!("CARGO"));
    publish.args(["publish", "--dry-run", "--allow-dirty"]);
    publish.args(["-p", "contech-program", "-p", "contech-taskgraph"]);
    publish.arg("--target-dir").arg(&target);
    let said = run_for(publish.current_dir(workspace()), Duration::from_secs(600))?.ok()?;
    ensure!(
        !said.err().contains("manifest has no description"),
        "{said}"
    );
    Ok(())
}

/// Removes what cargo unpacked when it verified `package` before. Cargo knows it by the path of the target folder and
/// the package's version alone, so it would build an older commit's source again.
fn forget_unpacked(package: &str) -> Result<()> {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    let Ok(registries) = fs::read_dir(home.join("registry/src")) else {
        return Ok(());
    };
    for registry in registries {
        let unpacked = registry?
            .path()
            .join(format!("{package}-{}", env!("CARGO_PKG_VERSION")));
        if unpacked.is_dir() {
            fs::remove_dir_all(&unpacked)
                .with_context(|| format!("cannot remove {}", unpacked.display()))?;
        }
    }
    Ok(())
}

#[test]
fn an_installation_replaces_an_older_one_and_nothing_else() -> Result<()> {
    let scratch = Scratch::new("prefix")?;
    let made = Outputs::get().dir();
    let source = workspace().join("tests/programs/omp_sort.c");
    for _ in 0..2 {
        install(made, scratch.dir())?;
        let mut build = Command::new(scratch.join("bin/contech-cc"));
        build.env_remove("CONTECH_HOME").current_dir(scratch.dir());
        build.args(["-fopenmp", "-o", "sort"]).arg(&source);
        run(&mut build)?.ok()?;
    }
    let other = scratch.join("bin/contech");
    fs::remove_file(&other)?;
    fs::write(&other, "somebody else's")?;
    let refused = install(made, scratch.dir()).expect_err("bin/contech is not ours");
    let said = refused.to_string();
    ensure!(
        said.contains("bin/contech exists and is no link to"),
        "{said}"
    );
    ensure!(fs::read_to_string(&other)? == "somebody else's");
    scratch.done();
    Ok(())
}

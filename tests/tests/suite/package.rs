//! Installations: what is installed works from where it is.

use std::fs;
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::deb::package;
use contech_tests::install::{PROGRAMS, install};
use contech_tests::outputs::{home, workspace};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;

#[test]
fn what_the_debian_package_installs_records_and_reports_a_program() -> Result<()> {
    let scratch = Scratch::new("package")?;
    let made = package(home(), scratch.dir())?;
    let root = scratch.join("root");
    fs::create_dir_all(&root)?;
    run(Command::new("dpkg-deb").arg("-x").arg(&made).arg(&root))?.ok()?;
    let installed = |name: &str| {
        let mut command = Command::new(root.join("usr/bin").join(name));
        command.env_remove("CONTECH_HOME").current_dir(scratch.dir());
        command
    };
    let source = workspace().join("tests/programs/omp_sort.c");
    let mut build = installed("contech-cc");
    run(build.args(["-g", "-O1", "-fopenmp", "-o", "sort"]).arg(source))?.ok()?;
    let said = run(installed("contech").args(["run", "./sort", "1000"]))?.ok()?;
    ensure!(said.err().contains("accesses"), "{said}");
    ensure!(scratch.join("contech-out/report.html").is_file(), "{said}");
    let share = root.join("usr/share");
    let page = fs::read_to_string(share.join("man/man1/contech.1"))?;
    ensure!(page.contains(".TH contech"), "{page}");
    let mut shell = Command::new("bash");
    shell.args(["-c", ". \"$0\"; complete -p contech"]);
    let known = run(shell.arg(share.join("bash-completion/completions/contech")))?.ok()?;
    ensure!(known.out().contains("contech"), "{known}");
    for name in PROGRAMS {
        let said = run(installed(name).arg("--version"))?.ok()?;
        let version = concat!(env!("CARGO_PKG_VERSION"), " (");
        ensure!(said.out().contains(version) && said.out().contains(" format "), "{said}");
    }
    scratch.done()
}

#[test]
fn an_installation_replaces_an_older_one_and_nothing_else() -> Result<()> {
    let scratch = Scratch::new("prefix")?;
    let made = home();
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
    ensure!(said.contains("bin/contech exists and is no link to"), "{said}");
    ensure!(fs::read_to_string(&other)? == "somebody else's");
    scratch.done()
}

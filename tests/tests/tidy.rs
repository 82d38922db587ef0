//! Rules of the house that no lint covers.

#[path = "tidy/modules.rs"]
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::outputs::{cargo, workspace};
use contech_tests::process::run;

/// Files under version control with one of these extensions.
fn files(extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut list = Command::new("git");
    list.current_dir(workspace()).args(["-c", "safe.directory=*", "ls-files"]);
    let listed = match run(&mut list).and_then(contech_tests::process::Finished::ok) {
        Ok(done) => done.out(),
        // A copy without git holds everything but what is built.
        Err(_) => {
            let mut find = Command::new("find");
            find.current_dir(workspace())
                .args([".", "-name", "target", "-prune", "-o", "-type", "f", "-print"]);
            run(&mut find)?.ok()?.out()
        }
    };
    let wanted = |p: &PathBuf| {
        p.extension().is_some_and(|e| extensions.iter().any(|x| e == *x))
            && workspace().join(p).exists()
    };
    let files: Vec<PathBuf> = listed.lines().map(PathBuf::from).filter(wanted).collect();
    assert!(!files.is_empty(), "no files with {extensions:?}");
    Ok(files)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(workspace().join(file)).with_context(|| file.display().to_string())
}

/// What cargo says of each library, in a build of that kind.
fn libraries(words: &[&str], format: &str) -> Result<BTreeSet<String>> {
    let mut tree = cargo();
    tree.arg("tree").args(words).args(["--prefix", "none", "--format", format]);
    let said = run(&mut tree)?.ok()?.out();
    Ok(said
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .collect())
}

#[test]
fn the_test_command_and_the_tools_and_the_tests_have_the_same_libraries() -> Result<()> {
    let features = |words| libraries(words, "{p} [{f}]");
    let all = features(&["--workspace", "-e", "normal,build,dev"])?;
    for words in [&["-e", "normal,build"][..], &["--workspace", "-e", "normal,build"]] {
        let twice: Vec<_> = features(words)?.difference(&all).cloned().collect();
        assert!(
            twice.is_empty(),
            "in `cargo tree {words:?}` these have other features than in the build of the tests, so that they and what needs \
             them are compiled twice; tests/Cargo.toml asks for the missing features: {twice:#?}"
        );
    }
    Ok(())
}

#[test]
fn licences_and_versions_of_libraries_are_those_of_deny_toml() -> Result<()> {
    let rules = read(Path::new("deny.toml"))?;
    let list = |name: &str| -> Vec<&str> {
        let (_, list) = rules.split_once(&format!("\n{name} = [")).expect(name);
        let lines = list.lines().take_while(|line| *line != "]");
        lines.filter_map(|line| line.split('"').nth(1)).collect()
    };
    let (mut allowed, mut skipped) = (list("allow"), list("skip"));
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for line in libraries(&["--workspace", "-e", "normal,build,dev"], "{p}|{l}")? {
        let (library, licence) = line.rsplit_once('|').context("a licence")?;
        let licence = licence.replace(['(', ')'], "").replace('/', " OR ");
        for part in licence.split(" AND ") {
            let mut ways = part.split(" OR ").map(str::trim);
            let taken = ways.find(|way| allowed.contains(way));
            used.insert(taken.with_context(|| line.clone())?.to_owned());
        }
        let mut words = library.split(" v");
        let name = words.next().unwrap_or_default();
        let version = words.next().unwrap_or_default();
        let version = version.split(' ').next().unwrap_or_default();
        let known = versions.entry(name.to_owned()).or_default();
        known.insert(version.to_owned());
    }
    // No rule without a use.
    allowed.retain(|licence| !used.contains(*licence));
    assert!(allowed.is_empty(), "no library has {allowed:?}");
    for (name, mut versions) in versions {
        if versions.len() > 1 {
            skipped.retain(|skip| {
                let version = skip.strip_prefix(&format!("{name}@"));
                let is = |v: &String| version.is_some_and(|s| v.starts_with(&format!("{s}.")));
                let before = versions.len();
                versions.retain(|v| !is(v));
                versions.len() == before
            });
        }
        assert_eq!(versions.len(), 1, "{name}: {versions:?}");
    }
    assert!(skipped.is_empty(), "not there, or only once: {skipped:?}");
    Ok(())
}

#[test]
fn every_module_says_first_what_it_is() -> Result<()> {
    let mut silent = Vec::new();
    for file in files(&["rs"])? {
        // Attributes of the module may come before its documentation.
        let text = read(&file)?;
        let mut first = text.lines().take(12);
        if !first.any(|l| l.starts_with("//!") || l.starts_with("#![doc = include_str!")) {
            silent.push(file);
        }
    }
    assert!(silent.is_empty(), "no //! at the start: {silent:?}");
    Ok(())
}

#[test]
fn every_test_program_says_first_what_it_shows() -> Result<()> {
    for file in files(&["c", "cpp"])? {
        if file.starts_with("tests/programs")
            || file.starts_with("bench/programs")
            || file.starts_with("bench/scaling")
        {
            assert!(read(&file)?.starts_with("// "), "{}", file.display());
        }
    }
    Ok(())
}

#[test]
fn no_part_depends_on_one_it_must_not_see() -> Result<()> {
    // Each row has a folder and the crates of ours that its Cargo.toml may name, without `contech-`.
    let allowed = [
        // workspan has the ABI of the on-line profiler.
        ("instrument", "plain program trace workspan"),
        // The drivers say which version of traces their programs record.
        ("instrument/cc", "plain trace"),
        ("runtime", "interpose runtime-core trace"),
        ("runtime/core", "interpose plain program trace"),
        ("runtime/trace", "program"),
        ("runtime/interpose", "plain"),
        ("runtime/observation", ""),
        ("runtime/observe", "interpose observation"),
        ("middle", "log plain program trace taskgraph"),
        ("plain", ""),
        ("plain/log", "plain"),
        ("taskgraph", "program"),
        ("taskgraph/program", ""),
        ("runtime/workspan", ""),
        ("runtime/online", "interpose workspan"),
        ("runtime/mpi", "interpose"),
        ("backends", "analyses laboratory log plain show taskgraph"),
        ("backends/analyses", "laboratory show taskgraph workspan"),
        ("backends/laboratory", "observation show workspan"),
        ("backends/show", "plain taskgraph"),
        ("python", "backends taskgraph"),
    ];
    for (folder, names) in allowed {
        let manifest = read(&Path::new(folder).join("Cargo.toml"))?;
        let own = manifest
            .split("\n[")
            .filter(|section| {
                section.starts_with("dependencies]") || section.starts_with("build-dependencies]")
            })
            .flat_map(str::lines)
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter_map(|name| name.strip_prefix("contech-"));
        for name in own {
            assert!(names.split(' ').any(|n| n == name), "{folder} depends on {name}");
        }
    }
    Ok(())
}

#[test]
fn modules_name_each_other_in_one_direction() -> Result<()> {
    let mut all = Vec::new();
    for manifest in files(&["toml"])? {
        let folder = manifest.parent().unwrap_or(&manifest);
        let src = workspace().join(folder).join("src");
        if !manifest.ends_with("Cargo.toml") || !src.is_dir() {
            continue;
        }
        all.push((folder.to_owned(), modules::circles(&modules::arrows(&src)?)));
    }
    all.retain(|(_, circles)| !circles.is_empty());
    assert!(all.is_empty(), "{all:?}");
    Ok(())
}

#[test]
fn a_circle_of_modules_is_seen() -> Result<()> {
    let scratch = contech_tests::scratch::Scratch::new("tidy-circles")?;
    for (file, text) in [
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Deep;\n"),
        ("a.rs", "use crate::{Deep, b::{self as other, B}};\n// use crate::c;\n"),
        ("b/mod.rs", "mod inner;\npub(crate) use inner::B;\n"),
        ("b/inner.rs", "use super::*;\npub(crate) struct B(super::super::a::A);\n"),
        ("c.rs", "#[cfg(test)]\nmod tests { use crate::a; }\npub struct Deep;\n"),
    ] {
        scratch.write(file, text)?;
    }
    let circles = modules::circles(&modules::arrows(scratch.dir())?);
    assert_eq!(circles, [["a", "b", "b::inner"]]);
    scratch.done()
}

#[test]
fn no_file_names_the_host_of_a_package_archive() -> Result<()> {
    // The names are written in two halves, so that this file does not contain them.
    let hosts = [
        ("deb.debian", ".org"),
        ("static.crates", ".io"),
        ("index.crates", ".io"),
        ("pypi", ".org"),
        ("registry.npmjs", ".org"),
    ];
    for file in files(&["rs", "toml", "md", "c", "cpp", "h", "sh", "html", "js", "css"])? {
        let text = read(&file)?;
        for (a, b) in hosts {
            assert!(!text.contains(&format!("{a}{b}")), "{} names {a}{b}", file.display());
        }
    }
    Ok(())
}

#[test]
fn small_tools_on_the_library_stay_small() -> Result<()> {
    for (example, most) in [("histogram", 20), ("reuse", 60)] {
        let file = Path::new("taskgraph/examples").join(example).with_extension("rs");
        let lines = read(&file)?.lines().count();
        assert!(lines <= most, "{}: {lines} lines", file.display());
    }
    Ok(())
}

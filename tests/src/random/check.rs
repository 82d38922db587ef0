//! One program: it is compiled natively and with `--contech-check`, run, and compared. The graph
//! must also count what the program counts itself, so that nothing goes missing from both forms.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::Source;
use super::way::Way;
use crate::process::{Finished, run, run_for};
use crate::program::is_cxx;
use crate::recording::{backend_json, made};
use crate::scratch::entries;
use crate::toolchain::{self, Toolchain};

const LIMIT: Duration = Duration::from_secs(60);

/// How often a program is recorded whose end is a race.
const RACES: u32 = 4;

/// Flags of every program: they give one result on every level and machine, and save time and
/// files.
const FLAGS: [&str; 6] = [
    "-w",
    "-fno-crash-diagnostics",
    "-ffp-contract=off",
    "-pthread",
    "-fuse-ld=lld",
    "-fno-strict-aliasing",
];

/// Compiles `source` in `dir`, records both forms in one run, and compares output and recordings.
/// Returns whether clang itself can compile the program at its level: one that it crashes on
/// without our plugin is not compared. What is compiled is `kept` for the next run under that name,
/// if there is one.
///
/// # Errors
/// When anything differs or fails, with what is known of it.
pub fn check(source: &Source, kept: Option<&str>, way: &Way, dir: &Path) -> Result<bool> {
    write(source, dir)?;
    let build =
        |tools: &Toolchain, flags: &[&str], name| build(tools, source, kept, flags, dir, name);
    let native = build(&Toolchain::native(), &["-O0"], "native")?;
    let level: Vec<&str> = way.level.split_whitespace().collect();
    let flags = [&["--contech-check"], level.as_slice()].concat();
    let recorded = match build(&Toolchain::contech(), &flags, "recorded") {
        Ok(program) => program,
        Err(error) => {
            return match build(&Toolchain::native(), &level, "level") {
                Ok(_) => Err(error),
                Err(_) => Ok(false),
            };
        }
    };
    let wanted = run_for(&mut Command::new(&native), LIMIT)?.ok()?;
    for _ in 0..if source.races { RACES } else { 1 } {
        record_once(&recorded, &wanted, way, dir)?;
    }
    Ok(true)
}

/// Records a program and compares.
fn record_once(program: &Path, wanted: &Finished, way: &Way, dir: &Path) -> Result<()> {
    let trace = dir.join("trace.bin");
    for old in of_children(dir)? {
        fs::remove_file(old)?;
    }
    let got = way.record(program, &trace, LIMIT)?.ok()?;
    if wanted.stdout != got.stdout || !got.stderr.is_empty() {
        bail!("the recorded program says something else than the native one: {wanted}{got}");
    }
    let graph = compare(&trace)?;
    if let Some(said) = wanted.out().lines().find_map(|l| l.strip_prefix("said ")) {
        let said: u64 = said.parse().with_context(|| said.to_owned())?;
        let n = executions("said", &graph)?;
        if n != said {
            bail!("the program called `said` {said} times, the graph has {n}: records are missing");
        }
    }
    of_children(dir)?.iter().try_for_each(|trace| compare(trace).map(drop))
}

/// The graph of a whole trace, in which both forms are the same.
fn compare(trace: &Path) -> Result<PathBuf> {
    let (graph, compared) = made(trace, true).with_context(|| trace.display().to_string())?;
    ensure!(compared > 0, "{}: nothing was compared", trace.display());
    Ok(graph)
}

/// The traces of forked processes, whose names end in their numbers.
fn of_children(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = entries(dir)?;
    found.retain(|path| {
        let number = path.extension().and_then(|e| e.to_str());
        number.is_some_and(|n| n.parse::<u32>().is_ok())
    });
    Ok(found)
}

/// The files of a program's units.
fn units(source: &Source, dir: &Path) -> Vec<PathBuf> {
    let extension = if source.cxx { "cpp" } else { "c" };
    (0..source.units.len()).map(|i| dir.join(format!("unit{i}.{extension}"))).collect()
}

/// Writes the sources of a program; their files.
pub fn write(source: &Source, dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = units(source, dir);
    files.extend(source.plugin.as_ref().map(|_| dir.join("plugin.c")));
    for (file, text) in files.iter().zip(source.units.iter().chain(&source.plugin)) {
        fs::write(file, text)?;
    }
    Ok(files)
}

/// Builds the program and its modules in a directory of their own, where they find each other;
/// returns the program.
fn build(
    tools: &Toolchain,
    source: &Source,
    kept: Option<&str>,
    flags: &[&str],
    dir: &Path,
    name: &str,
) -> Result<PathBuf> {
    let compile = |to: &Path| compile(tools, source, flags, dir, to);
    let built = match kept {
        Some(kept) => {
            let texts = (&source.units, &source.plugin);
            let from = (texts, source.cxx, source.library, FLAGS, flags);
            toolchain::kept(tools, kept, &from, compile)?
        }
        None => {
            let to = dir.join(name);
            fs::create_dir_all(&to)?;
            compile(&to)?;
            to
        }
    };
    Ok(built.join("program"))
}

fn compile(
    tools: &Toolchain,
    source: &Source,
    flags: &[&str],
    dir: &Path,
    to: &Path,
) -> Result<()> {
    let compile = |words: &[&str], sources: &[PathBuf], output: &str| {
        let mut command = Command::new(tools.compiler_of(&sources[0]));
        let standard = is_cxx(&sources[0]).then_some("-std=c++20");
        command.args(FLAGS).args(standard).args(flags).args(sources);
        command.args(words).arg("-o").arg(to.join(output));
        run(&mut command)?.ok()
    };
    if source.plugin.is_some() {
        for (name, number) in [("one.so", "-DK=1"), ("two.so", "-DK=2")] {
            compile(&["-shared", "-fPIC", number], &[dir.join("plugin.c")], name)?;
        }
    }
    let (mut sources, mut words) = (units(source, dir), Vec::new());
    if source.library
        && let Some(last) = sources.pop()
    {
        compile(&["-shared", "-fPIC"], &[last], "libunit.so")?;
        sources.push(to.join("libunit.so"));
        words.push("-Wl,-rpath,$ORIGIN");
    }
    compile(&words, &sources, "program").map(drop)
}

/// How often the graph has a function of one block.
fn executions(function: &str, graph: &Path) -> Result<u64> {
    let blocks = backend_json(&["blocks"], graph)?;
    let all = blocks["functions"].as_array().context("functions")?;
    let found = all.iter().find(|f| f["function"] == function);
    Ok(found
        .map_or(0, |f| f["executions"].as_u64().unwrap_or(0) / f["blocks"].as_u64().unwrap_or(1)))
}

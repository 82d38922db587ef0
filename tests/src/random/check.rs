//! One program: it is compiled natively and with `--contech-check`, run, and compared. The graph
//! must also count what the program counts itself, so that nothing goes missing from both forms.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::Source;
use super::way::Way;
use crate::process::{Finished, run_for};
use crate::program::Program;
use crate::recording::{backend_json, made};
use crate::scratch::entries;
use crate::toolchain::Toolchain;

const LIMIT: Duration = Duration::from_secs(60);

/// How often a program is recorded whose end is a race.
const RACES: u32 = 4;

/// Flags of every program: they give one result on every level and machine, and save time and
/// files.
const FLAGS: [&str; 5] =
    ["-w", "-fno-crash-diagnostics", "-ffp-contract=off", "-fuse-ld=lld", "-fno-strict-aliasing"];

/// Compiles `source` in `dir`, records both forms in one run, and compares output and recordings.
/// Returns whether clang itself can compile the program at its level: one that it crashes on
/// without our plugin is not compared. What is compiled is `kept` for the next run under that name,
/// if there is one.
///
/// # Errors
/// When anything differs or fails, with what is known of it.
pub fn check(source: &Source, kept: Option<&str>, way: &Way, dir: &Path) -> Result<bool> {
    let program = write(source, dir)?;
    let build = |tools: &Toolchain, flags: &str, name: &str| {
        let to = dir.join(name);
        if to.exists() {
            fs::remove_dir_all(&to)?;
        }
        fs::create_dir(&to)?;
        let mut program = program.clone();
        let (level, flags) = flags.split_once(' ').unwrap_or((flags, ""));
        let level = level.trim_start_matches('-');
        program.flags.extend(flags.split_whitespace().map(str::to_owned));
        match kept {
            Some(kept) => {
                kept.clone_into(&mut program.name);
                tools.program(&program, level, &to)
            }
            None => tools.build(&program, level, &to),
        }
    };
    let native = build(&Toolchain::native(), "-O0", "native")?;
    let checked = format!("{} --contech-check", way.level);
    let recorded = match build(&Toolchain::contech(), &checked, "recorded") {
        Ok(program) => program,
        Err(error) => {
            return match build(&Toolchain::native(), &way.level, "level") {
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

/// Writes the sources of a program, and says what they are.
pub fn write(source: &Source, dir: &Path) -> Result<Program> {
    let extension = if source.cxx { "cpp" } else { "c" };
    let file = |name: &str, text: &str| -> Result<PathBuf> {
        let path = dir.join(name).with_extension(extension);
        fs::write(&path, text)?;
        Ok(path)
    };
    let mut program = Program::default();
    for (i, text) in source.units.iter().enumerate() {
        let unit = file(&format!("unit{i}"), text)?;
        match i {
            0 => program.source = unit,
            _ if source.library => program.shared.push(unit),
            _ => program.with.push(unit),
        }
    }
    if let Some(text) = &source.plugin {
        for (name, number) in [("one", 1), ("two", 2)] {
            program.plugin.push(file(name, &format!("#define K {number}\n{text}"))?);
        }
    }
    let standard = source.cxx.then_some("-std=c++20");
    program.flags = FLAGS.into_iter().chain(standard).map(str::to_owned).collect();
    Ok(program)
}

/// How often the graph has a function of one block.
fn executions(function: &str, graph: &Path) -> Result<u64> {
    let blocks = backend_json(&["blocks"], graph)?;
    let all = blocks["functions"].as_array().context("functions")?;
    let found = all.iter().find(|f| f["function"] == function);
    Ok(found
        .map_or(0, |f| f["executions"].as_u64().unwrap_or(0) / f["blocks"].as_u64().unwrap_or(1)))
}

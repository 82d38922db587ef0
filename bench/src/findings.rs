//! Programs with one planted bottleneck each (`bench/planted`). The first finding of a recorded run should name the
//! bottleneck's cause and line, and should be gone in the mended twin.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::mpi::Mpi;
use contech_tests::outputs::{Outputs, workspace};
use contech_tests::process::run;
use contech_tests::program::is_cxx;
use contech_tests::recording::{backend_json, files};
use serde_json::Value;

use crate::form::Form;
use crate::gain::Gain;

/// A loss below this share of the processors' time counts as gone.
const GONE: f64 = 0.15;
/// A line this close to a marked line is right too.
const NEAR: u64 = 1;

/// A program. Its marked lines end in `// PLANTED: CAUSE`, with one or more causes, each of which is right.
#[derive(Clone, Debug)]
pub struct Planted {
    source: PathBuf,
    /// The right causes; the finding must name one of them.
    pub causes: BTreeSet<String>,
    /// The right lines; the finding must name one of them.
    lines: BTreeSet<u64>,
}

/// The largest loss that was reported for a run.
#[derive(Clone, Debug)]
pub struct Said {
    /// Why time was lost.
    pub cause: String,
    share: f64,
    places: Vec<(String, u64)>,
    /// How many times as fast the run is predicted to be without the loss.
    pub mended: f64,
}

impl Planted {
    /// All programs, sorted by name.
    ///
    /// # Errors
    /// When the folder cannot be read, or a program has no mark.
    pub fn all() -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(workspace().join("bench/planted"))? {
            let source = entry?.path();
            let kind = source.extension().and_then(|kind| kind.to_str());
            if matches!(kind, Some("c" | "cpp")) {
                all.push(Self::of(source)?);
            }
        }
        all.sort_by(|a, b| a.source.cmp(&b.source));
        Ok(all)
    }

    fn of(source: PathBuf) -> Result<Self> {
        let text = fs::read_to_string(&source)?;
        let (mut causes, mut lines) = (BTreeSet::new(), BTreeSet::new());
        for (line, text) in (1..).zip(text.lines()) {
            if let Some((_, mark)) = text.split_once("// PLANTED: ") {
                causes.extend(mark.split(',').map(|cause| cause.trim().to_owned()));
                lines.insert(line);
            }
        }
        ensure!(!lines.is_empty(), "{} has no mark", source.display());
        Ok(Self {
            source,
            causes,
            lines,
        })
    }

    #[must_use]
    pub fn name(&self) -> String {
        let stem = self.source.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// Builds the program, planted or mended.
    ///
    /// # Errors
    /// When the compiler fails; the error has its messages.
    pub fn build(&self, dir: &Path, form: Form, mended: bool) -> Result<PathBuf> {
        fs::create_dir_all(dir)?;
        let program = dir.join(format!("{}.{form:?}.{mended}", self.name()));
        let cxx = is_cxx(&self.source);
        let compiler = form.compiler(cxx);
        let mut command = match self.mpi() {
            Some(mpi) => mpi.compiler(&compiler),
            None => Command::new(compiler),
        };
        if cxx {
            command.arg("-std=c++20");
        }
        if mended {
            command.arg("-DMENDED");
        }
        command
            .args([
                "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-pthread",
            ])
            .arg(&self.source)
            .arg("-o")
            .arg(&program);
        run(&mut command)?.ok()?;
        Ok(program)
    }

    /// How many times as fast the mended twin is, without recording, by `runs` runs of each.
    ///
    /// # Errors
    /// When a program fails.
    pub fn gain(&self, dir: &Path, threads: u32, runs: usize) -> Result<Gain> {
        let program = self.build(dir, Form::Native, false)?;
        let twin = self.build(dir, Form::Native, true)?;
        let [program, twin] = [&program, &twin].map(|built| || self.run_of(built, threads));
        Gain::measured([&program, &twin], runs)
    }

    /// The library whose ranks are the program's threads.
    fn mpi(&self) -> Option<Mpi> {
        self.name().starts_with("mpi_").then_some(Mpi::Mpich)
    }

    /// The command that runs a built program with so many threads, or ranks.
    fn run_of(&self, program: &Path, threads: u32) -> Command {
        let Some(mpi) = self.mpi() else {
            let mut command = Command::new(program);
            command.arg(threads.to_string());
            return command;
        };
        let mut command = mpi.launcher(threads as usize);
        command.arg(program);
        command
    }

    /// Records the program and asks what costs most.
    ///
    /// # Errors
    /// When the program or a tool fails.
    pub fn said(&self, program: &Path, threads: u32) -> Result<Said> {
        let dir = program.with_extension("recording");
        fs::create_dir_all(&dir)?;
        let graph = dir.join("graph.tg");
        let mut command = self.run_of(program, threads);
        command.env("CONTECH_TRACE", dir.join("trace.%r.bin"));
        run(&mut command)?.ok()?;
        let traces = files(&dir, "bin")?;
        let middle = Outputs::locate()?.command("contech-middle");
        run(Command::new(middle).args(traces).arg(&graph))?.ok()?;
        let report = backend_json(&["account"], &graph);
        fs::remove_dir_all(dir)?;
        Said::of(&report?)
    }

    /// Whether the reported cause is right, and whether the line is.
    #[must_use]
    pub fn right(&self, said: &Said) -> (bool, bool) {
        let file = self.source.file_name().unwrap_or_default();
        let near = |line: u64| self.lines.iter().any(|mark| mark.abs_diff(line) <= NEAR);
        let at = |(other, line): &(String, u64)| {
            Path::new(other).file_name() == Some(file) && near(*line)
        };
        let cause = self.causes.contains(&said.cause);
        (cause, said.places.iter().any(at))
    }

    /// Whether the planted bottleneck is not the largest loss that is reported for the mended twin.
    #[must_use]
    pub fn gone(&self, said: &Said) -> bool {
        said.share < GONE || !self.causes.contains(&said.cause)
    }
}

impl Said {
    fn of(report: &Value) -> Result<Self> {
        let losses = report["losses"].as_array().context("no losses")?;
        let none = Value::Null;
        let first = losses.first().unwrap_or(&none);
        let place = |name: &str| {
            let place = &first[name];
            Some((place["file"].as_str()?.to_owned(), place["line"].as_u64()?))
        };
        Ok(Self {
            cause: first["cause"].as_str().unwrap_or("nothing").to_owned(),
            share: first["share"].as_f64().unwrap_or(0.0),
            mended: first["mended"][0].as_f64().unwrap_or(1.0),
            places: ["code", "caller", "wait", "inner"]
                .into_iter()
                .filter_map(place)
                .collect(),
        })
    }

    /// The loss in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        let lines: Vec<String> = self
            .places
            .iter()
            .map(|(_, line)| line.to_string())
            .collect();
        format!(
            "{} {:.0}% ({})",
            self.cause,
            self.share * 100.0,
            lines.join(" ")
        )
    }
}

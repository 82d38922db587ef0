//! Programs with one planted bottleneck each, drawn from `bench/planted`. The first finding of a
//! recorded run should name the bottleneck's cause and line, and should be gone in the mended twin.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use contech_tests::mpi::Mpi;
use contech_tests::outputs::{tool, workspace};
use contech_tests::process::run;
use contech_tests::program::is_cxx;
use contech_tests::recording::{backend, backend_json};
use contech_tests::scratch::files;
use serde_json::Value;

use crate::form::Form;
use crate::gain::Gain;
use crate::generate::{Drawn, draw};

/// A loss below this share of the processors' time counts as gone.
const GONE: f64 = 0.15;
/// A line this close to a marked line is right too.
const NEAR: u64 = 1;
/// The cause of programs that have no bottleneck.
const FINE: &str = "nothing";

/// A program. Its marked lines end in `// PLANTED: CAUSE`, with one or more causes, each of which
/// is right.
#[derive(Clone, Debug)]
pub(crate) struct Planted {
    drawn: Drawn,
    /// The right causes; the finding must name one of them.
    pub(crate) causes: BTreeSet<String>,
    /// The right lines; the finding must name one of them.
    lines: BTreeSet<u64>,
}

/// The largest loss that was reported for a run.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// Why time was lost.
    pub(crate) cause: String,
    share: f64,
    places: Vec<(String, u64)>,
    /// How many times as fast the run is predicted to be without the loss.
    pub(crate) mended: f64,
    /// The same at most, where what it is predicted to be is an estimate.
    pub(crate) at_most: Option<f64>,
    /// The first sentences.
    pub(crate) sentence: String,
    /// Seconds from the end of the program to the answer.
    pub(crate) answer: f64,
}

impl Planted {
    /// The program that a seed draws from a template.
    pub(crate) fn draw(template: &Path, seed: u64, dir: &Path) -> Result<Self> {
        let rust = template.extension().is_some_and(|kind| kind == "rs");
        let dir = if rust { &dir.join("rust") } else { dir };
        let to = if rust { &dir.join("src/bin") } else { dir };
        let drawn = draw(template, seed, to)?;
        if rust {
            let guide = workspace().join("docs/src/guide/rust");
            for file in ["Cargo.toml", "Cargo.lock"] {
                fs::copy(guide.join(file), dir.join(file))?;
            }
        }
        let text = fs::read_to_string(&drawn.source)?;
        let (mut causes, mut lines) = (BTreeSet::new(), BTreeSet::new());
        for (line, text) in (1..).zip(text.lines()) {
            if let Some((_, mark)) = text.split_once("// PLANTED: ") {
                causes.extend(mark.split(',').map(|cause| cause.trim().to_owned()));
                lines.insert(line);
            }
        }
        ensure!(!lines.is_empty(), "{} has no mark", template.display());
        Ok(Self { drawn, causes, lines })
    }

    pub(crate) fn name(&self) -> String {
        stem(&self.drawn.source)
    }

    /// Number of threads that the seed drew.
    pub(crate) fn threads(&self) -> u32 {
        self.drawn.threads
    }

    /// Whether the program has no bottleneck.
    pub(crate) fn is_fine(&self) -> bool {
        self.causes.contains(FINE)
    }

    /// Builds the program, planted or mended.
    pub(crate) fn build(&self, dir: &Path, form: Form, mended: bool) -> Result<PathBuf> {
        let source = if mended { &self.drawn.twin } else { &self.drawn.source };
        if source.extension().is_some_and(|kind| kind == "rs") {
            return build_rust(&dir.join("rust"), &stem(source), form);
        }
        let program = dir.join(format!("{}.{form:?}", stem(source)));
        let tools = form.tools();
        let compiler = tools.compiler_of(source);
        let mut command = match self.mpi() {
            Some(mpi) => mpi.compiler(compiler),
            None => Command::new(compiler),
        };
        command
            .args(is_cxx(source).then_some("-std=c++20"))
            .args(["-O2", "-g", "-w", "-fopenmp", "-pthread", "-I"])
            .arg(workspace().join("bench/scaling"))
            .arg(source)
            .arg("-o")
            .arg(&program);
        if self.name().starts_with("tbb_") {
            command.arg("-ltbb");
        }
        run(&mut command)?.ok()?;
        Ok(program)
    }

    /// How many times as fast the mended twin is, without recording, by `runs` runs of each.
    pub(crate) fn gain(&self, dir: &Path, threads: u32, runs: usize) -> Result<Gain> {
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
    pub(crate) fn said(&self, program: &Path, threads: u32) -> Result<Said> {
        let dir = program.with_extension("recording");
        fs::create_dir_all(&dir)?;
        let graph = dir.join("graph.tg");
        let mut command = self.run_of(program, threads);
        command.env("CONTECH_TRACE", dir.join("trace.%r.bin"));
        run(&mut command)?.ok()?;
        let traces = files(&dir, "bin")?;
        let ended = Instant::now();
        run(tool("contech-middle").args(traces).arg(&graph))?.ok()?;
        let text = backend(&["account"], &graph)?.ok()?.out();
        let answer = ended.elapsed().as_secs_f64();
        let report = backend_json(&["account"], &graph);
        fs::remove_dir_all(dir)?;
        Said::of(&report?, &text, answer)
    }

    /// Whether the reported cause is right, and whether the line is.
    pub(crate) fn right(&self, said: &Said) -> (bool, bool) {
        let file = self.drawn.source.file_name().unwrap_or_default();
        let near = |line: u64| self.lines.iter().any(|mark| mark.abs_diff(line) <= NEAR);
        let at = |(other, line): &(String, u64)| {
            Path::new(other).file_name() == Some(file) && near(*line)
        };
        let cause = self.causes.contains(&said.cause);
        (cause, said.places.iter().any(at))
    }

    /// Whether the planted bottleneck is not the largest loss that is reported for the mended twin.
    pub(crate) fn gone(&self, said: &Said) -> bool {
        said.share < GONE || !self.causes.contains(&said.cause)
    }
}

impl Said {
    fn of(report: &Value, text: &str, answer: f64) -> Result<Self> {
        let losses = report["losses"].as_array().context("no losses")?;
        let none = Value::Null;
        let first = losses.first().unwrap_or(&none);
        let place =
            |place: &Value| Some((place["file"].as_str()?.to_owned(), place["line"].as_u64()?));
        let callers = first["callers"].as_array().into_iter().flatten();
        let named = ["code", "wait", "inner"].map(|name| &first[name]);
        let places = named.into_iter().chain(callers).filter_map(place).collect();
        let words: Vec<&str> = text.split_whitespace().collect();
        let sentence = words.join(" ");
        let fine = ["There is little to gain", "lost nothing by itself"];
        let fine = fine.iter().any(|fine| sentence.contains(fine));
        let cause = first["cause"].as_str().filter(|_| !fine);
        Ok(Self {
            cause: cause.unwrap_or(FINE).to_owned(),
            sentence,
            answer,
            share: first["share"].as_f64().unwrap_or(0.0),
            mended: first["mended"][0].as_f64().unwrap_or(1.0),
            at_most: first["at_most"].as_f64(),
            places,
        })
    }

    /// The loss in a few words.
    pub(crate) fn words(&self) -> String {
        let lines: Vec<String> = self.places.iter().map(|(_, line)| line.to_string()).collect();
        format!("{} {:.0}% ({})", self.cause, self.share * 100.0, lines.join(" "))
    }
}

pub(crate) fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Builds one of the package's programs.
fn build_rust(package: &Path, name: &str, form: Form) -> Result<PathBuf> {
    let mut command = match form {
        Form::Native => Command::new("cargo"),
        _ => tool("cargo-contech"),
    };
    command
        .args((form != Form::Native).then_some("contech"))
        .args(["build", "--release", "--bin", name])
        .env("CARGO_TARGET_DIR", package.join("target"))
        .current_dir(package);
    run(&mut command)?.ok()?;
    let folder =
        if form == Form::Native { "target" } else { "target/contech/x86_64-unknown-linux-gnu" };
    Ok(package.join(folder).join("release").join(name))
}

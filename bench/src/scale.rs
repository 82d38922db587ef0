//! The case studies of `bench/scaling` under `contech scale`: whether its first finding names what was planted,
//! whether the finding is gone in the fixed variant, what observing costs, and whether the recorded graph gives the
//! same picture.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use contech_tests::outputs::Outputs;
use contech_tests::process::run;
use contech_tests::scaling::{Arguments, Case};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ahead::ahead;

/// What `contech scale` calls the cause that is planted in a case.
#[must_use]
pub fn expected(case: &Case, arguments: Arguments) -> &'static [&'static str] {
    match (case.name(), arguments.first().copied().unwrap_or_default()) {
        ("swaptions", _) => &["imbalance"],
        ("barriers", _) => &["barrier"],
        ("grid" | "convoy", _) => &["lock"],
        ("ub", "tiny") => &["lock", "barrier", "imbalance"],
        ("ub", _) => &[
            "lock",
            "barrier",
            "imbalance",
            "inflation",
            "memory",
            "cache",
        ],
        ("serial", _) => &["serialization"],
        ("falseshare", _) => &["contention", "inflation"],
        ("cilksort" | "tinytasks", _) => &["scheduling"],
        _ => &["inflation", "memory", "cache"],
    }
}

/// The name of a program with its arguments in the tables.
#[must_use]
pub fn name(case: &Case, arguments: Arguments) -> String {
    format!("{} {}", case.name(), arguments.join(" "))
}

/// A line of one of the two tables.
#[derive(Debug, Serialize, Deserialize)]
pub enum Line {
    Scaled(Scaled),
    /// A program that was measured and recorded.
    Both(Both),
}

/// One variant under `contech scale`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scaled {
    /// The program and the variant.
    pub name: String,
    /// Whether the variant has the planted cause.
    pub planted: bool,
    /// The names of the planted cause.
    pub expected: Vec<String>,
    /// T_s, T_1 and T_P in seconds.
    pub times: [f64; 3],
    pub speedup: f64,
    /// The findings: cause, share of the processors' time, place.
    pub findings: Vec<(String, f64, String)>,
    /// Wall time of a run with P threads with the observer over that without it, and the same for one thread.
    pub cost: [f64; 2],
}

impl Scaled {
    /// Whether the planted cause costs nothing on this machine, for example because the memory is too fast for so few
    /// processors.
    #[must_use]
    pub fn absent(&self, threads: u32) -> bool {
        self.planted && self.speedup > 0.9 * f64::from(threads)
    }

    /// Whether the first finding names the planted cause, or in a fixed variant no finding of any weight does.
    #[must_use]
    pub fn right(&self) -> bool {
        let named = |(cause, _, _): &&(String, f64, String)| self.expected.contains(cause);
        if self.planted {
            self.findings.first().as_ref().is_some_and(named)
        } else {
            self.findings
                .iter()
                .filter(named)
                .all(|(_, share, _)| *share < 0.1)
        }
    }

    /// The variant's line of the table.
    #[must_use]
    pub fn line(&self, threads: u32) -> String {
        let empty = (String::new(), 0.0, String::new());
        let first = self.findings.first().unwrap_or(&empty);
        let next = self
            .findings
            .get(1)
            .map_or(String::new(), |f| format!("{} {:.0}%", f.0, f.1 * 100.0));
        format!(
            "| {} | {} | {:.3} | {:.3} | {:.3} | {:.2} | {} | {:.0}% | {} | {next} | {} | {:.3} | {:.3} |",
            self.name,
            if self.planted { "planted" } else { "fixed" },
            self.times[0],
            self.times[1],
            self.times[2],
            self.speedup,
            first.0,
            first.1 * 100.0,
            first.2,
            match (self.right(), self.absent(threads)) {
                (true, _) => "yes",
                (false, true) => "scales here",
                (false, false) => "**no**",
            },
            self.cost[0],
            self.cost[1],
        )
    }
}

/// Measures a variant with one and with `threads` threads.
///
/// # Errors
/// What `contech scale` reports, and when its output is malformed.
pub fn scaled(
    case: &Case,
    program: &Path,
    arguments: Arguments,
    planted: bool,
    threads: u32,
    runs: usize,
) -> Result<Scaled> {
    let contech = Outputs::locate()?.dir().join("contech");
    let words = arguments.join(" ");
    let program = program.canonicalize()?;
    let mut command = ahead(&contech);
    command
        .args([
            "scale",
            "--format",
            "json",
            "--estimate",
            "median",
            "--min-time",
            "20ms",
        ])
        .args([
            "--threads",
            &format!("1,{threads}"),
            "--repeat",
            &runs.to_string(),
        ])
        .args([
            "--baseline",
            &format!("'{}' 0 {words}", program.display()),
            "--",
        ])
        .arg(&program)
        .arg("{threads}")
        .args(arguments);
    let json: Value = serde_json::from_str(&run(&mut command)?.ok()?.out())?;
    let number = |value: &Value| value.as_f64().context("a number is missing");
    let point = &json["points"][1];
    let findings = json["findings"].as_array().context("no findings")?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let finding = |f: &Value| Ok((word(&f["cause"]), number(&f["share"])?, word(&f["where"])));
    Ok(Scaled {
        name: name(case, arguments),
        planted,
        expected: expected(case, arguments)
            .iter()
            .map(|cause| (*cause).to_owned())
            .collect(),
        times: [
            number(&json["baseline"])?,
            number(&point["t_1"])?,
            number(&point["t"])?,
        ],
        speedup: number(&point["speedup"]["actual"])?,
        findings: findings.iter().map(finding).collect::<Result<_>>()?,
        cost: [
            cost(&program, threads, arguments, runs)?,
            cost(&program, 1, arguments, runs)?,
        ],
    })
}

/// Observed over native wall time, smallest over smallest, with runs in turn.
fn cost(program: &Path, threads: u32, arguments: Arguments, runs: usize) -> Result<f64> {
    let library = Outputs::locate()?
        .dir()
        .join("libcontech_observe.so")
        .canonicalize()?;
    let file = tempfile()?;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..runs {
        for (observed, best) in best.iter_mut().enumerate() {
            // The environment is set after the priority, because a process that starts another program in its place
            // is not observed.
            let mut command = ahead(Path::new("env"));
            if observed == 1 {
                command
                    .arg(format!("LD_PRELOAD={}", library.display()))
                    .arg(format!("CONTECH_OBSERVE={}", file.display()));
            }
            command.arg(program).arg(threads.to_string());
            command.args(arguments);
            let begin = Instant::now();
            run(&mut command)?.ok()?;
            *best = best.min(begin.elapsed().as_secs_f64());
        }
        // Without this file native runs would have been compared with native ones.
        std::fs::remove_file(&file).context("the observer wrote nothing")?;
    }
    Ok(best[1] / best[0])
}

fn tempfile() -> Result<PathBuf> {
    let dir = contech_tests::outputs::target_dir()
        .join("bench")
        .join("scale");
    std::fs::create_dir_all(&dir)?;
    Ok(dir.join("observation"))
}

/// The diagnoses as a table.
#[must_use]
pub fn table(rows: &[Scaled], threads: u32) -> String {
    let mut text = String::from(
        "| program | variant | T_s | T_1 | T_P | speedup | first finding | share | where | next | right | observed/native: P | 1 |\n\
         |---|---|---:|---:|---:|---:|---|---:|---|---|---|---:|---:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", row.line(threads));
    }
    text
}

/// Shares of the processors' time, measured and from a recorded run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Both {
    /// The program and the variant.
    pub name: String,
    /// Measured shares: scheduling, serialization, imbalance, software delay.
    pub live: [f64; 4],
    /// The same shares of the recorded graph.
    pub recorded: [f64; 4],
}

impl Both {
    /// The program's line of the table.
    #[must_use]
    pub fn line(&self) -> String {
        let pairs = self.live.iter().zip(self.recorded);
        let cells: Vec<String> = pairs
            .map(|(live, recorded)| format!("{:.1}% | {:.1}%", live * 100.0, recorded * 100.0))
            .collect();
        format!("| {} | {} |", self.name, cells.join(" | "))
    }
}

/// Measures and records the same program.
pub fn both(
    case: &Case,
    program: &Path,
    arguments: Arguments,
    threads: u32,
    dir: &Path,
) -> Result<Both> {
    let outputs = Outputs::locate()?;
    let contech = outputs.dir().join("contech");
    let mut live = ahead(&contech);
    live.args([
        "scale",
        "--format",
        "json",
        "--estimate",
        "median",
        "--min-time",
        "1ms",
        "--repeat",
        "3",
    ])
    .args(["--threads", &format!("1,{threads}"), "--"])
    .arg(program.canonicalize()?)
    .arg("{threads}")
    .args(arguments);
    let live: Value = serde_json::from_str(&run(&mut live)?.ok()?.out())?;
    let recorded = recorded(case, arguments, threads, dir)?;
    Ok(Both {
        name: name(case, arguments),
        live: shares(&live["points"][1]["factors"]),
        recorded: shares(&recorded["factors"]),
    })
}

fn shares(factors: &Value) -> [f64; 4] {
    let distribution = &factors["distribution"];
    [
        &distribution["scheduling"],
        &distribution["serialization"],
        &distribution["imbalance"],
        &factors["delay"]["software"],
    ]
    .map(|value| value.as_f64().unwrap_or(f64::NAN))
}

/// The `factors` of a recorded run.
fn recorded(case: &Case, arguments: Arguments, threads: u32, dir: &Path) -> Result<Value> {
    let outputs = Outputs::locate()?;
    let source = case.path();
    let driver = if contech_tests::program::is_cxx(&source) {
        "contech-c++"
    } else {
        "contech-cc"
    };
    let program = dir.join(format!("{}.recorded", case.name()));
    let mut compile = Command::new(outputs.dir().join(driver));
    compile
        .args(["-O2", "-fopenmp", "-pthread"])
        .arg(&source)
        .args(["-lm", "-o"])
        .arg(&program);
    run(&mut compile)?.ok()?;
    let (trace, graph) = (dir.join("scale.bin"), dir.join("scale.tg"));
    let mut recorded = ahead(&program.canonicalize()?);
    recorded
        .arg(threads.to_string())
        .args(arguments)
        .env("CONTECH_TRACE", &trace);
    run(&mut recorded)?.ok()?;
    contech_tests::recording::middle(&trace, &graph)?.ok()?;
    let words = ["factors", "--processors", &threads.to_string()];
    let json = contech_tests::recording::backend_json(&words, &graph);
    for file in [trace, graph] {
        let _ = std::fs::remove_file(file);
    }
    json
}

/// The comparison as a table.
#[must_use]
pub fn comparison(rows: &[Both]) -> String {
    let mut text = String::from(
        "| program | scheduling: measured | recorded | serialization: measured | recorded | imbalance: measured | recorded | software: measured | recorded |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", row.line());
    }
    text
}

//! How well two profiles of a program agree in time: the on-line profile, and that of a recording with times within
//! its tasks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use contech_tests::outputs::Outputs;
use contech_tests::process::run;
use serde_json::Value;

use crate::range::Range;
use crate::workspan::{Program, build, compile};

/// Caller, line, callee, kind.
type Place = (String, u64, String, String);

/// A profile in time: its totals, and each call site's own share of the work.
#[derive(Debug)]
struct Profile {
    work: f64,
    parallelism: f64,
    shares: BTreeMap<Place, f64>,
}

/// Both profiles of a program, round by round.
#[derive(Debug)]
pub struct Agreement {
    pub name: &'static str,
    line: Vec<Profile>,
    graph: Vec<Profile>,
}

/// Profiles a program on-line and from a recording, `runs` times in turn.
pub fn agreement(program: &Program, runs: usize, dir: &Path) -> Result<Agreement> {
    let outputs = Outputs::get();
    let dir = &dir.join(program.label.replace(' ', "-"));
    std::fs::create_dir_all(dir)?;
    let profiled = build(program, dir, "profiled")?;
    let recorded = dir.join(format!("{}.recorded", program.name));
    compile(
        program,
        &mut Command::new(outputs.command("contech-cc")),
        &recorded,
    )?;
    let file = |suffix: &str| dir.join(program.name).with_extension(suffix);
    let mut both = Agreement {
        name: program.label,
        line: Vec::new(),
        graph: Vec::new(),
    };
    for _ in 0..runs.max(1) {
        let mut on_line = Command::new(&profiled);
        on_line.env("CONTECH_PROFILE", file("json"));
        run(on_line.args(program.arguments))?.ok()?;
        let said = std::fs::read_to_string(file("json"))?;
        both.line.push(profile(&serde_json::from_str(&said)?));
        let mut record = Command::new(&recorded);
        record.env("CONTECH_TIMES", "1");
        record.env("CONTECH_TRACE", file("bin"));
        run(record.args(program.arguments))?.ok()?;
        let mut middle = Command::new(outputs.command("contech-middle"));
        run(middle.arg(file("bin")).arg(file("tg")))?.ok()?;
        std::fs::remove_file(file("bin"))?;
        let mut backend = Command::new(outputs.command("contech-backend"));
        backend.args(["workspan", "--format", "json"]);
        let said = run(backend.arg(file("tg")))?.ok()?.out();
        both.graph.push(profile(&serde_json::from_str(&said)?));
        std::fs::remove_file(file("tg"))?;
    }
    Ok(both)
}

fn profile(said: &Value) -> Profile {
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let text = |site: &Value, key: &str| site[key].as_str().unwrap_or_default().to_owned();
    let mut shares = BTreeMap::<Place, f64>::new();
    let mut all = 0.0;
    for site in said["sites"].as_array().into_iter().flatten() {
        let own = number(&site["on_work"]["local"]["work"]);
        // The call site of the program itself has another name in each profile.
        let key = if text(site, "callee") == "main" {
            <_>::default()
        } else {
            let line = site["line"].as_u64().unwrap_or(0);
            let [caller, callee, kind] = ["caller", "callee", "kind"].map(|key| text(site, key));
            (caller, line, callee, kind)
        };
        *shares.entry(key).or_default() += own;
        all += own;
    }
    shares.values_mut().for_each(|share| *share /= all);
    Profile {
        work: number(&said["work"]),
        parallelism: number(&said["parallelism"]),
        shares,
    }
}

/// The fastest round, which was disturbed least.
fn least(profiles: &[Profile]) -> Option<&Profile> {
    profiles.iter().min_by(|a, b| a.work.total_cmp(&b.work))
}

/// How much the two profiles of a program differ in one call site's share of the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Difference {
    /// The difference between the fastest rounds.
    pub share: f64,
    /// The shares in these rounds, on-line and from the graph.
    pub shares: [f64; 2],
    /// The noise: how far the share differs from round to round, in the profile in which it differs more.
    pub spread: f64,
    pub line: u64,
}

impl Agreement {
    /// The share of the work that the calls in these lines have, on-line and from the graph.
    #[must_use]
    pub fn share_of(&self, lines: [u64; 2]) -> [Range; 2] {
        [&self.line, &self.graph].map(|profiles| {
            let of = |p: &Profile| -> f64 {
                let calls = p.shares.iter().filter(|(at, _)| lines.contains(&at.1));
                calls.map(|(_, share)| share).sum()
            };
            Range::of(&profiles.iter().map(of).collect::<Vec<_>>())
        })
    }

    #[must_use]
    pub fn largest(&self) -> Difference {
        let places = self.line.iter().chain(&self.graph);
        let mut places: Vec<&Place> = places.flat_map(|p| p.shares.keys()).collect();
        places.sort_unstable();
        places.dedup();
        let share = |p: &Profile, place: &Place| p.shares.get(place).copied().unwrap_or(0.0);
        let of_least = |profiles: &[Profile], place: &Place| {
            least(profiles).map_or(0.0, |profile| share(profile, place))
        };
        let range = |profiles: &[Profile], place: &Place| {
            let all: Vec<f64> = profiles.iter().map(|p| share(p, place)).collect();
            Range::of(&all).width()
        };
        let differences = places.into_iter().map(|place| {
            let shares = [of_least(&self.line, place), of_least(&self.graph, place)];
            Difference {
                share: (shares[0] - shares[1]).abs(),
                shares,
                spread: range(&self.line, place).max(range(&self.graph, place)),
                line: place.1,
            }
        });
        differences
            .max_by(|a, b| a.share.total_cmp(&b.share))
            .unwrap_or_default()
    }
}

#[must_use]
pub fn table(rows: &[Agreement]) -> String {
    let mut text = String::from(
        "| program | work ms: on-line | from the graph | parallelism: on-line | from the graph | largest difference of a share of the work | on-line | from the graph | its spread from round to round | of the call on line |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let of = |profiles: &[Profile], value: fn(&Profile) -> f64| {
            least(profiles).map_or(f64::NAN, value)
        };
        let work = |profiles: &[Profile]| of(profiles, |p| p.work) / 1e6;
        let parallelism = |profiles: &[Profile]| of(profiles, |p| p.parallelism);
        let Difference {
            share,
            shares,
            spread,
            line,
        } = row.largest();
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {:.2} | {:.2} | {share:.3} | {:.3} | {:.3} | {spread:.3} | {line} |",
            row.name,
            work(&row.line),
            work(&row.graph),
            parallelism(&row.line),
            parallelism(&row.graph),
            shares[0],
            shares[1],
        );
    }
    text
}

//! `cargo bench-findings`: drawn programs with a planted bottleneck, or none, recorded here and
//! now.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::form::Form;
use crate::gain::Gain;
use crate::planted::{Planted, Said};
use crate::spread::median;
use crate::{generate, record};
use anyhow::{Context, Result, ensure};
use clap::Args;
use contech_tests::debian;
use contech_tests::outputs::{home, target_dir};

/// Whether the first finding names the planted cause and line
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Templates (all)
    names: Vec<String>,
    /// The first seed, and the one after the last; each template is drawn in turn [default: one of
    /// each]
    #[arg(long, num_args = 1..=2, value_names = ["FROM", "TO"])]
    generate: Vec<u64>,
    /// Threads [default: as drawn]
    #[arg(long)]
    threads: Option<u32>,
    /// Whether the bottleneck is gone in the mended twin, too
    #[arg(long)]
    twins: bool,
    /// Undisturbed unrecorded runs of each program and of its twin, for the measured gain
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

/// A prediction this close to the measured gain is right.
const CLOSE: f64 = 0.15;
/// A pair that gains less says nothing.
const LEAST: f64 = 1.2;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    debian::ensure(&debian::TEST_PACKAGES)?;
    home();
    let dir = target_dir().join("bench").join("findings");
    let mut templates = generate::templates()?;
    let named = |path: &Path, name: &String| path.file_stem().is_some_and(|stem| *stem == **name);
    let wanted = |path: &Path| arguments.names.iter().any(|name| named(path, name));
    templates.retain(|path| arguments.names.is_empty() || wanted(path));
    ensure!(!templates.is_empty(), "no such template");
    let all = templates.len() as u64;
    let seeds = match *arguments.generate.as_slice() {
        [from, to] => from..to,
        [from] => from..from + all,
        _ => 0..all,
    };
    let mut text = record::heading("The first finding");
    text.push_str("| program, seed | threads | planted | said, share of the processors' time, lines | cause | line | gone in the twin | predicted gain | measured | answer, s |\n|---|---:|---|---|---|---|---|---:|---:|---:|\n");
    let mut rows = Vec::new();
    for seed in seeds {
        let template = templates.get(usize::try_from(seed % all)?).context("a template of each")?;
        let planted = Planted::draw(template, seed, &dir)?;
        let row = match Row::of(&planted, &dir, arguments) {
            Ok(row) => row,
            Err(error) => {
                eprintln!("{}: {error:#}", planted.name());
                let _ = writeln!(text, "| {} | | | failed | | | | | | |", planted.name());
                continue;
            }
        };
        let line = row.line(&planted);
        eprintln!("{line}\n  {}", row.said.sentence);
        text.push_str(&line);
        text.push('\n');
        rows.push(row);
    }
    text.push_str(&summary(&rows));
    record::publish(&text, "findings", arguments.dry)
}

/// What was found of a program.
#[derive(Debug)]
struct Row {
    fine: bool,
    threads: u32,
    said: Said,
    cause: bool,
    line: bool,
    gone: Option<bool>,
    /// Nothing of a program that has no twin.
    gain: Option<Gain>,
}

impl Row {
    fn of(planted: &Planted, dir: &Path, arguments: &Arguments) -> Result<Self> {
        let threads = arguments.threads.unwrap_or(planted.threads());
        let fine = planted.is_fine();
        let said = planted.said(&planted.build(dir, Form::Fast, false)?, threads)?;
        let (cause, line) = planted.right(&said);
        let gone = (arguments.twins && !fine).then(|| {
            let twin = planted.build(dir, Form::Fast, true)?;
            anyhow::Ok(planted.gone(&planted.said(&twin, threads)?))
        });
        let gain = (!fine).then(|| planted.gain(dir, threads, arguments.runs));
        Ok(Self {
            fine,
            threads,
            cause,
            line: line || fine,
            gone: gone.transpose()?,
            gain: gain.transpose()?,
            said,
        })
    }

    /// Whether the pair says something.
    fn counts(&self) -> bool {
        self.gain.is_none_or(|gain| gain.times >= LEAST)
    }

    /// How far the prediction is from the measured gain, as a factor of at least one.
    fn off(&self) -> Option<f64> {
        let ratio = self.said.mended / self.gain?.times;
        Some(ratio.max(1.0 / ratio))
    }

    /// Whether the measured gain is within the predicted range, or as close to it as a right
    /// prediction is.
    fn in_range(&self) -> Option<bool> {
        let (least, times) = (self.said.mended, self.gain?.times);
        let most = self.said.at_most.unwrap_or(least);
        let close = 1.0 + CLOSE;
        Some(least / close <= times && times <= most * close)
    }

    fn line(&self, planted: &Planted) -> String {
        let causes: Vec<&str> = planted.causes.iter().map(String::as_str).collect();
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        let gain = self.gain.map_or_else(String::new, |gain| {
            let thrown = if self.counts() { "" } else { " (does not count)" };
            let quiet = if gain.quiet { "" } else { " (disturbed)" };
            format!("{:.2}{quiet}{thrown}", gain.times)
        });
        let most = self.said.at_most;
        let most = most.map_or_else(String::new, |most| format!(" to {most:.2}"));
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {:.2}{most} | {gain} | {:.1} |",
            planted.name(),
            self.threads,
            causes.join(", "),
            self.said.words(),
            yes(self.cause),
            yes(self.line),
            self.gone.map_or("", yes),
            self.said.mended,
            self.said.answer
        )
    }
}

/// How many are right, by number of threads.
fn summary(rows: &[Row]) -> String {
    let mut text = String::from(
        "\n| threads | programs | cause right | cause and line | gain within 15% | within its range | fine ones called fine | median answer, s |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut by_threads: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.counts()) {
        by_threads.entry(row.threads).or_default().push(row);
    }
    for (threads, rows) in by_threads {
        let (fine, planted): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.fine);
        let count = |which: fn(&Row) -> bool| planted.iter().filter(|row| which(row)).count();
        let answers: Vec<f64> = rows.iter().map(|row| row.said.answer).collect();
        let _ = writeln!(
            text,
            "| {threads} | {} | {} | {} | {} | {} | {} of {} | {:.1} |",
            planted.len(),
            count(|row| row.cause),
            count(|row| row.cause && row.line),
            count(|row| row.off().is_some_and(|off| off <= 1.0 + CLOSE)),
            count(|row| row.in_range() == Some(true)),
            fine.iter().filter(|row| row.cause).count(),
            fine.len(),
            median(&answers)
        );
    }
    text
}

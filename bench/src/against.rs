//! The results of two versions of the analyses on the same graphs: whether they are equal, and what they cost.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::outputs::Outputs;

use crate::analyses::{Input, recorded};
use crate::measure::measure;
use crate::programs::{Class, PROGRAMS};

/// How much less than in other tables a program is repeated; all analyses of all programs run twice.
const LESS: u64 = 25;

/// The words that print a result of a graph alone: all analyses, and the report.
fn words(backend: &Path) -> Result<Vec<String>> {
    let (list, _) = measure(Command::new(backend).arg("--list"))?;
    let list = String::from_utf8(list)?;
    let words = list
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let others = ["profile", "export", "dump", "verify"];
    Ok(words
        .filter(|word| !others.contains(word))
        .map(ToOwned::to_owned)
        .collect())
}

/// The JSON of a result, and the CPU seconds it took. Whether there is one is a result, too.
fn result(backend: &Path, word: &str, graph: &Path) -> (Option<Vec<u8>>, f64) {
    let mut command = Command::new(backend);
    command.arg(word).arg(graph).args(["--format", "json"]);
    match measure(&mut command) {
        Ok((json, used)) => (Some(json), used.cpu().as_secs_f64()),
        Err(_) => (None, 0.0),
    }
}

/// Compares all results of all measured programs with those of the `contech-backend` in a folder, and adds a table of
/// CPU times.
///
/// # Errors
/// When a result differs; the message names all that do.
pub fn against(folder: &Path, scratch: &Path, text: &mut String) -> Result<()> {
    let (before, now) = (
        folder.join("contech-backend"),
        Outputs::get().command("contech-backend"),
    );
    let words = words(&now)?;
    let _ = writeln!(
        text,
        "\nCPU seconds of all results of a program, before and now\n\n| program | M accesses | before | now | slowest now |\n|---|---:|---:|---:|---|"
    );
    let mut different = Vec::new();
    for program in &PROGRAMS {
        let affine = program.class == Class::Affine;
        let reps = (program.reps / LESS).max(1);
        let (input, _) = recorded(program.name(), affine, reps, scratch)?;
        let (mut sums, mut slowest) = ((0.0, 0.0), (0.0, ""));
        for word in &words {
            let (old, new) = (
                result(&before, word, &input.graph),
                result(&now, word, &input.graph),
            );
            if old.0 != new.0 {
                different.push(format!("{word} of {}", input.name));
            }
            sums = (sums.0 + old.1, sums.1 + new.1);
            if new.1 > slowest.0 {
                slowest = (new.1, word);
            }
        }
        row(text, &input, sums, slowest);
        std::fs::remove_file(&input.graph)?;
    }
    ensure!(
        different.is_empty(),
        "results differ: {}",
        different.join(", ")
    );
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn row(text: &mut String, input: &Input, sums: (f64, f64), slowest: (f64, &str)) {
    let _ = writeln!(
        text,
        "| {} | {:.1} | {:.2} | {:.2} | {} {:.2} |",
        input.name,
        input.accesses as f64 / 1e6,
        sums.0,
        sums.1,
        slowest.1,
        slowest.0
    );
    eprintln!("{}", text.lines().last().unwrap_or_default());
}

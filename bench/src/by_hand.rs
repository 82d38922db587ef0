//! fft timed by hand: the share of its small transforms in the native time, compared with what both profiles say.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::process::run;

use crate::agreement::Agreement;
use crate::range::Range;
use crate::workspan::Program;

/// The share of the small transforms in the native time of the fft program, over so many runs.
pub fn natively(program: &Program, runs: usize, dir: &Path) -> Result<Range> {
    std::fs::create_dir_all(dir)?;
    let executable = dir.join("by_hand");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("programs/fft_by_hand.c");
    let mut clang = Command::new("clang-22");
    clang.args(["-O2", "-w"]).args(program.defines);
    clang.arg("-I").arg(root.join("../instrument/cc/include"));
    run(clang.arg(source).arg("-o").arg(&executable))?.ok()?;
    let mut shares = Vec::new();
    for _ in 0..runs.max(1) {
        let said = run(&mut Command::new(&executable))?.ok()?.out();
        shares.push(said.trim().parse().context("a share")?);
    }
    Ok(Range::of(&shares))
}

/// The lines of `fft.c` that call the small transforms: the two after the `else`.
pub fn lines() -> Result<[u64; 2]> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/cilk/fft.c");
    let text = std::fs::read_to_string(source)?;
    let before = text.lines().position(|line| line.trim() == "} else {");
    let first = before.context("no else in fft.c")? as u64 + 2;
    Ok([first, first + 1])
}

#[must_use]
pub fn table(rows: &[(Range, &Agreement)], lines: [u64; 2]) -> String {
    let mut text = String::from(
        "| program | natively, by hand | on-line | from the graph |\n|---|---:|---:|---:|\n",
    );
    for (native, both) in rows {
        let [line, graph] = both.share_of(lines);
        let _ = write!(text, "| {} |", both.name);
        for Range { least, most } in [*native, line, graph] {
            let _ = write!(text, " {least:.3} to {most:.3} |");
        }
        text.push('\n');
    }
    text
}

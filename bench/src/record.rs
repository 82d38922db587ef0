//! The table, and the dated file it goes to.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::middle::Conversion;
use crate::pairs::Cost;
use crate::spread::geometric_mean;

/// Everything measured of one program.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Trace thrown away.
    pub null: Cost,
    /// Trace kept in a file in memory.
    pub kept: Cost,
    /// That trace made a graph, by one thread.
    pub middle: Conversion,
}

/// The table in Markdown with geometric means and what it was measured on.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub fn render(rows: &[Row], runs: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# Cost of recording, {}\n",
        said("date", &["-u", "+%F %H:%M UTC"])
    );
    let _ = writeln!(text, "{}\n", machine());
    let _ = writeln!(
        text,
        "Command: `{}`. {runs} runs of each, native and recorded alternating, after one to warm up. Ratios are \
         recorded over native, smallest over smallest (median over median where said). *null*: the trace is \
         thrown away; *kept*: written to a file in memory, on an input {} times smaller. Middle: one thread, the \
         kept trace.\n",
        std::env::args().collect::<Vec<_>>().join(" "),
        crate::programs::KEPT_SHARE
    );
    text.push_str(
        "| program | native s | null user | median | null user+sys | null wall | B/access | kept user | kept user+sys | kept wall | trace MB | middle MB/s | peak MB | graph % |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for r in rows {
        let _ = writeln!(
            text,
            "| {} | {:.3} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} | {:.0} | {:.0} | {:.1} |",
            r.name,
            r.null.native_user,
            r.null.user,
            r.null.user_median,
            r.null.cpu,
            r.null.wall,
            r.null.bytes_per_access(),
            r.kept.user,
            r.kept.cpu,
            r.kept.wall,
            r.middle.trace_bytes as f64 / 1e6,
            r.middle.mb_per_cpu_second,
            r.middle.peak_bytes as f64 / 1e6,
            100.0 * r.middle.graph_bytes as f64 / r.middle.trace_bytes as f64,
        );
    }
    let mean = |f: &dyn Fn(&Row) -> f64| geometric_mean(&rows.iter().map(f).collect::<Vec<_>>());
    let _ = writeln!(
        text,
        "| **geometric mean** | | **{:.2}** | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | **{:.2}** | {:.2} | | **{:.0}** | | {:.1} |",
        mean(&|r| r.null.user),
        mean(&|r| r.null.user_median),
        mean(&|r| r.null.cpu),
        mean(&|r| r.null.wall),
        mean(&|r| r.null.bytes_per_access()),
        mean(&|r| r.kept.user),
        mean(&|r| r.kept.cpu),
        mean(&|r| r.kept.wall),
        mean(&|r| r.middle.mb_per_cpu_second),
        mean(&|r| 100.0 * r.middle.graph_bytes as f64 / r.middle.trace_bytes as f64),
    );
    text
}

/// Writes the text to `record/DATE-what.md` beside this crate's sources, never over an older one.
///
/// # Errors
/// When it cannot be written.
pub fn save(text: &str, what: &str) -> Result<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("record");
    fs::create_dir_all(&dir)?;
    let file = dir.join(format!("{}-{what}.md", said("date", &["-u", "+%F-%H%M"])));
    fs::write(&file, text).with_context(|| file.display().to_string())?;
    Ok(file)
}

/// Processor, cores, kernel, compiler, revision.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        info.lines()
            .find(|l| l.starts_with(key))
            .and_then(|l| l.split_once(": "))
            .map_or("?", |(_, v)| v)
    };
    format!(
        "{} ({} cores), cache {}, Linux {}, {}, revision {}",
        field("model name"),
        info.lines().filter(|l| l.starts_with("processor")).count(),
        field("cache size"),
        said("uname", &["-r"]),
        said("clang-22", &["--version"])
            .lines()
            .next()
            .unwrap_or("?"),
        said("git", &["describe", "--always", "--dirty"]),
    )
}

fn said(program: &str, arguments: &[&str]) -> String {
    let out = Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    out.map_or_else(
        |_| "?".to_owned(),
        |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
    )
}

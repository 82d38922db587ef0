//! `cargo demo`: a multi-threaded program that nobody here wrote is recorded, turned into a task graph, and analysed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use contech_tests::debian;
use contech_tests::outputs::{Outputs, target_dir, workspace};
use contech_tests::process::line_of;

struct Subject {
    /// A description for the reader of the output.
    what: String,
    /// The unpacked source.
    tree: PathBuf,
    make: &'static [&'static str],
    /// The program that `make` builds.
    program: &'static str,
    /// The program's arguments; it writes its result to standard output.
    arguments: &'static [&'static str],
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    heading("what is needed");
    debian::ensure(&debian::DEMO_PACKAGES)?;
    println!("building contech (release)");
    let outputs = Outputs::locate()?;
    let dir = target_dir().join("demo");
    fs::create_dir_all(&dir)?;
    let dir = dir.canonicalize()?;
    let subject = subject(&dir)?;

    heading(&format!(
        "1. {}: build it twice, with its own Makefile",
        subject.what
    ));
    let native = build(&subject, &dir.join("native"), Path::new("clang-22"))?;
    let traced = build(&subject, &dir.join("traced"), &outputs.cc())?;

    heading("2. the same run, natively and recorded");
    let input = input(&dir)?;
    println!(
        "input: {} ({} bytes)",
        input.display(),
        fs::metadata(&input)?.len()
    );
    let expected = output_of(&native, &subject, &dir, None)?;
    let (trace, graph) = (dir.join("trace.bin"), dir.join("graph.tg"));
    let recorded = output_of(&traced, &subject, &dir, Some(&trace))?;
    if expected != recorded {
        bail!(
            "the recorded run wrote {} bytes that differ from the native run's {}",
            recorded.len(),
            expected.len()
        );
    }
    println!("both wrote the same {} bytes", expected.len());
    println!(
        "trace: {} ({} MB)",
        trace.display(),
        fs::metadata(&trace)?.len() / 1_000_000
    );

    heading("3. the task graph");
    show(
        Command::new(outputs.command("contech-middle"))
            .arg(&trace)
            .arg(&graph),
    )?;
    println!(
        "graph: {} ({} MB)",
        graph.display(),
        fs::metadata(&graph)?.len() / 1_000_000
    );
    show(
        Command::new(outputs.command("contech-backend"))
            .arg("verify")
            .arg(&graph),
    )?;

    heading("4. the analyses");
    for analysis in [
        &["parallelism"][..],
        &["blocks"],
        &["cache", "--sizes", "1K..4M", "--ways", "8"],
    ] {
        let mut command = Command::new(outputs.command("contech-backend"));
        command.arg(analysis[0]).arg(&graph).args(&analysis[1..]);
        show_first(&mut command, 40)?;
    }

    heading("5. the report");
    let report = dir.join("report.html");
    show(
        Command::new(outputs.command("contech-backend"))
            .arg("report")
            .arg(&graph)
            .arg("-o")
            .arg(&report),
    )?;
    fs::remove_file(&trace)?; // the graph holds the same in less space
    println!(
        "\nreport: {}\n        open it in any browser; it needs no network",
        report.display()
    );
    println!("graph:  {}", graph.display());
    Ok(())
}

/// zstd from Debian's archive. Without network it is a program of ours, and the output says so.
fn subject(dir: &Path) -> Result<Subject> {
    println!("fetching the source of Debian's libzstd");
    match debian::source("libzstd", dir) {
        Ok(tree) => Ok(Subject {
            what: tree
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            tree,
            make: &[
                "-C",
                "programs",
                "-j2",
                "zstd",
                "MOREFLAGS=-g",
                "HAVE_ZLIB=0",
                "HAVE_LZMA=0",
                "HAVE_LZ4=0",
                "ZSTD_LEGACY_SUPPORT=0",
            ],
            program: "programs/zstd",
            arguments: &["-c", "-q", "-3", "-T2", "-B524288", "input.tar"],
        }),
        Err(error) => {
            println!("cannot fetch it: {error:#}");
            println!("FALLING BACK to a parallel program of our own (tests/projects/demo)");
            Ok(Subject {
                what: "our own parallel sort".to_owned(),
                tree: workspace().join("tests/projects/demo"),
                make: &["-j2"],
                program: "sort",
                arguments: &["2", "input.tar"],
            })
        }
    }
}

fn build(subject: &Subject, to: &Path, cc: &Path) -> Result<PathBuf> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    quietly(Command::new("cp").arg("-a").arg(&subject.tree).arg(to))?;
    let begun = Instant::now();
    let mut make = Command::new("make");
    make.current_dir(to)
        .arg("-s")
        .args(subject.make)
        .arg(format!("CC={}", cc.display()));
    println!("$ {}", line_of(&make));
    quietly(&mut make)?;
    println!("  {:.1} s", begun.elapsed().as_secs_f64());
    Ok(to.join(subject.program))
}

/// Real input that every machine with this repository has: the repository's own sources in one archive.
fn input(dir: &Path) -> Result<PathBuf> {
    let tar = dir.join("input.tar");
    let mut command = Command::new("tar");
    command.current_dir(workspace()).arg("-cf").arg(&tar);
    command.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0"]);
    command.args([
        "runtime",
        "taskgraph",
        "middle",
        "backends",
        "tests",
        "Cargo.toml",
        "Cargo.lock",
    ]);
    quietly(&mut command)?;
    // The input gives two threads several blocks of work, and a trace of moderate size.
    let bytes = fs::read(&tar)?;
    fs::write(&tar, &bytes[..bytes.len().min(4_000_000)])?;
    Ok(tar)
}

fn output_of(
    program: &Path,
    subject: &Subject,
    dir: &Path,
    trace: Option<&Path>,
) -> Result<Vec<u8>> {
    let mut command = Command::new(program);
    command.current_dir(dir).args(subject.arguments);
    match trace {
        Some(trace) => {
            println!(
                "$ CONTECH_TRACE={} {} > recorded",
                trace.display(),
                line_of(&command)
            );
            command.env("CONTECH_TRACE", trace);
        }
        None => println!("$ {} > expected", line_of(&command)),
    }
    let begun = Instant::now();
    let done = command.output().with_context(|| line_of(&command))?;
    if !done.status.success() {
        bail!(
            "{} failed: {}\n{}",
            line_of(&command),
            done.status,
            String::from_utf8_lossy(&done.stderr)
        );
    }
    println!("  {:.2} s", begun.elapsed().as_secs_f64());
    Ok(done.stdout)
}

/// Runs a command and shows its output only if it fails.
fn quietly(command: &mut Command) -> Result<()> {
    let done = command.output().with_context(|| line_of(command))?;
    if !done.status.success() {
        let said = [done.stdout, done.stderr].concat();
        bail!(
            "{} failed: {}\n{}",
            line_of(command),
            done.status,
            String::from_utf8_lossy(&said)
        );
    }
    Ok(())
}

/// Shows a command and its output.
fn show(command: &mut Command) -> Result<()> {
    show_first(command, usize::MAX)
}

/// Shows a command and the first `lines` lines of its output.
fn show_first(command: &mut Command, lines: usize) -> Result<()> {
    println!("\n$ {}", line_of(command));
    let begun = Instant::now();
    let done = command.output().with_context(|| line_of(command))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        bail!(
            "{} failed: {}
{said}",
            line_of(command),
            done.status
        );
    }
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    for line in text.lines().take(lines) {
        println!("{line}");
    }
    if text.lines().count() > lines {
        println!("... ({} more lines)", text.lines().count() - lines);
    }
    println!("  {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn heading(text: &str) {
    println!("\n=== {text} ===");
}

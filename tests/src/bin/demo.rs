//! `cargo demo`: zstd from Debian's archive, which nobody here wrote, is built twice by its own
//! Makefile, run natively, and recorded and analysed by `contech run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use contech_tests::debian;
use contech_tests::outputs::{locate, target_dir, workspace};
use contech_tests::process::{exit, line_of};

/// What zstd's Makefile is asked for.
const MAKE: [&str; 10] = [
    "-s",
    "-C",
    "programs",
    "-j2",
    "zstd",
    "MOREFLAGS=-g",
    "HAVE_ZLIB=0",
    "HAVE_LZMA=0",
    "HAVE_LZ4=0",
    "ZSTD_LEGACY_SUPPORT=0",
];
/// It compresses with two threads, several blocks for each.
const ARGUMENTS: [&str; 7] = ["-q", "-f", "-3", "-T2", "-B524288", "input.tar", "-o"];
/// Bytes of the input: enough for several blocks of work, and a trace of moderate size.
const INPUT: usize = 4_000_000;

fn main() -> ExitCode {
    exit(run().map(|()| true))
}

fn run() -> Result<()> {
    debian::ensure(&debian::DEMO_PACKAGES)?;
    println!("building contech (release)");
    let home = locate()?;
    let dir = target_dir().join("demo");
    fs::create_dir_all(&dir)?;
    let dir = dir.canonicalize()?;
    println!("fetching the source of Debian's libzstd");
    let tree = debian::source("libzstd", &dir)?;
    let native = build(&tree, &dir.join("native"), Path::new("clang-22"))?;
    let traced = build(&tree, &dir.join("traced"), &home.join("contech-cc"))?;
    input(&dir)?;
    done(Command::new(native).current_dir(&dir).args(ARGUMENTS).arg("native.zst"))?;
    let mut record = Command::new(home.join("contech"));
    record.args(["run", "-o", "out", "--"]).arg(traced);
    done(record.current_dir(&dir).args(ARGUMENTS).arg("recorded.zst"))?;
    let [expected, recorded] = ["native.zst", "recorded.zst"].map(|name| fs::read(dir.join(name)));
    ensure!(expected? == recorded?, "the two runs wrote different bytes");
    println!(
        "\nboth runs wrote the same bytes; open the page in any browser, it needs no network:"
    );
    println!("{}", dir.join("out/report.html").display());
    Ok(())
}

/// A copy of the tree, built with this compiler; its program.
fn build(tree: &Path, to: &Path, cc: &Path) -> Result<PathBuf> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    done(Command::new("cp").arg("-a").arg(tree).arg(to))?;
    let mut make = Command::new("make");
    make.current_dir(to).args(MAKE).arg(format!("CC={}", cc.display()));
    done(make.stdout(Stdio::null()))?;
    Ok(to.join("programs/zstd"))
}

/// Real input that every machine with this repository has: the repository's own sources in one
/// archive.
fn input(dir: &Path) -> Result<()> {
    let tar = dir.join("input.tar");
    let mut command = Command::new("tar");
    command.current_dir(workspace()).arg("-cf").arg(&tar);
    command.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0"]);
    done(command.args(["runtime", "taskgraph", "middle", "backends", "tests"]))?;
    let bytes = fs::read(&tar)?;
    fs::write(&tar, &bytes[..bytes.len().min(INPUT)])?;
    Ok(())
}

/// Shows a command, runs it, and says how long it took.
fn done(command: &mut Command) -> Result<()> {
    println!("\n$ {}", line_of(command));
    let begun = Instant::now();
    let status = command.status()?;
    if !status.success() {
        bail!("{} failed: {status}", line_of(command));
    }
    println!("  {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

//! Programs nobody here wrote, from Debian's archive, built by their own build systems with only CC and CXX
//! replaced: byte-identical output with tracing on, at 1, 2 and 4 threads, and well-formed graphs.
//!
//! Without network there is nothing to build: the trials are reported as ignored, never as passed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use contech_tests::debian;
use contech_tests::outputs::{Outputs, target_dir};
use contech_tests::process::{Finished, run, run_for};
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use libtest_mimic::{Arguments, Failed, Trial};

/// A Debian source package and how its own build system is called.
struct Package {
    name: &'static str,
    /// Shell commands in the source tree; `$CC` and `$CXX` are set.
    build: &'static str,
    /// The program it makes.
    program: &'static str,
    /// Compresses standard input to standard output with `{}` threads.
    arguments: &'static str,
    /// Bytes of input: enough for several blocks of work.
    input: usize,
}

const PACKAGES: [Package; 4] = [
    // make, C
    Package {
        name: "pigz",
        build: "make -j2 CC=\"$CC\" pigz",
        program: "pigz",
        arguments: "-c -n -p {} -b 64 input",
        input: 400_000,
    },
    // make, C++
    Package {
        name: "pbzip2",
        build: "make -j2 CXX=\"$CXX\" pbzip2",
        program: "pbzip2",
        arguments: "-c -k -b1 -1 -p{} input",
        input: 400_000,
    },
    // autotools, C, a shared library of its own
    Package {
        name: "xz-utils",
        build: "./configure -q --disable-doc --disable-scripts --disable-nls --disable-shared --disable-rpath && make -s -j2",
        program: "src/xz/xz",
        arguments: "-c -k -0 -T{} --block-size=100000 input",
        input: 400_000,
    },
    // CMake, C
    Package {
        name: "libzstd",
        build: "cmake -S build/cmake -B out -DCMAKE_BUILD_TYPE=Release -DZSTD_LEGACY_SUPPORT=OFF -DZSTD_BUILD_TESTS=OFF && cmake --build out -j2 --target zstd",
        program: "out/programs/zstd",
        arguments: "-c -q -1 -T{} -B100000 input",
        input: 400_000,
    },
];

fn main() {
    let arguments = Arguments::from_args();
    if !arguments.list {
        Outputs::get();
    }
    let online = arguments.list || reachable();
    let trials = PACKAGES
        .iter()
        .map(|package| {
            Trial::test(package.name, || {
                trial(package).map_err(|e| Failed::from(format!("{e:#}")))
            })
            .with_ignored_flag(!online)
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// Whether the archive's source lists can be read; says why not.
fn reachable() -> bool {
    match debian::source("pigz", &cache()) {
        Ok(_) => true,
        Err(error) => {
            println!("no Debian archive, real programs are not tested: {error:#}");
            false
        }
    }
}

/// Sources are kept between runs; they are versioned by Debian.
fn cache() -> PathBuf {
    target_dir().join("tmp/contech/debian")
}

fn trial(package: &Package) -> Result<()> {
    let scratch = Scratch::new(&format!("real/{}", package.name))?;
    let tree = debian::source(package.name, &cache())?;
    let input = input(package.input)?;
    let native = build(
        package,
        &tree,
        &scratch.join("native"),
        &Toolchain::native(),
    )?;
    let traced = build(
        package,
        &tree,
        &scratch.join("traced"),
        &Toolchain::contech(),
    )?;
    for threads in [1, 2, 4] {
        let plain = compress(package, &native, threads, scratch.dir(), &input)?;
        let plain = run(&mut { plain })?.ok()?;
        let traces = scratch.join(format!("traces{threads}"));
        let mut command = compress(package, &traced, threads, scratch.dir(), &input)?;
        let recording = Recording::of(&mut command, &traces)?;
        same(&plain, &recording.run, threads)?;
        let graphs = recording.graphs(true)?;
        let graph = graphs.first().context("a trace")?;
        let stats = backend_json(&["stats"], graph)?;
        let contexts = stats["contexts"].as_u64().context("contexts")?;
        if threads > 1 && contexts < threads {
            bail!("{threads} threads, but {contexts} contexts: {stats}");
        }
        fs::remove_dir_all(&traces)?;
    }
    scratch.done();
    Ok(())
}

fn build(package: &Package, tree: &Path, to: &Path, tools: &Toolchain) -> Result<PathBuf> {
    run(Command::new("cp").arg("-a").arg(tree).arg(to))?.ok()?;
    let mut shell = Command::new("sh");
    shell.current_dir(to).args(["-ec", package.build]);
    shell
        .env("CC", tools.compiler(false))
        .env("CXX", tools.compiler(true));
    run_for(&mut shell, Duration::from_secs(600))?.ok()?;
    let program = to.join(package.program);
    if !program.exists() {
        bail!(
            "{} was built, but there is no {}",
            package.name,
            program.display()
        );
    }
    Ok(program)
}

fn compress(
    package: &Package,
    program: &Path,
    threads: u64,
    dir: &Path,
    input: &[u8],
) -> Result<Command> {
    fs::write(dir.join("input"), input)?;
    let mut command = Command::new(program);
    let arguments = package.arguments.replace("{}", &threads.to_string());
    command.current_dir(dir).args(arguments.split(' '));
    Ok(command)
}

fn same(native: &Finished, traced: &Finished, threads: u64) -> Result<()> {
    if native.status != traced.status
        || native.stdout != traced.stdout
        || native.stderr != traced.stderr
    {
        bail!(
            "at {threads} threads the recorded run differs: {} and {} bytes\n{}\n{}",
            native.stdout.len(),
            traced.stdout.len(),
            native.err(),
            traced.err()
        );
    }
    Ok(())
}

/// Text that every checkout has: this crate's own sources, repeated as often as needed.
fn input(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files: Vec<_> = fs::read_dir(dir)?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    while bytes.len() < size {
        for file in &files {
            bytes.extend(fs::read(file)?);
        }
    }
    bytes.truncate(size);
    Ok(bytes)
}

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
    /// Its arguments for `{}` threads, in a directory beside the input; the result goes to standard output.
    arguments: &'static str,
    /// What it works on.
    input: Input,
}

/// What a program works on.
#[derive(Clone, Copy)]
enum Input {
    /// So many bytes of text, in `input`: enough for several blocks of work.
    Text(usize),
    /// The package's own two mitochondrial genomes, cut into reads, in `genomes.fa` and `reads.fa`.
    Genomes,
}

const PACKAGES: [Package; 4] = [
    // make, C, hand-written SSE
    Package {
        name: "minimap2",
        build: "make -s -j2 CC=\"$CC\" minimap2",
        program: "minimap2",
        arguments: "-c -t{} ../genomes.fa ../reads.fa",
        input: Input::Genomes,
    },
    // make, C++
    Package {
        name: "pbzip2",
        // Written before C++11 took "text"MACRO for a user-defined literal.
        build: "CPPFLAGS=-Wno-reserved-user-defined-literal make -s CXX=\"$CXX\" pbzip2",
        program: "pbzip2",
        arguments: "-c -k -b1 -1 -p{} ../input",
        input: Input::Text(400_000),
    },
    // autotools, C, a shared library of its own
    Package {
        name: "xz-utils",
        build: "./configure -q --disable-doc --disable-scripts --disable-nls --disable-shared --disable-rpath && make -s -j2",
        program: "src/xz/xz",
        arguments: "-c -k -0 -T{} --block-size=100000 ../input",
        input: Input::Text(400_000),
    },
    // CMake, C
    Package {
        name: "libzstd",
        build: "cmake -S build/cmake -B out -DCMAKE_BUILD_TYPE=Release -DZSTD_LEGACY_SUPPORT=OFF -DZSTD_BUILD_TESTS=OFF && cmake --build out -j2 --target zstd",
        program: "out/programs/zstd",
        arguments: "-c -q -1 -T{} -B524288 ../input",
        input: Input::Text(3_000_000),
    },
];

fn main() {
    let arguments = Arguments::from_args();
    if !arguments.list {
        Outputs::get();
    }
    let mut trials = Vec::new();
    let mut fetched = 0;
    for package in &PACKAGES {
        let there = arguments.list || available(package.name);
        fetched += usize::from(there);
        let test = || trial(package).map_err(|e| Failed::from(format!("{e:#}")));
        trials.push(Trial::test(package.name, test).with_ignored_flag(!there));
    }
    // An archive that has some of them but not three shows less than is claimed.
    let enough = move || match fetched {
        0 | 3.. => Ok(()),
        few => Err(Failed::from(format!(
            "only {few} of {} sources could be fetched",
            PACKAGES.len()
        ))),
    };
    trials.push(Trial::test("three_programs_or_no_network", enough));
    libtest_mimic::run(&arguments, trials).exit();
}

/// Whether the source can be had; says why not.
fn available(name: &str) -> bool {
    match debian::source(name, &cache()) {
        Ok(_) => true,
        Err(error) => {
            println!("not tested: {error:#}");
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
    write_input(package.input, &tree, &scratch)?;
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
        let plain = run(&mut command(package, &native, threads)?)?.ok()?;
        if plain.stdout.len() < 1000 {
            bail!("too little output to compare: {plain}");
        }
        let traces = scratch.join(format!("traces{threads}"));
        let recording = Recording::of(&mut command(package, &traced, threads)?, &traces)?;
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

/// The program by the same name in both builds, each in its own directory.
fn command(package: &Package, program: &Path, threads: u64) -> Result<Command> {
    let place = program
        .ancestors()
        .find(|d| d.ends_with("native") || d.ends_with("traced"));
    let place = place.with_context(|| program.display().to_string())?;
    let mut command = Command::new(Path::new("./").join(package.program));
    let arguments = package.arguments.replace("{}", &threads.to_string());
    command.current_dir(place).args(arguments.split(' '));
    Ok(command)
}

fn same(native: &Finished, traced: &Finished, threads: u64) -> Result<()> {
    // Some report times on standard error: only their words are compared.
    let words = |f: &Finished| f.err().replace(|c: char| c.is_ascii_digit(), "");
    if native.status != traced.status
        || native.stdout != traced.stdout
        || words(native) != words(traced)
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

fn write_input(input: Input, tree: &Path, scratch: &Scratch) -> Result<()> {
    match input {
        Input::Text(size) => scratch.write("input", text(size)?)?,
        Input::Genomes => {
            let read = |name: &str| fs::read_to_string(tree.join("test").join(name));
            scratch.write("genomes.fa", read("MT-human.fa")? + &read("MT-orang.fa")?)?;
            let orang: String = read("MT-orang.fa")?.lines().skip(1).collect();
            let mut reads = String::new();
            for start in (0..orang.len().saturating_sub(1500)).step_by(500) {
                reads += &format!(">read{start}\n{}\n", &orang[start..start + 1500]);
            }
            scratch.write("reads.fa", reads)?
        }
    };
    Ok(())
}

/// Text that every checkout has: this crate's own sources, repeated as often as needed.
fn text(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files: Vec<_> = fs::read_dir(dir)?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| path.is_file());
    files.sort();
    while bytes.len() < size {
        for file in &files {
            bytes.extend(fs::read(file)?);
        }
    }
    bytes.truncate(size);
    Ok(bytes)
}

//! Programs that nobody here wrote, from Debian's archive, built by their own build systems with
//! only the compilers replaced: the output with tracing on is byte-identical, and the graphs are
//! well formed. Each runs with 1, 2 or 4 threads, with another number of them in the next commit.

#[path = "real/frame.rs"]
mod frame;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use contech_tests::debian;
use contech_tests::matrix::{share, ways};
use contech_tests::process::{self, Finished, run, run_for};
use contech_tests::recording::{Recording, backend_json, merge, verify};
use contech_tests::scratch::{Scratch, entries};
use contech_tests::toolchain::{Toolchain, kept};

/// A Debian source package, how its own build system is called, how the program is run, and on
/// what.
struct Package {
    name: &'static str,
    /// Shell commands in the source tree; the test sets `$CC`, `$CXX`, `$FC` and `$MPICC`.
    build: &'static str,
    /// Shell commands that run the program with `{}` threads, in the tree beside the input; the
    /// result goes to standard output.
    run: &'static str,
    kind: Kind,
    input: Input,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Its numbers of threads.
    Threads(&'static [u64]),
    /// Two ranks of MPI.
    Ranks,
    /// A suite of tests that throw often, built with `--contech-check`: it says this when all is
    /// well.
    Suite(&'static str),
}

/// What a program works on.
#[derive(Clone, Copy)]
enum Input {
    /// `input` has so many bytes of text, enough for several blocks of work.
    Text(usize),
    /// The package's own two mitochondrial genomes, cut into reads, are in `genomes.fa` and
    /// `reads.fa`.
    Genomes,
    /// The package brings its own input.
    Own,
}

const THREADS: Kind = Kind::Threads(&[1, 2, 4]);
const RANKS: u64 = 2;

const PACKAGES: [Package; 7] = [
    // make, C, hand-written SSE
    Package {
        name: "minimap2",
        build: "make -s -j2 CC=\"$CC\" minimap2",
        run: "./minimap2 -c -t{} ../genomes.fa ../reads.fa",
        kind: THREADS,
        input: Input::Genomes,
    },
    // autotools, C, a shared library of its own
    Package {
        name: "xz-utils",
        build: "./configure -q --disable-doc --disable-scripts --disable-nls --disable-shared --disable-rpath && make -s -j2",
        run: "src/xz/xz -c -k -0 -T{} --block-size=100000 ../input",
        kind: THREADS,
        input: Input::Text(400_000),
    },
    // make, C++ with threads; two processes, one compresses and one unpacks
    Package {
        name: "zpaq",
        build: "make -s -j2 CXX=\"$CXX\" CXXFLAGS=-O0 zpaq",
        run: "rm -f o.zpaq x; ./zpaq a o.zpaq ../input -m2 -t{} >&2; ./zpaq x o.zpaq ../input -to x -t{} >&2; cat x",
        kind: THREADS,
        input: Input::Text(100_000),
    },
    // CMake, C with OpenMP in a shared library
    Package {
        name: "libdivsufsort",
        build: "cmake -S . -B out -DCMAKE_BUILD_TYPE=Release -DUSE_OPENMP=ON && cmake --build out -j2 --target mksary",
        run: "OMP_NUM_THREADS={} out/examples/mksary ../input array >&2; cat array",
        kind: THREADS,
        input: Input::Text(100_000),
    },
    // make, Fortran 77 and 90: the reference BLAS and its own test of the third level
    Package {
        name: "lapack",
        build: "cp make.inc.example make.inc && make -s -j2 -C BLAS/SRC double FC=\"$FC\" FFLAGS=-O2 && make -s -C BLAS/TESTING xblat3d FC=\"$FC\" FFLAGS=-O2",
        run: "BLAS/TESTING/xblat3d < BLAS/TESTING/dblat3.in; cat dblat3.out",
        kind: Kind::Threads(&[1]),
        input: Input::Own,
    },
    // make, MPI: messages there and back, blocking and not, with barriers and broadcasts between
    // them. Ranks print in any order, and times come after the arrows, in a write of their own: what
    // is printed elsewhere could come between the two.
    Package {
        name: "netpipe",
        build: "make -s mpi MPICC=\"$MPICC\" CFLAGS=\"-O2 -w\"",
        run: "mpirun.openmpi --allow-run-as-root --oversubscribe -np 2 ./NPmpi -n 5 -u 1000 -o /dev/null 2>&1 >out | sed 's/-->.*//' | sort; sort out",
        kind: Kind::Ranks,
        input: Input::Own,
    },
    // A parser of expressions: a hundred of its six hundred expressions are wrong and throw through
    // its whole stack.
    Package {
        name: "muparser",
        build: "echo '#include \"muParserTest.h\"\nint main() { mu::Test::ParserTester all; all.Run(); }' > all.cpp
            for f in src/muParser.cpp src/muParser[BCEIT]*.cpp all.cpp; do echo $f; done |
            xargs -P2 -n1 $CXX --contech-check -std=c++17 -O1 -w -DMUPARSER_STATIC -Iinclude -c
            $CXX --contech-check *.o -o all",
        run: "./all",
        kind: Kind::Suite("Test passed (596 expressions)"),
        input: Input::Own,
    },
];

/// How many shares commits have of the packages.
const SHARES: usize = 4;

fn main() {
    frame::main(
        share("real_programs", &PACKAGES, SHARES),
        |package| package.name,
        |package| debian::available(package.name),
        trial,
    );
}

/// Builds the program from a copy of `tree` and puts all that is built into `to`. What is kept of
/// an earlier run is not built again.
fn build(package: &Package, tree: &Path, to: &Path, tools: &Toolchain) -> Result<()> {
    let copy = |from: &Path, to: &Path| {
        let from = from.join(".");
        run(Command::new("cp").arg("-a").arg(from).arg(to))?.ok()
    };
    let mut compilers = tools.environment().to_vec();
    compilers.extend([("MPICC", "mpicc.openmpi".as_ref()), ("OMPI_CC", &*tools.cc)]);
    let from = (tree, package.build, &compilers);
    let built = kept(tools, &format!("real-{}", package.name), &from, |built| {
        copy(tree, built)?;
        let mut shell = Command::new("sh");
        shell.current_dir(built).args(["-ec", package.build]);
        run_for(shell.envs(compilers.iter().copied()), Duration::from_secs(600))?.ok()?;
        Ok(())
    })?;
    copy(&built, to)?;
    Ok(())
}

fn trial(package: &Package) -> Result<()> {
    let scratch = Scratch::new(&format!("real/{}", package.name))?;
    let tree = debian::source(package.name, &debian::cache())?;
    write_input(package.input, &tree, &scratch)?;
    let [native, traced] = ["native", "traced"].map(|name| scratch.join(name));
    build(package, &tree, &traced, &Toolchain::contech())?;
    if !matches!(package.kind, Kind::Suite(_)) {
        build(package, &tree, &native, &Toolchain::native())?;
    }
    let threads = match package.kind {
        Kind::Threads(all) => ways(package.name, all),
        Kind::Ranks | Kind::Suite(_) => vec![1],
    };
    for threads in threads {
        let traces = scratch.join(format!("traces{threads}"));
        let recording = Recording::of(&mut command(package, &traced, threads), &traces)?;
        ensure!(!recording.traces.is_empty(), "no trace: {}", recording.run);
        match package.kind {
            Kind::Suite(words) => is_well(&recording, words)?,
            kind => {
                let plain = run(&mut command(package, &native, threads))?.ok()?;
                same(&plain, &recording.run, threads)?;
                let (graphs, contexts) = match kind {
                    Kind::Ranks => (merged(&recording)?, RANKS + 1),
                    _ => (recording.graphs(true)?, threads),
                };
                for graph in &graphs {
                    has(graph, contexts)?;
                }
            }
        }
        fs::remove_dir_all(&traces)?;
    }
    scratch.done()
}

/// The same commands in both trees.
fn command(package: &Package, tree: &Path, threads: u64) -> Command {
    let mut command = Command::new("sh");
    let run = package.run.replace("{}", &threads.to_string());
    command.current_dir(tree).arg("-ec").arg(run);
    command
}

/// A suite says that it is well, and both forms of its recording agree.
fn is_well(recording: &Recording, words: &str) -> Result<()> {
    let said = recording.run.clone().ok()?;
    ensure!(said.out().contains(words) && said.err().is_empty(), "{said}");
    let (_, compared) = recording.checked(true)?;
    ensure!(compared >= 10_000, "{compared} blocks were compared");
    Ok(())
}

/// One graph of all ranks, which has their messages and barriers.
fn merged(recording: &Recording) -> Result<Vec<PathBuf>> {
    let traces = &recording.traces;
    ensure!(traces.len() as u64 == RANKS, "{traces:?}");
    let graph = traces[0].with_extension("tg");
    let said = merge(traces, &graph)?.ok()?;
    ensure!(!said.out().contains("MPI"), "not understood: {said}");
    verify(&graph)?;
    let tasks = &backend_json(&["stats"], &graph)?["tasks"];
    for (kind, least) in [("sync", 1000), ("barrier", 10)] {
        ensure!(tasks[kind].as_u64() >= Some(least), "{kind}: {tasks}");
    }
    Ok(vec![graph])
}

/// The graph has so many contexts at least, and accesses.
fn has(graph: &Path, least: u64) -> Result<()> {
    let stats = backend_json(&["stats"], graph)?;
    let contexts = stats["contexts"].as_u64().context("contexts")?;
    ensure!(contexts >= least, "{contexts} of {least} contexts: {stats}");
    let accesses = stats["accesses"].as_u64().context("accesses")?;
    ensure!(accesses >= 10_000, "hardly an access: {stats}");
    Ok(())
}

fn same(native: &Finished, traced: &Finished, threads: u64) -> Result<()> {
    ensure!(native.stdout.len() >= 500, "little to compare: {native}");
    // Some programs report times on standard error, so only the words are compared.
    process::same(native, traced, |f| (f.stdout.clone(), f.err_but_for_digits()))
        .with_context(|| format!("with {threads} threads"))
}

fn write_input(input: Input, tree: &Path, scratch: &Scratch) -> Result<()> {
    match input {
        Input::Text(size) => scratch.write("input", text(size)?)?,
        Input::Own => return Ok(()),
        Input::Genomes => {
            let [both, reads] = debian::genomes(tree, 500)?;
            scratch.write("genomes.fa", both)?;
            scratch.write("reads.fa", reads)?
        }
    };
    Ok(())
}

/// Text that every checkout has: this crate's own sources, repeated as often as needed.
fn text(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files = entries(&dir)?;
    files.retain(|path| path.is_file());
    while bytes.len() < size {
        for file in &files {
            bytes.extend(fs::read(file)?);
        }
    }
    bytes.truncate(size);
    Ok(bytes)
}

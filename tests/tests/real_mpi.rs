//! MPI programs that nobody here wrote, from Debian's archive, built by their own build systems: with two ranks,
//! output and exit status must equal the native run's, each rank leaves one trace, and all make one graph.

mod real;

use std::path::Path;

use anyhow::{Context, Result, bail};
use contech_tests::debian;
use contech_tests::mpi::{Mpi, merge};
use contech_tests::process::Finished;
use contech_tests::recording::{backend_json, files, verify};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use real::Source;

struct Package {
    mpi: Mpi,
    /// `$CC` is a compiler, and `$MPICC` is the library's wrapper around it.
    source: Source,
    arguments: &'static [&'static str],
    /// A text after which a line holds only times, if there is one.
    times: Option<&'static str>,
    /// The least number of tasks of each kind.
    syncs: u64,
    barriers: u64,
}

const RANKS: usize = 2;

const PACKAGES: [Package; 2] = [
    // make; the program sends messages there and back, blocking and not, with barriers and broadcasts between them
    Package {
        mpi: Mpi::Open,
        source: Source {
            name: "netpipe",
            build: "make -s mpi MPICC=\"$MPICC\" CFLAGS=\"-O2 -w\"",
            program: "NPmpi",
        },
        arguments: &["-n", "5", "-u", "1000", "-o", "/dev/null"],
        times: Some("-->"),
        syncs: 1000,
        barriers: 10,
    },
    // CMake; an example of the ODE solver CVODE has vectors over all ranks, and a reduction for each norm
    Package {
        mpi: Mpi::Mpich,
        source: Source {
            name: "sundials",
            build: "cmake -S . -B out -DCMAKE_BUILD_TYPE=Release -DENABLE_MPI=ON -DMPI_C_COMPILER=\"$MPICC\" \
                    -DBUILD_ARKODE=OFF -DBUILD_CVODES=OFF -DBUILD_IDA=OFF -DBUILD_IDAS=OFF -DBUILD_KINSOL=OFF \
                    -DBUILD_SHARED_LIBS=OFF -DEXAMPLES_INSTALL=OFF && cmake --build out -j2 --target cvAdvDiff_non_p",
            program: "out/examples/cvode/parallel/cvAdvDiff_non_p",
        },
        arguments: &[],
        times: None,
        syncs: 1000,
        barriers: 1000,
    },
];

fn main() {
    real::main(
        (&PACKAGES, 2),
        |package| &package.source,
        trial,
        "all_sources_were_fetched",
    );
}

fn trial(package: &Package) -> Result<()> {
    let scratch = Scratch::new(&format!("real_mpi/{}", package.source.name))?;
    let tree = debian::source(package.source.name, &debian::cache())?;
    let build = |to: &str, tools: &Toolchain| {
        let cc = tools.compiler(false);
        let wrapper = format!("mpicc.{}", package.mpi.name());
        let compilers = [
            ("CC", cc),
            ("MPICC", wrapper.as_ref()),
            ("OMPI_CC", cc),
            ("MPICH_CC", cc),
        ];
        package
            .source
            .build(&tree, &scratch.join(to), tools, &compilers)
    };
    let native = build("native", &Toolchain::native())?;
    let traced = build("traced", &Toolchain::contech())?;
    let traces = scratch.subdir("traces")?;
    let plain = package
        .mpi
        .run(RANKS, &native, package.arguments, &traces)?
        .ok()?;
    let traced = package
        .mpi
        .run(RANKS, &traced, package.arguments, &traces)?;
    same(package, &plain, &traced)?;
    let traces = files(&traces, "bin")?;
    if traces.len() != RANKS {
        bail!("{} traces: {traced}", traces.len());
    }
    let graph = scratch.join("graph.tg");
    let merged = merge(&traces, &graph)?.ok()?;
    if merged.out().contains("MPI") {
        bail!("what MPI did was not understood: {merged}");
    }
    verify(&graph)?;
    check(package, &graph)?;
    scratch.done();
    Ok(())
}

/// Checks for the root context and one of each rank, and for at least the program's accesses and messages.
fn check(package: &Package, graph: &Path) -> Result<()> {
    let stats = backend_json(&["stats"], graph)?;
    let number = |key: &str| {
        stats[key]
            .as_u64()
            .with_context(|| format!("{key}: {stats}"))
    };
    let tasks = |kind: &str| {
        let found = stats["tasks"][kind].as_u64();
        found.with_context(|| format!("tasks of kind {kind}: {stats}"))
    };
    if number("contexts")? != RANKS as u64 + 1
        || number("accesses")? < 10_000
        || tasks("sync")? < package.syncs
        || tasks("barrier")? < package.barriers
    {
        bail!("not what the program does: {stats}");
    }
    Ok(())
}

/// Checks for the same exit status and the same lines in any order, because ranks print in any order.
fn same(package: &Package, native: &Finished, traced: &Finished) -> Result<()> {
    let lines = |text: String| {
        let mut lines: Vec<String> = text
            .lines()
            .map(
                |line| match package.times.and_then(|at| line.split_once(at)) {
                    Some((before, _)) => before.to_owned(),
                    None => line.to_owned(),
                },
            )
            .collect();
        lines.sort();
        lines
    };
    let of = |f: &Finished| (lines(f.out()), lines(f.err()));
    if native.status != traced.status || of(native) != of(traced) {
        bail!("the recorded run differs:\n{native}\n{traced}");
    }
    if native.out().len() + native.err().len() < 500 {
        bail!("too little output to compare: {native}");
    }
    Ok(())
}

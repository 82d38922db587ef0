//! Programs that nobody here wrote, from Debian's archive, built by their own build systems with only CC, CXX and FC
//! replaced: the output with tracing on is byte-identical, and the graphs are well formed. Each runs with 1, 2 or 4
//! threads, with another number of them in the next commit.

mod real;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use contech_tests::debian;
use contech_tests::matrix::ways;
use contech_tests::process::{Finished, run};
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use real::Source;

/// A program, how it is run, and on what.
struct Package {
    /// The test sets `$CC`, `$CXX` and `$FC`.
    source: Source,
    /// Shell commands that run the program with `{}` threads, in the tree beside the input; the result goes to
    /// standard output.
    run: &'static str,
    threads: &'static [u64],
    input: Input,
}

/// What a program works on.
#[derive(Clone, Copy)]
enum Input {
    /// `input` has so many bytes of text, enough for several blocks of work.
    Text(usize),
    /// The package's own two mitochondrial genomes, cut into reads, are in `genomes.fa` and `reads.fa`.
    Genomes,
    /// `alignment.fa` has so many related sequences, aligned.
    Alignment(usize),
    /// The package brings its own input.
    Own,
}

const THREADS: &[u64] = &[1, 2, 4];

const PACKAGES: [Package; 9] = [
    // make, C, hand-written SSE
    Package {
        source: Source {
            name: "minimap2",
            build: "make -s -j2 CC=\"$CC\" minimap2",
            program: "minimap2",
        },
        run: "./minimap2 -c -t{} ../genomes.fa ../reads.fa",
        threads: THREADS,
        input: Input::Genomes,
    },
    // make, C++
    Package {
        // The source was written before C++11, which takes "text"MACRO for a user-defined literal.
        source: Source {
            name: "pbzip2",
            build: "CPPFLAGS=-Wno-reserved-user-defined-literal make -s CXX=\"$CXX\" pbzip2",
            program: "pbzip2",
        },
        run: "./pbzip2 -c -k -b1 -1 -p{} ../input",
        threads: THREADS,
        input: Input::Text(400_000),
    },
    // autotools, C, a shared library of its own
    Package {
        source: Source {
            name: "xz-utils",
            build: "./configure -q --disable-doc --disable-scripts --disable-nls --disable-shared --disable-rpath && make -s -j2",
            program: "src/xz/xz",
        },
        run: "src/xz/xz -c -k -0 -T{} --block-size=100000 ../input",
        threads: THREADS,
        input: Input::Text(400_000),
    },
    // CMake, C
    Package {
        source: Source {
            name: "libzstd",
            build: "cmake -S build/cmake -B out -DCMAKE_BUILD_TYPE=Release -DZSTD_LEGACY_SUPPORT=OFF -DZSTD_BUILD_TESTS=OFF && cmake --build out -j2 --target zstd",
            program: "out/programs/zstd",
        },
        run: "out/programs/zstd -c -q -1 -T{} -B524288 ../input",
        threads: THREADS,
        input: Input::Text(3_000_000),
    },
    // make, C++ with threads; two processes, one compresses and one unpacks
    Package {
        source: Source {
            name: "zpaq",
            build: "make -s -j2 CXX=\"$CXX\" CXXFLAGS=-O0 zpaq",
            program: "zpaq",
        },
        run: "rm -f o.zpaq x; ./zpaq a o.zpaq ../input -m2 -t{} >&2; ./zpaq x o.zpaq ../input -to x -t{} >&2; cat x",
        threads: THREADS,
        input: Input::Text(100_000),
    },
    // make, C with OpenMP
    Package {
        source: Source {
            name: "fasttree",
            build: "make -s CC=\"$CC\" CFLAGS=-O2 fasttreeMP",
            program: "fasttreeMP",
        },
        run: "OMP_NUM_THREADS={} ./fasttreeMP -nt -quiet -nopr -nosupport -noml -nome ../alignment.fa",
        threads: THREADS,
        input: Input::Alignment(40),
    },
    // CMake, C with OpenMP in a shared library
    Package {
        source: Source {
            name: "libdivsufsort",
            build: "cmake -S . -B out -DCMAKE_BUILD_TYPE=Release -DUSE_OPENMP=ON && cmake --build out -j2 --target mksary",
            program: "out/examples/mksary",
        },
        run: "OMP_NUM_THREADS={} out/examples/mksary ../input array >&2; cat array",
        threads: THREADS,
        input: Input::Text(100_000),
    },
    // FORTRAN 77; one of the drivers of its authors, with their data
    Package {
        source: Source {
            name: "minpack",
            build: "cp ex/file17 least.F && $FC -O2 *.f least.F -o least",
            program: "least",
        },
        run: "./least < ex/file22",
        threads: &[1],
        input: Input::Own,
    },
    // make, Fortran 77 and 90: the reference BLAS and its own test of the third level
    Package {
        source: Source {
            name: "lapack",
            build: "cp make.inc.example make.inc && make -s -j2 -C BLAS/SRC double FC=\"$FC\" FFLAGS=-O2 && make -s -C BLAS/TESTING xblat3d FC=\"$FC\" FFLAGS=-O2",
            program: "BLAS/TESTING/xblat3d",
        },
        run: "BLAS/TESTING/xblat3d < BLAS/TESTING/dblat3.in; cat dblat3.out",
        threads: &[1],
        input: Input::Own,
    },
];

fn main() {
    real::main(
        (&PACKAGES, 4),
        |package| &package.source,
        trial,
        "all_sources_were_fetched",
    );
}

fn trial(package: &Package) -> Result<()> {
    let scratch = Scratch::new(&format!("real/{}", package.source.name))?;
    let tree = debian::source(package.source.name, &debian::cache())?;
    write_input(package.input, &tree, &scratch)?;
    let build = |to: &str, tools: &Toolchain| {
        let compilers = [
            ("CC", tools.compiler(false)),
            ("CXX", tools.compiler(true)),
            ("FC", tools.compiler_of("source.f90".as_ref())),
        ];
        let to = scratch.join(to);
        package.source.build(&tree, &to, tools, &compilers)?;
        anyhow::Ok(to)
    };
    let native = build("native", &Toolchain::native())?;
    let traced = build("traced", &Toolchain::contech())?;
    for threads in ways(package.source.name, package.threads) {
        let plain = run(&mut command(package, &native, threads))?.ok()?;
        if plain.stdout.len() < 500 {
            bail!("too little output to compare: {plain}");
        }
        let traces = scratch.join(format!("traces{threads}"));
        let recording = Recording::of(&mut command(package, &traced, threads), &traces)?;
        same(&plain, &recording.run, threads)?;
        let graphs = recording.graphs(true)?;
        for graph in &graphs {
            let stats = backend_json(&["stats"], graph)?;
            let contexts = stats["contexts"].as_u64().context("contexts")?;
            if threads > 1 && contexts < threads {
                bail!("{threads} threads, but {contexts} contexts: {stats}");
            }
            if stats["accesses"].as_u64().context("accesses")? < 10_000 {
                bail!("hardly an access: {stats}");
            }
        }
        if graphs.is_empty() {
            bail!("no trace: {}", recording.run);
        }
        fs::remove_dir_all(&traces)?;
    }
    scratch.done();
    Ok(())
}

/// The same commands in both trees.
fn command(package: &Package, tree: &Path, threads: u64) -> Command {
    let mut command = Command::new("sh");
    let run = package.run.replace("{}", &threads.to_string());
    command.current_dir(tree).arg("-ec").arg(run);
    command
}

fn same(native: &Finished, traced: &Finished, threads: u64) -> Result<()> {
    // Some programs report times on standard error, so only the words are compared.
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
        Input::Own => return Ok(()),
        Input::Alignment(n) => scratch.write("alignment.fa", alignment(n))?,
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

/// Sequences of 120 letters, each copied from an earlier one with every 20th letter or so changed.
fn alignment(n: usize) -> String {
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let letter = |i: u64| ['A', 'C', 'G', 'T'][usize::try_from(i).unwrap_or(0)];
    let mut all: Vec<String> = vec![(0..120).map(|_| letter(random(4))).collect()];
    while all.len() < n {
        let from = all[usize::try_from(random(all.len() as u64)).unwrap_or(0)].clone();
        let copy = |c| {
            if random(20) == 0 {
                letter(random(4))
            } else {
                c
            }
        };
        all.push(from.chars().map(copy).collect());
    }
    let named = all.iter().enumerate().map(|(i, s)| format!(">s{i}\n{s}\n"));
    named.collect()
}

//! Programs that nobody here wrote: sources of Debian packages, compiled by one command.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use contech_tests::debian;
use contech_tests::process::run;
use contech_tests::scratch::entries;

use crate::form::Form;
use crate::measure::measure;
use crate::programs::Class;
use crate::subject::{Built, SHELL, Subject, text_size};

/// A Debian source package, how it is compiled, and what it works on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Package {
    /// Name of the source package.
    pub(crate) name: &'static str,
    class: Class,
    /// Shell commands in the source tree that make `prog`; `$CC`, `$CXX` and `$FC` are set.
    build: &'static str,
    /// Arguments; `{}` stands for the input. If they begin with `"$0"`, which is the program, the
    /// shell runs them.
    arguments: &'static str,
    input: Input,
}

/// What a program works on; the numbers are the sizes of a whole run and of a kept one.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// Bytes of text.
    Text(usize, usize),
    /// A script of ours, with the size as its argument.
    Script(&'static str, usize, usize),
    /// The package's own mitochondrial genomes, cut into reads at every so many bases.
    Genomes(usize, usize),
    /// So many related sequences of 120 letters.
    Sequences(usize, usize),
    /// Clauses of three literals over so many variables, as many as make them hard to satisfy.
    Clauses(usize, usize),
    /// A file of the package's own.
    Own(&'static str),
    /// A number, which is the argument.
    Number(usize, usize),
}

/// Programs of one thread, of several, with OpenMP, with atomic operations, in C, C++ and Fortran.
pub(crate) const PACKAGES: [Package; 20] = [
    Package {
        name: "bzip2",
        class: Class::Real,
        build: "$CC -O2 -w -D_FILE_OFFSET_BITS=64 -o prog blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c",
        arguments: "-k -c -9 {}",
        input: Input::Text(4_000_000, 700_000),
    },
    Package {
        name: "lz4",
        class: Class::Real,
        build: "$CC -O2 -w -Ilib -Iprograms -DXXH_NAMESPACE=LZ4_ -o prog lib/*.c programs/*.c",
        arguments: "-9 -c {}",
        input: Input::Text(6_000_000, 1_000_000),
    },
    Package {
        name: "lua5.4",
        class: Class::Real,
        build: "echo '#define DEB_HOST_MULTIARCH \"none\"' > src/lua5.4-deb-multiarch.h && $CC -O2 -w -DLUA_USE_POSIX -o prog $(ls src/*.c | grep -v luac.c) -lm",
        arguments: "{}",
        input: Input::Script("mix.lua", 600, 100),
    },
    Package {
        name: "zopfli",
        class: Class::Real,
        build: "$CC -O2 -w -o prog src/zopfli/*.c -lm",
        arguments: "-c --i2 {}",
        input: Input::Text(400_000, 80_000),
    },
    Package {
        name: "lzip",
        class: Class::Real,
        build: "$CXX -O2 -w -DPROGVERSION='\"1\"' -o prog *.cc",
        arguments: "-k -c -6 {}",
        input: Input::Text(800_000, 150_000),
    },
    Package {
        name: "minimap2",
        class: Class::RealThreads,
        build: "make -s -j2 CC=\"$CC\" minimap2 && cp minimap2 prog",
        arguments: "-c -t2 {}",
        input: Input::Genomes(60, 400),
    },
    Package {
        name: "gzip",
        class: Class::Real,
        build: "./configure -q > log 2>&1 && make -s -j2 MAKEINFO=true >> log 2>&1 && cp gzip prog",
        arguments: "-9 -c {}",
        input: Input::Text(4_000_000, 600_000),
    },
    Package {
        name: "libdeflate",
        class: Class::Real,
        build: "$CC -O2 -w -I. -o prog $(find lib -name '*.c') programs/gzip.c programs/prog_util.c programs/tgetopt.c",
        arguments: "-9 -k -c {}",
        input: Input::Text(4_000_000, 600_000),
    },
    Package {
        name: "mujs",
        class: Class::Real,
        build: "$CC -O2 -w -o prog one.c main.c -lm",
        arguments: "{}",
        input: Input::Script("mix.js", 150, 20),
    },
    Package {
        name: "mawk",
        class: Class::Real,
        build: "./configure -q > log 2>&1 && make -s >> log 2>&1 && cp mawk prog",
        arguments: "-f {}",
        input: Input::Script("mix.awk", 2000, 250),
    },
    Package {
        name: "picosat",
        class: Class::Real,
        build: "./configure.sh -O > log && make -s CC=\"$CC\" picosat >> log 2>&1 && cp picosat prog",
        // It says by its exit status whether there is a solution.
        arguments: "\"$0\" -n {} || true",
        input: Input::Clauses(190, 120),
    },
    Package {
        name: "prodigal",
        class: Class::Real,
        build: "$CC -O2 -w -o prog *.c -lm",
        arguments: "\"$0\" -p meta -q -i {}",
        input: Input::Sequences(800, 100),
    },
    Package {
        name: "lapack",
        class: Class::RealFortran,
        build: "cp make.inc.example make.inc && make -s -j2 -C BLAS/SRC double FC=\"$FC\" FFLAGS=-O2 > log 2>&1 && make -s -C BLAS/TESTING xblat3d FC=\"$FC\" FFLAGS=-O2 >> log 2>&1 && cp BLAS/TESTING/xblat3d prog",
        // It writes what it found to a file of its own, with nothing that changes.
        arguments: "\"$0\" < {}",
        input: Input::Own("BLAS/TESTING/dblat3.in"),
    },
    Package {
        name: "xz-utils",
        class: Class::RealThreads,
        build: "./configure -q --disable-doc --disable-scripts --disable-nls --disable-shared --disable-rpath > log 2>&1 && make -s -j2 >> log 2>&1 && cp src/xz/xz prog",
        arguments: "-c -k -1 -T2 --block-size=200000 {}",
        input: Input::Text(3_000_000, 600_000),
    },
    Package {
        name: "libzstd",
        class: Class::RealThreads,
        build: "cmake -S build/cmake -B out -DCMAKE_BUILD_TYPE=Release -DZSTD_LEGACY_SUPPORT=OFF -DZSTD_BUILD_TESTS=OFF > log && cmake --build out -j2 --target zstd >> log && cp out/programs/zstd prog",
        arguments: "-c -q -6 -T2 -B524288 {}",
        input: Input::Text(8_000_000, 1_200_000),
    },
    Package {
        name: "pbzip2",
        class: Class::RealThreads,
        // The source was written before C++11, which takes "text"MACRO for a user-defined literal.
        build: "CPPFLAGS=-Wno-reserved-user-defined-literal make -s CXX=\"$CXX\" pbzip2 > log 2>&1 && cp pbzip2 prog",
        arguments: "-c -k -q -b1 -1 -p2 {}",
        input: Input::Text(4_000_000, 600_000),
    },
    Package {
        name: "ck",
        class: Class::RealAtomics,
        // A stack without locks, whose two threads push; atomics of the compiler instead of
        // assembly.
        build: "./configure > log 2>&1 && $CC -O2 -w -pthread -DCK_USE_CC_BUILTINS=1 -DUPMC -DITEMS=200000 -D_GNU_SOURCE -Iinclude -o prog regressions/ck_stack/validate/push.c",
        // It prints how long it took.
        arguments: "\"$0\" 2 1 {} > time",
        input: Input::Number(10, 1),
    },
    Package {
        name: "fasttree",
        class: Class::RealOpenMp,
        build: "make -s CC=\"$CC\" CFLAGS=-O2 fasttreeMP > log 2>&1 && cp fasttreeMP prog",
        arguments: "\"$0\" -nt -quiet -nopr -nosupport -noml -nome {}",
        input: Input::Sequences(150, 40),
    },
    Package {
        name: "libdivsufsort",
        class: Class::RealOpenMp,
        build: "cmake -S . -B out -DCMAKE_BUILD_TYPE=Release -DUSE_OPENMP=ON > log && cmake --build out -j2 --target mksary >> log && cp out/examples/mksary prog",
        arguments: "\"$0\" {} array > said",
        input: Input::Text(2_000_000, 300_000),
    },
    Package {
        name: "cd-hit",
        class: Class::RealOpenMp,
        build: "make -s -j2 CC=\"$CXX\" openmp=yes zlib=no cd-hit > log 2>&1 && cp cd-hit prog",
        arguments: "\"$0\" -T 2 -c 0.9 -i {} -o clusters > said",
        input: Input::Sequences(3000, 400),
    },
];

impl Package {
    /// How many threads it runs with.
    pub(crate) fn threads(&self) -> u32 {
        if matches!(self.class, Class::Real | Class::RealFortran) { 1 } else { 2 }
    }

    /// Builds the package in all forms below `dir`.
    pub(crate) fn subject(&self, dir: &Path, quick: bool) -> Result<Subject> {
        let tree = debian::source(self.name, &debian::cache())?;
        let built = Form::ALL.into_iter().map(|form| self.build(form, &tree, dir));
        let built = built.collect::<Result<_>>()?;
        let words = |kept| -> Result<Vec<String>> {
            Ok(words(self.arguments, &self.input(kept, &tree, dir)?))
        };
        Ok(Subject {
            name: self.name.to_owned(),
            class: self.class,
            threads: self.threads(),
            built,
            whole: words(quick)?,
            part: words(true)?,
        })
    }

    fn build(&self, form: Form, tree: &Path, dir: &Path) -> Result<Built> {
        let place = dir.join("real").join(self.name).join(form.name());
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::create_dir_all(&place)?;
        let copy = place.join("tree");
        run(Command::new("cp").arg("-a").arg(tree).arg(&copy))?.ok()?;
        let mut shell = Command::new("sh");
        shell.current_dir(&copy).args(["-ec", self.build]);
        shell.envs(form.tools().environment()).env("CONTECH_OPTIONS", form.options());
        let (_, used) = measure(&mut shell)?;
        let executable = copy.join("prog");
        Ok(Built { text: text_size(&executable)?, executable, compile_seconds: used.cpu })
    }

    /// The words that stand for the input of a whole run, or of a kept one.
    fn input(&self, kept: bool, tree: &Path, dir: &Path) -> Result<Vec<String>> {
        let place = dir.join("real").join(self.name);
        let write = |name: &str, text: String| -> Result<String> {
            let path = place.join(name);
            fs::write(&path, text)?;
            Ok(path.to_string_lossy().into_owned())
        };
        let name = if kept { "part" } else { "whole" };
        let of = |whole, part| if kept { part } else { whole };
        Ok(match self.input {
            Input::Text(whole, part) => vec![write(name, prose(of(whole, part))?)?],
            Input::Script(script, whole, part) => {
                let script = sources().join(script).to_string_lossy().into_owned();
                vec![script, of(whole, part).to_string()]
            }
            Input::Genomes(whole, part) => {
                let [both, reads] = debian::genomes(tree, of(whole, part))?;
                vec![write("genomes.fa", both)?, write(&format!("{name}.fa"), reads)?]
            }
            Input::Sequences(whole, part) => vec![write(name, sequences(of(whole, part)))?],
            Input::Clauses(whole, part) => vec![write(name, clauses(of(whole, part)))?],
            Input::Own(file) => vec![tree.join(file).to_string_lossy().into_owned()],
            Input::Number(whole, part) => vec![of(whole, part).to_string()],
        })
    }
}

fn words(arguments: &str, input: &[String]) -> Vec<String> {
    if arguments.starts_with(SHELL) {
        return vec![arguments.replace("{}", &input.join(" "))];
    }
    let mut words = Vec::new();
    for word in arguments.split(' ') {
        match word {
            "{}" => words.extend(input.iter().cloned()),
            other => words.push(other.to_owned()),
        }
    }
    words
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap_or(0)
}

/// Text of the words of our own programs in random order, with frequent words more often.
fn prose(size: usize) -> Result<String> {
    let mut text = String::new();
    for file in entries(&sources())? {
        text += &fs::read_to_string(file)?;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() {
        bail!("no words in {}", sources().display());
    }
    let (mut state, mut prose) = (1, String::with_capacity(size + 80));
    while prose.len() < size {
        let first = next(&mut state) % words.len();
        for word in words.iter().skip(first).take(1 + next(&mut state) % 9) {
            prose.push_str(word);
            prose.push(if next(&mut state).is_multiple_of(12) { '\n' } else { ' ' });
        }
    }
    prose.truncate(size);
    Ok(prose)
}

/// Sequences that differ from an earlier one in every twentieth letter or so.
fn sequences(n: usize) -> String {
    let mut state = 1;
    let mut all: Vec<String> = Vec::new();
    while all.len() < n {
        let from = match all.len() {
            0 => None,
            many => Some(all[next(&mut state) % many].clone()),
        };
        let letter = |state: &mut u64, old: Option<char>| match old {
            Some(old) if !next(state).is_multiple_of(20) => old,
            _ => ['A', 'C', 'G', 'T'][next(state) % 4],
        };
        let old = from.as_deref().unwrap_or("").chars().map(Some);
        let old = old.chain(std::iter::repeat(None)).take(120);
        all.push(old.map(|old| letter(&mut state, old)).collect());
    }
    let named = all.iter().enumerate();
    named.map(|(i, s)| format!(">s{i}\n{s}\n")).collect()
}

/// A formula in conjunctive normal form, as solvers read it.
fn clauses(variables: usize) -> String {
    let mut state = 1;
    let count = variables * 426 / 100;
    let mut text = format!("p cnf {variables} {count}\n");
    for _ in 0..count {
        for _ in 0..3 {
            let sign = if next(&mut state).is_multiple_of(2) { "-" } else { "" };
            let _ = write!(text, "{sign}{} ", 1 + next(&mut state) % variables);
        }
        text.push_str("0\n");
    }
    text
}

//! Programs that nobody here wrote: sources of Debian packages, compiled by one command.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use contech_tests::debian;
use contech_tests::outputs::target_dir;
use contech_tests::process::run;

use crate::form::Form;
use crate::measure::measure;
use crate::programs::Class;
use crate::subject::{Built, Subject, text_size};

/// A Debian source package, how it is compiled, and what it works on.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    /// Name of the source package.
    pub name: &'static str,
    threads: u32,
    /// Shell commands in the source tree that make `prog`; `$CC` and `$CXX` are set.
    build: &'static str,
    /// Arguments; `{}` stands for the input.
    arguments: &'static str,
    input: Input,
}

/// What a program works on; the numbers are the sizes of a whole run and of a kept one.
#[derive(Debug, Clone, Copy)]
enum Input {
    /// Bytes of text.
    Text(usize, usize),
    /// A script of ours, with the size as its argument.
    Script(&'static str, u32, u32),
    /// The package's own mitochondrial genomes, cut into reads at every so many bases.
    Genomes(usize, usize),
}

impl Input {
    /// The same, with a part of the kept run.
    fn part(self, part: usize) -> Self {
        match self {
            Self::Text(whole, kept) => Self::Text(whole, kept / part),
            Self::Script(name, whole, kept) => {
                let part = u32::try_from(part).unwrap_or(u32::MAX);
                Self::Script(name, whole, (kept / part).max(1))
            }
            Self::Genomes(whole, step) => Self::Genomes(whole, step.saturating_mul(part)),
        }
    }
}

/// Compressors, an interpreter and an aligner.
pub const PACKAGES: [Package; 6] = [
    Package {
        name: "bzip2",
        threads: 1,
        build: "$CC -O2 -w -D_FILE_OFFSET_BITS=64 -o prog blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c",
        arguments: "-k -c -9 {}",
        input: Input::Text(4_000_000, 700_000),
    },
    Package {
        name: "lz4",
        threads: 1,
        build: "$CC -O2 -w -Ilib -Iprograms -DXXH_NAMESPACE=LZ4_ -o prog lib/*.c programs/*.c",
        arguments: "-9 -c {}",
        input: Input::Text(6_000_000, 1_000_000),
    },
    Package {
        name: "lua5.4",
        threads: 1,
        build: "echo '#define DEB_HOST_MULTIARCH \"none\"' > src/lua5.4-deb-multiarch.h && $CC -O2 -w -DLUA_USE_POSIX -o prog $(ls src/*.c | grep -v luac.c) -lm",
        arguments: "{}",
        input: Input::Script("mix.lua", 600, 100),
    },
    Package {
        name: "zopfli",
        threads: 1,
        build: "$CC -O2 -w -o prog src/zopfli/*.c -lm",
        arguments: "-c --i2 {}",
        input: Input::Text(400_000, 80_000),
    },
    Package {
        name: "lzip",
        threads: 1,
        build: "$CXX -O2 -w -DPROGVERSION='\"1\"' -o prog *.cc",
        arguments: "-k -c -6 {}",
        input: Input::Text(800_000, 150_000),
    },
    Package {
        name: "minimap2",
        threads: 2,
        build: "make -s -j2 CC=\"$CC\" minimap2 && cp minimap2 prog",
        arguments: "-c -t2 {}",
        input: Input::Genomes(60, 400),
    },
];

impl Package {
    /// Builds the package in all forms below `dir`.
    pub fn subject(&self, dir: &Path, quick: bool) -> Result<Subject> {
        let tree = debian::source(self.name, &target_dir().join("tmp/contech/debian"))?;
        let mut built = Vec::new();
        for form in Form::ALL {
            built.push(self.build(form, &tree, dir)?);
        }
        let (whole, part) = self.inputs(&tree, dir)?;
        let part_words = words(self.arguments, &part);
        Ok(Subject {
            name: self.name.to_owned(),
            class: Class::Real,
            threads: self.threads,
            built,
            whole: if quick {
                part_words.clone()
            } else {
                words(self.arguments, &whole)
            },
            part: part_words,
        })
    }

    /// Builds the package in one form below `dir`. Returns a command that runs it on a part of the input of a kept run.
    pub fn command(&self, form: Form, part: usize, dir: &Path) -> Result<Command> {
        let tree = debian::source(self.name, &target_dir().join("tmp/contech/debian"))?;
        let built = self.build(form, &tree, dir)?;
        let small = Self {
            input: self.input.part(part),
            ..*self
        };
        let mut command = Command::new(built.executable);
        command.args(words(self.arguments, &small.inputs(&tree, dir)?.1));
        Ok(command)
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
        shell
            .env("CC", form.compiler(false))
            .env("CXX", form.compiler(true))
            .env("CONTECH_OPTIONS", form.options());
        let (_, used) = measure(&mut shell)?;
        let executable = copy.join("prog");
        Ok(Built {
            text: text_size(&executable)?,
            executable,
            compile_seconds: used.cpu().as_secs_f64(),
        })
    }

    /// The words that stand for the input of a whole and of a kept run.
    fn inputs(&self, tree: &Path, dir: &Path) -> Result<(Vec<String>, Vec<String>)> {
        let place = dir.join("real").join(self.name);
        let write = |name: &str, text: String| -> Result<String> {
            let path = place.join(name);
            fs::write(&path, text)?;
            Ok(path.to_string_lossy().into_owned())
        };
        Ok(match self.input {
            Input::Text(whole, part) => (
                vec![write("whole", prose(whole)?)?],
                vec![write("part", prose(part)?)?],
            ),
            Input::Script(name, whole, part) => {
                let script = sources().join(name).to_string_lossy().into_owned();
                (
                    vec![script.clone(), whole.to_string()],
                    vec![script, part.to_string()],
                )
            }
            Input::Genomes(whole, part) => {
                let read = |name: &str| fs::read_to_string(tree.join("test").join(name));
                let both = write("genomes.fa", read("MT-human.fa")? + &read("MT-orang.fa")?)?;
                let reads = |step: usize, name: &str| -> Result<Vec<String>> {
                    let bases: String = read("MT-orang.fa")?.lines().skip(1).collect();
                    let mut text = String::new();
                    for at in (0..bases.len().saturating_sub(1500)).step_by(step) {
                        let _ = write!(text, ">read{at}\n{}\n", &bases[at..at + 1500]);
                    }
                    Ok(vec![both.clone(), write(name, text)?])
                };
                (reads(whole, "whole.fa")?, reads(part, "part.fa")?)
            }
        })
    }
}

fn words(arguments: &str, input: &[String]) -> Vec<String> {
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
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap_or(0)
}

/// Text of the words of our own programs in random order, with frequent words more often.
fn prose(size: usize) -> Result<String> {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(sources())? {
        files.push(entry?.path());
    }
    files.sort();
    let mut text = String::new();
    for file in files {
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
            prose.push(if next(&mut state).is_multiple_of(12) {
                '\n'
            } else {
                ' '
            });
        }
    }
    prose.truncate(size);
    Ok(prose)
}

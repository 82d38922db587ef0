//! The programs of `bench/scaling`, each of which fails to scale for one reason: what they are and how they are
//! built.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::outputs::workspace;
use crate::process::run;
use crate::program::is_cxx;
use crate::toolchain::{Toolchain, kept};

/// Arguments after the number of threads.
pub type Arguments = &'static [&'static str];

/// A program and the cause that is planted in it.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub source: &'static str,
    /// Why the planted variants do not scale.
    pub cause: &'static str,
    /// The variants with the cause, at full size.
    pub planted: &'static [Arguments],
    /// The variants without it.
    pub fixed: &'static [Arguments],
    /// The same variants, planted and fixed, at a size of a few milliseconds.
    pub small: &'static [Arguments],
}

/// All programs; `bench/scaling/README.md` says more.
pub const CASES: [Case; 11] = [
    Case {
        source: "cilksort.cpp",
        cause: "scheduling: tasks of half a microsecond on average (a merge of 200 items takes less)",
        planted: &[&["200000", "200", "30"], &["5000000", "200"]],
        fixed: &[&["5000000", "1000"], &["5000000", "10000"]],
        small: &[
            &["20000", "20", "2"],
            &["20000", "20000"],
            &["20000", "8000/4"],
        ],
    },
    Case {
        source: "array.c",
        cause: "work inflation: cells outside of the caches",
        planted: &[&["8388608", "1", "32"]],
        fixed: &[&["65536", "16", "32"], &["8388608", "64", "32"]],
        small: &[&["40960", "1", "32", "3"], &["10007", "8", "1", "2"]],
    },
    Case {
        source: "swaptions.c",
        cause: "load imbalance: the last thread takes the rest",
        planted: &[&["chunks"]],
        fixed: &[&["even"]],
        small: &[&["chunks", "5", "2000"], &["even", "5", "2000"]],
    },
    Case {
        source: "barriers.c",
        cause: "barriers whose waiters give up the processor",
        planted: &[&["yield"]],
        fixed: &[&["spin"]],
        small: &[&["yield", "50", "1000"], &["spin", "50", "1000"]],
    },
    Case {
        source: "grid.cpp",
        cause: "locks of cells",
        planted: &[&["locks"]],
        fixed: &[&["colours", "16"]],
        small: &[
            &["locks", "2", "9000", "17", "clumps"],
            &["colours", "2", "9000", "17", "clumps"],
            &["colours", "7", "9000", "17", "clumps"],
            &["refine", "2", "9000", "17", "clumps"],
        ],
    },
    Case {
        source: "ub.c",
        cause: "locks and barriers",
        planted: &[&["tiny", "sync"], &["rnd", "sync"], &["seq", "sync"]],
        fixed: &[&["tiny", "free"], &["rnd", "free"], &["seq", "free"]],
        small: &[
            &["tiny", "sync", "9", "9", "99"],
            &["tiny", "free", "9", "9", "99"],
        ],
    },
    Case {
        source: "serial.c",
        cause: "serial section: a third of the work",
        planted: &[&["serial"]],
        fixed: &[&["parallel"]],
        small: &[&["serial", "3", "999"], &["parallel", "3", "999"]],
    },
    Case {
        source: "convoy.c",
        cause: "one lock for all",
        planted: &[&["one"]],
        fixed: &[&["own"]],
        small: &[&["one", "20000"], &["own", "20000"]],
    },
    Case {
        source: "falseshare.c",
        cause: "work inflation: counters in one cache line",
        planted: &[&["near"]],
        fixed: &[&["apart"]],
        small: &[&["near", "100003"], &["apart", "100003"]],
    },
    Case {
        source: "triad.c",
        cause: "work inflation: memory bandwidth",
        planted: &[&["sweeps"]],
        fixed: &[&["blocks"]],
        small: &[&["sweeps", "30001", "5"], &["blocks", "30001", "5"]],
    },
    Case {
        source: "tinytasks.c",
        cause: "scheduling: a task for each item",
        planted: &[&["tiny"]],
        fixed: &[&["coarse"]],
        small: &[&["tiny", "5003", "20"], &["coarse", "5003", "20"]],
    },
];

impl Case {
    #[must_use]
    pub fn path(&self) -> PathBuf {
        workspace().join("bench/scaling").join(self.source)
    }

    #[must_use]
    pub fn name(&self) -> &'static str {
        self.source.split('.').next().unwrap_or(self.source)
    }

    pub fn named(name: &str) -> Result<&'static Self> {
        CASES
            .iter()
            .find(|case| case.name() == name)
            .with_context(|| format!("no program {name} in bench/scaling"))
    }

    /// The program, built natively and kept for the next who wants it.
    pub fn built(&self) -> Result<PathBuf> {
        let source = std::fs::read(self.path())?;
        let name = format!("scaling-{}", self.name());
        let folder = kept(&Toolchain::native(), &name, &source, |to| {
            self.build(to).map(drop)
        })?;
        Ok(folder.join(self.name()))
    }

    /// Builds the program natively in `dir`.
    pub fn build(&self, dir: &Path) -> Result<PathBuf> {
        std::fs::create_dir_all(dir)?;
        let program = dir.join(self.name());
        compile(&self.path(), &program)?;
        Ok(program)
    }

    /// What the program prints with so many threads and these arguments.
    pub fn output(program: &Path, threads: &str, arguments: Arguments) -> Result<String> {
        let mut command = Command::new(program);
        command.arg(threads).args(arguments);
        Ok(run(&mut command)?.ok()?.out())
    }
}

/// Compiles an OpenMP or pthreads program natively.
pub fn compile(source: &Path, to: &Path) -> Result<()> {
    let cxx = is_cxx(source);
    let mut compile = Command::new(if cxx { "clang++-22" } else { "clang-22" });
    if cxx {
        compile.arg("-std=c++17");
    }
    compile
        .args(["-O2", "-g", "-Wall", "-Wextra", "-Werror"])
        .args(["-fopenmp", "-pthread"])
        .arg(source)
        .args(["-lm", "-o"])
        .arg(to);
    run(&mut compile)?.ok()?;
    Ok(())
}

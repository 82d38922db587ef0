//! Our own measured programs, and how long they run.

use std::path::{Path, PathBuf};

/// What a program spends its time with; the goals depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Affine,
    Float,
    Gather,
    Pointer,
    Branchy,
    Hashing,
    String,
    Call,
    Sync,
    /// Programs that nobody here wrote, by what they are made of, come last.
    Real,
    RealThreads,
    RealOpenMp,
    RealAtomics,
    RealFortran,
}

impl Class {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Affine => "affine",
            Self::Float => "floating point",
            Self::Gather => "gather",
            Self::Pointer => "pointers",
            Self::Branchy => "branchy",
            Self::Hashing => "hashing",
            Self::String => "strings",
            Self::Real => "Debian, one thread",
            Self::RealThreads => "Debian, threads",
            Self::RealOpenMp => "Debian, OpenMP",
            Self::RealAtomics => "Debian, atomics",
            Self::RealFortran => "Debian, Fortran",
            Self::Call => "call-bound",
            Self::Sync => "sync-bound",
        }
    }

    /// Whether the general goals apply; call-bound and sync-bound programs have goals of their own.
    pub(crate) fn is_general(self) -> bool {
        !matches!(self, Self::Call | Self::Sync | Self::RealAtomics)
    }

    /// Whether nobody here wrote the program.
    pub(crate) fn is_real(self) -> bool {
        self >= Self::Real
    }
}

/// A program of `programs/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    pub(crate) file: &'static str,
    pub(crate) class: Class,
    pub(crate) threads: u32,
    /// Repetitions. Natively they took 0.3 seconds of CPU time where they were chosen, and less for
    /// the sync-bound programs.
    pub(crate) reps: u64,
}

impl Program {
    const fn new(file: &'static str, class: Class, threads: u32, reps: u64) -> Self {
        Self { file, class, threads, reps }
    }

    /// The file's name without its extension.
    pub(crate) fn name(&self) -> &'static str {
        self.file.split_once('.').map_or(self.file, |(name, _)| name)
    }

    pub(crate) fn source(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(self.file)
    }
}

pub(crate) const PROGRAMS: [Program; 36] = [
    Program::new("triad.c", Class::Affine, 1, 90_000),
    Program::new("stencil.c", Class::Affine, 1, 13_000),
    Program::new("matmul.c", Class::Affine, 1, 230),
    Program::new("lu.c", Class::Affine, 1, 460),
    Program::new("triad_threads.c", Class::Affine, 2, 91_000),
    Program::new("fft.c", Class::Float, 1, 3_100),
    Program::new("nbody.c", Class::Float, 1, 31_000),
    Program::new("shapes.cpp", Class::Float, 1, 3_400),
    Program::new("gather.c", Class::Gather, 1, 3_600),
    Program::new("spmv.c", Class::Gather, 1, 3_900),
    Program::new("histogram.c", Class::Gather, 1, 14_000),
    Program::new("histogram_threads.c", Class::Gather, 2, 13_000),
    Program::new("bfs.c", Class::Gather, 1, 1_500),
    Program::new("chase.c", Class::Pointer, 1, 1_100),
    Program::new("tree.c", Class::Pointer, 1, 120),
    Program::new("maps.cpp", Class::Pointer, 1, 370),
    Program::new("quicksort.c", Class::Branchy, 1, 64),
    Program::new("branchy.c", Class::Branchy, 1, 690),
    Program::new("nqueens.c", Class::Branchy, 1, 6_300),
    Program::new("life.c", Class::Branchy, 1, 2_400),
    Program::new("sort.cpp", Class::Branchy, 1, 210),
    Program::new("quicksort_threads.cpp", Class::Branchy, 2, 66),
    Program::new("hash.c", Class::Hashing, 1, 300),
    Program::new("crc.c", Class::Hashing, 1, 1_200),
    Program::new("strings.c", Class::String, 1, 1_100),
    Program::new("words.cpp", Class::String, 1, 320),
    Program::new("fib.c", Class::Call, 1, 7_500),
    Program::new("parser.c", Class::Call, 1, 1_500),
    Program::new("dispatch.c", Class::Call, 1, 11_000),
    Program::new("locks.c", Class::Sync, 1, 10_000),
    Program::new("atomics.c", Class::Sync, 1, 20_000),
    Program::new("untied.c", Class::Sync, 2, 60),
    Program::new("spin.c", Class::Sync, 2, 100),
    Program::new("bank_threads.c", Class::Sync, 2, 10_000),
    Program::new("queue_threads.cpp", Class::Sync, 2, 100_000),
    Program::new("barrier_threads.c", Class::Sync, 2, 30_000),
];

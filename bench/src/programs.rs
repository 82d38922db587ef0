//! The measured programs and how long they run.

use std::path::{Path, PathBuf};

use anyhow::Result;
use contech_tests::process::run;
use contech_tests::toolchain::Toolchain;

/// A program of `programs/` and its repetitions: natively about half a second.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// File name.
    pub file: &'static str,
    /// Repetitions where the trace is thrown away.
    pub reps: u64,
}

/// All of them: arrays, indirection, recursion, calls, text, C++; the last ones with two threads.
pub const PROGRAMS: [Program; 17] = [
    Program {
        file: "triad.c",
        reps: 100_000,
    },
    Program {
        file: "stencil.c",
        reps: 20_000,
    },
    Program {
        file: "matmul.c",
        reps: 350,
    },
    Program {
        file: "spmv.c",
        reps: 5_000,
    },
    Program {
        file: "histogram.c",
        reps: 16_000,
    },
    Program {
        file: "quicksort.c",
        reps: 80,
    },
    Program {
        file: "tree.c",
        reps: 150,
    },
    Program {
        file: "hash.c",
        reps: 400,
    },
    Program {
        file: "nqueens.c",
        reps: 8_000,
    },
    Program {
        file: "fib.c",
        reps: 10_000,
    },
    Program {
        file: "parser.c",
        reps: 5_000,
    },
    Program {
        file: "nbody.c",
        reps: 40_000,
    },
    Program {
        file: "words.cpp",
        reps: 400,
    },
    Program {
        file: "shapes.cpp",
        reps: 5_000,
    },
    Program {
        file: "triad_threads.c",
        reps: 100_000,
    },
    Program {
        file: "histogram_threads.c",
        reps: 16_000,
    },
    Program {
        file: "quicksort_threads.cpp",
        reps: 80,
    },
];

/// Repetitions are divided by this where the trace is kept: gigabytes otherwise.
pub const KEPT_SHARE: u64 = 20;

impl Program {
    /// The name without its extension.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.file
            .split_once('.')
            .map_or(self.file, |(name, _)| name)
    }

    /// Compiles it at -O2 into `to`.
    ///
    /// # Errors
    /// With the compiler's messages.
    pub fn compile(&self, tools: &Toolchain, to: &Path) -> Result<PathBuf> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("programs")
            .join(self.file);
        let cxx = contech_tests::program::is_cxx(&source);
        let executable = to.join(self.name());
        let mut command = std::process::Command::new(tools.compiler(cxx));
        command.args(["-O2", "-pthread"]);
        if cxx {
            command.arg("-std=c++17");
        }
        command.arg(&source).arg("-lm").arg("-o").arg(&executable);
        run(&mut command)?.ok()?;
        Ok(executable)
    }
}

//! The ways in which a program is built: at its levels, to compare its graph with what is expected;
//! and with `--contech-check` at each level (also for this processor) with and without link-time
//! optimisation. Then every context's fast form must decode to its naive form, block by block and
//! operand by operand.

use std::fmt;

use contech_tests::matrix;
use contech_tests::program::{Language, Program};

/// How a program is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) level: String,
    /// Both forms are recorded.
    pub(crate) check: bool,
    /// Further flags.
    flags: Vec<&'static str>,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let check = if self.check { "-check" } else { "" };
        write!(f, "{}{check}{}", self.level, self.flags.concat())
    }
}

/// Optimisation levels with further flags.
const LEVELS: [(&str, &[&str]); 5] =
    [("O0", &[]), ("O1", &[]), ("O2", &[]), ("O3", &[]), ("O3", &["-march=native"])];

/// Flags of link-time optimisation.
const LTO: [&str; 2] = ["-flto", "-fuse-ld=lld"];

/// A program of which nothing can be compared above `-O0`: SIGKILL takes the buffers along, and
/// only at `-O0` is one full, and in the file, before.
const UNCOMPARED: &str = "killed";

impl Way {
    /// The ways that this run takes: at one level, or in one way with both forms.
    pub(crate) fn of(program: &Program) -> Vec<Self> {
        let forms = [Self::plain(program), Self::checked(program)];
        let forms: Vec<_> = forms.into_iter().filter(|ways| !ways.is_empty()).collect();
        let taken = matrix::ways(&format!("form of {}", program.name), &forms);
        matrix::ways(&program.name, &taken.concat())
    }

    fn plain(program: &Program) -> Vec<Self> {
        let way = |level: &String| Self { level: level.clone(), check: false, flags: Vec::new() };
        program.levels.iter().map(way).collect()
    }

    fn checked(program: &Program) -> Vec<Self> {
        if !program.can_run() {
            return Vec::new();
        }
        // flang uses the same LLVM, so one level shows that its bitcode links as clang's does.
        let fortran = Language::of(&program.source) == Language::Fortran;
        let mut ways = Vec::new();
        for linked in [&[][..], &LTO] {
            for (level, flags) in LEVELS {
                let left_out = if linked.is_empty() { level == "O1" } else { level != "O2" };
                if fortran && left_out || program.name == UNCOMPARED && level != "O0" {
                    continue;
                }
                ways.push(Self {
                    level: level.to_owned(),
                    check: true,
                    flags: [flags, linked].concat(),
                });
            }
        }
        ways
    }

    /// Whether the graph is to be what the program says.
    pub(crate) fn has_graph(&self, program: &Program) -> bool {
        let whole = !self.check || !is_repeated(program);
        self.flags.is_empty() && program.levels.contains(&self.level) && whole
    }

    /// The program as it is built natively and, with the option that records both forms, to be
    /// recorded.
    pub(crate) fn built(&self, program: &Program) -> [Program; 2] {
        let mut native = program.clone();
        if !self.check {
            return [native.clone(), native];
        }
        if is_repeated(program) {
            native.args.clear();
        }
        native.flags.extend(self.flags.iter().map(ToString::to_string));
        let mut recorded = native.clone();
        recorded.flags.push("--contech-check".to_owned());
        [native, recorded]
    }
}

/// Whether the program's argument says how often it repeats its work. Without, that is less often,
/// which is enough to compare both forms.
fn is_repeated(program: &Program) -> bool {
    program.check.as_deref() == Some("log-order")
}

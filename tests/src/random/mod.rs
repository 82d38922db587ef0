//! Random programs for the oracle: each a C or C++ program of one or two units, with or without a second
//! thread, that ends by printing a checksum of all it has computed.
//!
//! The same seed gives the same program. No program has undefined behaviour (arithmetic is unsigned, indices
//! are masked or bounded, loops count, recursion has fuel), so a program prints the same at every
//! optimisation level. Statements are numbered; leaving some out leaves the others as they were, which is
//! how a failing program is made smaller ([`minimise`]).

mod calls;
pub mod check;
mod expr;
pub mod level;
mod loops;
pub mod minimise;
mod rng;
mod scope;
mod stmt;
mod unit;

use std::collections::BTreeSet;

use rng::Rng;
use scope::{Array, Scope};

/// A generated program.
#[derive(Debug, Clone)]
pub struct Source {
    /// The text of each unit.
    pub units: Vec<String>,
    /// Whether it is C++.
    pub cxx: bool,
    /// Number of statements, which can be left out.
    pub statements: u32,
}

/// A function `u64 f(u64, struct S *, int)`.
#[derive(Debug, Clone)]
struct Function {
    name: String,
    unit: u32,
    /// Callable from other units.
    shared: bool,
}

/// A function of pointers to elements of a type.
#[derive(Debug, Clone)]
struct Leaf {
    name: String,
    unit: u32,
    ty: &'static str,
}

#[derive(Debug)]
struct Generator<'a> {
    rng: Rng,
    dropped: &'a BTreeSet<u32>,
    cxx: bool,
    threads: bool,
    statements: u32,
    most_statements: u32,
    names: u32,
    unit: u32,
    scope: Scope,
    functions: Vec<Function>,
    leaves: Vec<Leaf>,
    /// And whether only the first unit sees it.
    arrays: Vec<(Array, bool)>,
}

impl Generator<'_> {
    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
}

/// The program of a seed without the statements that are `dropped`.
#[must_use]
pub fn generate(seed: u64, dropped: &BTreeSet<u32>) -> Source {
    let mut rng = Rng::new(seed);
    let cxx = rng.chance(33);
    let threads = rng.chance(12);
    let mut generator = Generator {
        rng,
        dropped,
        cxx,
        threads,
        statements: 0,
        most_statements: 0,
        names: 0,
        unit: 0,
        scope: Scope::default(),
        functions: Vec::new(),
        leaves: Vec::new(),
        arrays: Vec::new(),
    };
    Source {
        units: generator.units(),
        cxx,
        statements: generator.statements,
    }
}

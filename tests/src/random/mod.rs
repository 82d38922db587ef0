//! Random programs for the oracle. Each is a C or C++ program of one or two units, with or without
//! threads, that prints a checksum of everything it has computed. `shape.rs` says what else a
//! program has.
//!
//! The same seed gives the same program. No program has undefined behaviour (arithmetic is
//! unsigned, indices are masked or bounded, loops count, recursion has fuel), so a program prints
//! the same at every optimisation level. Statements are numbered; leaving some out leaves the
//! others as they were, which is how a failing program is made smaller ([`minimise`]).

pub mod check;
mod coroutines;
mod ending;
mod expr;
mod grammar;
mod loops;
pub mod minimise;
mod modules;
pub mod rng;
mod scope;
mod shape;
mod signals;
mod stmt;
mod system;
mod unit;
mod unwinding;
pub mod way;

use std::collections::{BTreeMap, BTreeSet};

use rng::Rng;
use scope::{Array, Scope};
use shape::Shape;

#[derive(Debug, Clone, Default)]
pub struct Source {
    pub units: Vec<String>,
    /// Whether the last unit is a shared library of its own.
    pub library: bool,
    /// A module to load at run time. It is built twice: as `one.so` with `K` of 1 and as `two.so`
    /// with `K` of 2, in the language of the program.
    pub plugin: Option<String>,
    pub cxx: bool,
    /// Threads end while `main` does, in another order each time, so the program is recorded several
    /// times.
    pub races: bool,
    /// Number of statements, which can be left out.
    pub statements: u32,
}

/// A function `u64 f(u64, struct S *, int)`.
#[derive(Debug, Clone)]
struct Function {
    name: String,
    unit: u32,
    /// Other units may call it.
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
    shape: Shape,
    statements: u32,
    most_statements: u32,
    names: u32,
    unit: u32,
    /// How deep the statement is nested, and the expression in it.
    depth: u32,
    level: u32,
    /// Names and texts that a text of the grammar keeps.
    kept: BTreeMap<String, String>,
    scope: Scope,
    functions: Vec<Function>,
    leaves: Vec<Leaf>,
    /// Each array, and whether only the first unit sees it.
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
    let shape = Shape::draw(&mut rng);
    let mut generator = Generator {
        rng,
        dropped,
        shape,
        statements: 0,
        most_statements: 0,
        names: 0,
        unit: 0,
        depth: 0,
        level: 0,
        kept: BTreeMap::new(),
        scope: Scope::default(),
        functions: Vec::new(),
        leaves: Vec::new(),
        arrays: Vec::new(),
    };
    let units = generator.units();
    Source {
        units,
        library: generator.shape.library,
        plugin: generator.plugin(),
        cxx: generator.shape.cxx,
        races: generator.shape.threads == shape::Threads::Leaving,
        statements: generator.statements,
    }
}

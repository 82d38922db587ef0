//! What a program has, drawn before anything else of it.

use super::rng::Rng;

/// What threads do beside the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// There are none.
    None,
    /// One works and is joined.
    Joined,
    /// Some work, say so and end while `main` ends too; others may go on until the process has ended.
    Leaving,
}

/// Which signals come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signals {
    None,
    /// The program raises them; handlers raise further ones.
    Raised,
    /// Timers send some besides.
    Ticking,
}

/// What a program has.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) cxx: bool,
    /// Files of its source.
    pub(crate) units: u32,
    /// The last unit is a shared library.
    pub(crate) library: bool,
    pub(crate) threads: Threads,
    pub(crate) signals: Signals,
    /// C++20 coroutines.
    pub(crate) coroutines: bool,
    /// Modules are loaded and closed.
    pub(crate) plugins: bool,
}

impl Shape {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let cxx = rng.chance(40);
        let units = if rng.chance(35) { 2 } else { 1 };
        Self {
            cxx,
            units,
            library: units > 1 && rng.chance(60),
            threads: match rng.weighted(&[70, 10, 20]) {
                0 => Threads::None,
                1 => Threads::Joined,
                _ => Threads::Leaving,
            },
            signals: match rng.weighted(&[50, 30, 20]) {
                0 => Signals::None,
                1 => Signals::Raised,
                _ => Signals::Ticking,
            },
            coroutines: cxx && rng.chance(50),
            plugins: rng.chance(15),
        }
    }

    pub(crate) fn threads(&self) -> bool {
        self.threads != Threads::None
    }

    pub(crate) fn signals(&self) -> bool {
        self.signals != Signals::None
    }
}

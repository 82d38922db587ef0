//! What a program has; this is drawn before anything else of the program.

use super::rng::Rng;

/// What threads do besides the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    None,
    /// One thread works and is joined.
    Joined,
    /// Some threads work, say so and end while `main` ends too; others may run until the process
    /// has ended.
    Leaving,
}

/// The signals that the program gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signals {
    None,
    /// The program raises signals, and their handlers raise further ones.
    Raised,
    /// Timers send signals as well.
    Ticking,
}

#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) cxx: bool,
    /// Number of source files.
    pub(crate) units: u32,
    /// The last unit is a shared library.
    pub(crate) library: bool,
    pub(crate) threads: Threads,
    pub(crate) signals: Signals,
    pub(crate) coroutines: bool,
    /// Modules are loaded and closed.
    pub(crate) plugins: bool,
    /// Processes are made, in many ways.
    pub(crate) forks: bool,
    /// Descriptors are opened, copied and closed.
    pub(crate) descriptors: bool,
    /// Another process stops the program and lets it go on.
    pub(crate) stops: bool,
}

impl Shape {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let cxx = rng.chance(40);
        let units = if rng.chance(35) { 2 } else { 1 };
        let library = units > 1 && rng.chance(60);
        let threads = match rng.weighted(&[70, 10, 20]) {
            0 => Threads::None,
            1 => Threads::Joined,
            _ => Threads::Leaving,
        };
        let signals = match rng.weighted(&[50, 30, 20]) {
            0 => Signals::None,
            1 => Signals::Raised,
            _ => Signals::Ticking,
        };
        Self {
            cxx,
            units,
            library,
            threads,
            signals,
            coroutines: cxx && rng.chance(50),
            plugins: rng.chance(15),
            // A fork that timers interrupt again and again would never succeed, natively too.
            forks: rng.chance(25) && signals != Signals::Ticking,
            descriptors: rng.chance(20),
            stops: rng.chance(8),
        }
    }

    pub(crate) fn threads(&self) -> bool {
        self.threads != Threads::None
    }

    pub(crate) fn signals(&self) -> bool {
        self.signals != Signals::None
    }
}

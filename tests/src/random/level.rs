//! Ways to compile a program.

/// Flags of the levels that seeds take in turn: `seed % LEVELS.len()`.
pub const LEVELS: [&str; 8] = [
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-O3 -march=native",
    "-O2 -flto",
    "-O3 -march=native -flto",
    "-O2 -fno-inline",
];

/// The level of a seed.
#[must_use]
pub fn of_seed(seed: u64) -> &'static str {
    let at = usize::try_from(seed % LEVELS.len() as u64).unwrap_or(0);
    LEVELS[at]
}

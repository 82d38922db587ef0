//! Bugs planted on purpose, to show that the oracle can fail: `CONTECH_PLANTED_BUG=NAME` in the compiler's
//! environment breaks one rule of the fast form. Only the tests set it, and the pass says so on stderr.

use std::sync::OnceLock;

use contech_plain::say;

const VARIABLE: &str = "CONTECH_PLANTED_BUG";

/// A rule that the bug breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// `dominance`: a value known on one way to a place counts as known there.
    Dominance,
    /// `delta`: an address derived from a recorded one is one byte off.
    Delta,
    /// `count`: a computed trip count is one too high.
    Count,
    /// `width`: of an integer of two bytes, one byte is recorded.
    Width,
}

const NAMES: [(&str, Bug); 4] = [
    ("dominance", Bug::Dominance),
    ("delta", Bug::Delta),
    ("count", Bug::Count),
    ("width", Bug::Width),
];

pub(crate) fn planted(bug: Bug) -> bool {
    static PLANTED: OnceLock<Option<Bug>> = OnceLock::new();
    *PLANTED.get_or_init(read) == Some(bug)
}

fn read() -> Option<Bug> {
    let name = std::env::var(VARIABLE).ok()?;
    let bug = NAMES.iter().find(|(n, _)| *n == name).map(|(_, bug)| *bug);
    match bug {
        Some(_) => say!("contech: the bug `{name}` is planted: what is recorded is wrong"),
        None => say!("contech: {VARIABLE}: there is no bug `{name}` to plant"),
    }
    bug
}

//! How much of a matrix of trials one run does: one way of each row for a commit, and another one
//! for the next, so that all are taken in time. Every way is taken with `cargo test-all --matrix`,
//! which sets `CONTECH_MATRIX` for the tests, and when the command line names tests.

use std::env::args;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::process::Command;
use std::sync::LazyLock;

use crate::outputs::workspace;

pub const VARIABLE: &str = "CONTECH_MATRIX";

/// The commit before those that are late.
const LATELY: &str = "HEAD~30";

/// The ways of `all` in which this run takes the row of this name.
#[must_use]
pub fn ways<T: Clone>(row: &str, all: &[T]) -> Vec<T> {
    // What the commit is does not matter; without git there is none.
    static COMMIT: LazyLock<String> = LazyLock::new(|| {
        let mut git = Command::new("git");
        git.current_dir(workspace()).args(["rev-parse", "HEAD"]);
        let said = git.output().map(|done| done.stdout).unwrap_or_default();
        String::from_utf8_lossy(&said).trim().to_owned()
    });
    if asked() {
        return all.to_vec();
    }
    one(&COMMIT, row, all).into_iter().cloned().collect()
}

/// The members of `all` that this run takes when they are dealt into so many shares, of which it
/// takes one.
#[must_use]
pub fn share<'a, T>(row: &str, all: &'a [T], shares: usize) -> Vec<&'a T> {
    let taken = ways(row, &(0..shares).collect::<Vec<_>>());
    let dealt = (0..shares).cycle().zip(all);
    dealt.filter_map(|(share, member)| taken.contains(&share).then_some(member)).collect()
}

/// Whether one of these paths, from the root of the repository, was changed in one of the last
/// commits or since. It is so, too, where git does not know.
#[must_use]
pub fn changed_lately(paths: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.current_dir(workspace());
    git.args(["-c", "safe.directory=*", "diff", "--quiet", LATELY, "--"]);
    let unchanged = git.args(paths).output().is_ok_and(|done| done.status.success());
    whole() || !unchanged
}

/// Whether the whole matrix is asked for, or the command line names tests.
#[must_use]
pub fn asked() -> bool {
    static NAMED: LazyLock<bool> =
        LazyLock::new(|| args().skip(1).any(|word| !word.starts_with('-')));
    whole() || *NAMED
}

/// Whether the whole matrix is asked for.
#[must_use]
pub fn whole() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value != "0")
}

fn one<'a, T>(commit: &str, row: &str, all: &'a [T]) -> Option<&'a T> {
    // This hasher has the same keys in every process.
    let hasher = BuildHasherDefault::<DefaultHasher>::new();
    let at = hasher.hash_one((commit, row)).checked_rem(all.len() as u64)?;
    all.get(usize::try_from(at).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_one_way_and_in_one_commit_always_the_same() {
        let all: Vec<u32> = (0..10).collect();
        for row in ["a", "mutex_normal", "omp_loops"] {
            let way = one("c0ffee", row, &all);
            assert!(way.is_some());
            assert_eq!(way, one("c0ffee", row, &all));
        }
        assert_eq!(one::<u32>("c0ffee", "a", &[]), None);
    }
}

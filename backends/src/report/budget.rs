//! How much of a long run the models of the page look at.

use std::time::Duration;

use crate::duration::duration;

/// Without another budget, s.
const USUAL: Duration = Duration::from_secs(10);
/// Accesses that the models look at in the usual budget: those that can do with some of the cache
/// lines, and those that need all lines, which take less for each access. The numbers do not depend
/// on the machine, so neither do results.
const SOME_LINES: u64 = 1 << 24;
const ALL_LINES: u64 = 1 << 26;

/// The time that the models may take.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Budget {
    /// About how long the models of caches, sharing and races may take. Of a run that is too long
    /// for that they look at some cache lines, or at windows of time, and the page says so
    /// [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "exact")]
    budget: Option<Duration>,
    /// Let the models look at all of the run, however long that takes
    #[arg(long)]
    exact: bool,
}

impl Budget {
    /// The accesses that a model looks at which can do with some lines; `None` for all.
    pub(super) fn lines(self) -> Option<u64> {
        self.part(SOME_LINES)
    }

    /// The same for a model that needs all lines.
    pub(super) fn all_lines(self) -> Option<u64> {
        self.part(ALL_LINES)
    }

    fn part(self, usual: u64) -> Option<u64> {
        let nanos = self.budget.unwrap_or(USUAL).as_nanos();
        let most = u128::from(usual) * nanos / USUAL.as_nanos();
        (!self.exact).then_some(u64::try_from(most).unwrap_or(u64::MAX).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_time_is_more_accesses_and_exact_is_all() {
        assert_eq!(Budget::default().lines(), Some(SOME_LINES));
        let budget = Budget { budget: Some(Duration::from_secs(20)), exact: false };
        assert_eq!(budget.all_lines(), Some(2 * ALL_LINES));
        let exact = Budget { exact: true, ..budget };
        assert_eq!((exact.lines(), exact.all_lines()), (None, None));
    }
}

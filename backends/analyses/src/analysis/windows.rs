//! A part of a run that stands for all of it: windows of what is executed, one in each stretch of
//! equal length. So a model that would take too long looks at all lines and all contexts, but not
//! all the time.

use std::ops::Range;

/// Block executions of a window. What a context does to others comes in bursts, so many short
/// windows say more than a few long ones (one contended counter: 543,623 misses; with windows of
/// 2^18 executions 0.36 to 0.9 million). A line that was used between two windows costs a miss too
/// much in each, which is little beside this length.
const LENGTH: u64 = 1 << 14;

/// Windows, and how many block executions were passed.
#[derive(Clone, Debug)]
pub struct Windows {
    /// One of so many executions is in a window.
    every: u64,
    passed: u64,
}

impl Windows {
    /// For a run with so many accesses, about `most` of which may be looked at: as many as fit, in
    /// powers of two, or `None` if all fit.
    #[must_use]
    pub fn within(accesses: u64, most: u64) -> Option<Self> {
        let mut every = 1;
        while accesses / every > most.max(1) {
            every *= 2;
        }
        (every > 1).then_some(Self { every, passed: 0 })
    }

    /// One of so many block executions is looked at.
    #[must_use]
    pub fn every(&self) -> u64 {
        self.every
    }

    /// What was said of one part of all executions, in words. `who` looked at it.
    #[must_use]
    pub fn sentence(every: u64, who: &str) -> String {
        format!("{who} one of {every} windows of {LENGTH} block executions; --exact looks at all.")
    }

    /// Where in a stretch its window begins. Windows at equal distances could miss what comes at
    /// equal distances, too.
    fn begin(&self, stretch: u64) -> u64 {
        let scattered = stretch.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        scattered % (LENGTH * (self.every - 1) + 1)
    }

    /// Passes `n` executions, and calls `f` with parts of them, in order, and whether these are in
    /// a window.
    ///
    /// # Errors
    /// What `f` returns first.
    pub(super) fn pass<E>(
        &mut self,
        n: u64,
        mut f: impl FnMut(Range<u64>, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let (start, length) = (self.passed, LENGTH * self.every);
        self.passed += n;
        let (mut at, mut told) = (0, 0);
        while at < n {
            let stretch = (start + at) / length;
            let window = stretch * length + self.begin(stretch);
            let from = at.max(window.saturating_sub(start)).min(n);
            let to = (window + LENGTH).saturating_sub(start).min(n);
            if from < to {
                if told < from {
                    f(told..from, false)?;
                }
                f(from..to, true)?;
                told = to;
            }
            at = ((stretch + 1) * length - start).min(n);
        }
        match told < n {
            true => f(told..n, false),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The executions that are looked at, if they come in pieces of `piece`.
    fn seen(every: u64, all: u64, piece: u64) -> Vec<Range<u64>> {
        let mut windows = Windows { every, passed: 0 };
        let mut seen: Vec<Range<u64>> = Vec::new();
        let mut from = 0;
        while from < all {
            let n = piece.min(all - from);
            let mut passed = 0;
            let each = |part: Range<u64>, is_seen: bool| {
                assert_eq!(std::mem::replace(&mut passed, part.end), part.start);
                if !is_seen {
                    return Ok(());
                }
                let (start, end) = (from + part.start, from + part.end);
                match seen.last_mut().filter(|last| last.end == start) {
                    Some(last) => last.end = end,
                    None => seen.push(start..end),
                }
                Ok::<_, ()>(())
            };
            windows.pass(n, each).expect("no error");
            assert_eq!(passed, n, "every execution comes once");
            from += n;
        }
        seen
    }

    #[test]
    fn windows_do_not_depend_on_the_pieces_and_each_stretch_has_one() {
        let all = 20 * 8 * LENGTH;
        let whole = seen(8, all, all);
        assert_eq!(seen(8, all, LENGTH / 4), whole);
        assert_eq!(seen(8, all, 3 * LENGTH), whole);
        let looked_at: u64 = whole.iter().map(|part| part.end - part.start).sum();
        assert_eq!(looked_at, 20 * LENGTH);
        let begins: Vec<u64> = whole.iter().map(|part| part.start % (8 * LENGTH)).collect();
        assert!(begins.iter().any(|&begin| begin != begins[0]));
    }

    #[test]
    fn a_run_that_fits_has_no_windows() {
        assert!(Windows::within(100, 100).is_none());
        assert_eq!(Windows::within(101, 100).map(|w| w.every()), Some(2));
        assert_eq!(Windows::within(1000, 100).map(|w| w.every()), Some(16));
    }
}

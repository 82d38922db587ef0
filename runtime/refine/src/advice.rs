//! Partition refinement of a finished run: what its overheads say about its partition size.

use crate::equation::{fraction, largest_imbalance, ratio};

/// A smaller overhead, as a fraction of P T, counts as none.
const SMALL: f64 = 0.02;

/// A data-parallel loop as it ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Total number of items.
    pub items: u64,
    /// Number of items of a partition.
    pub size: u64,
    /// Workers, P.
    pub workers: u32,
    /// Scheduling overhead as a fraction of P T.
    pub scheduling: f64,
    /// Load imbalance as a fraction of P T.
    pub imbalance: f64,
}

/// What to do about the size.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The size to try next, which is the present size if that is right.
    pub size: u64,
    /// The largest fraction of P T that a better size could give back.
    pub at_stake: f64,
    /// The advice in words.
    pub sentence: String,
}

/// The size to try next, by equation 9, and the reason.
///
/// One step of the equation may not reach the best size, so the run should be measured again with the suggested size.
#[must_use]
pub fn advice(seen: &Observed) -> Advice {
    let (items, workers) = (seen.items.max(1), seen.workers.max(1));
    let size = seen.size.clamp(1, items);
    let scheduling = fraction(seen.scheduling, 1.0);
    let imbalance = fraction(seen.imbalance, largest_imbalance(workers));
    let largest = items.div_ceil(u64::from(workers));
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes beyond 2^53 need no last digit; the cast saturates"
    )]
    let stepped = (size as f64 * ratio(workers, scheduling, imbalance)).round() as u64;
    let next = if workers == 1 {
        items
    } else {
        stepped.clamp(1, largest)
    };
    let parts = items.div_ceil(size);
    let is = format!(
        "{items} items in {parts} partitions of {size}: {:.0}% of the processors' time went into scheduling, {:.0}% into load imbalance",
        100.0 * scheduling,
        100.0 * imbalance
    );
    let stay = |why: &str| Advice {
        size,
        at_stake: 0.0,
        sentence: format!("{is}; {why}."),
    };
    if workers == 1 {
        return if scheduling < SMALL {
            stay("with one worker the size does not matter")
        } else {
            Advice {
                size: items,
                at_stake: scheduling,
                sentence: format!("{is}; one worker needs one partition."),
            }
        };
    }
    if scheduling + imbalance < SMALL {
        return stay("no other size would gain anything");
    }
    let bound = if imbalance > scheduling {
        size == 1
    } else {
        size >= largest
    };
    if bound {
        return stay(if size == 1 {
            "they are as small as they can be: make the items smaller, or hand out the heaviest ones first"
        } else {
            "there is one for each worker: make their creation cheaper, or give them more to do"
        });
    }
    let near = |a: u64, b: u64| a.abs_diff(b) * 10 <= b;
    if near(next, size) {
        return stay("the two are in balance: no other size is expected to be much better");
    }
    let (change, why) = if next > size {
        ("larger", "scheduling outweighs imbalance")
    } else {
        ("smaller", "imbalance outweighs scheduling")
    };
    Advice {
        size: next,
        at_stake: scheduling + imbalance,
        sentence: format!(
            "{is}; {why}: try {change} ones, of about {next}, and measure again (partition refinement, equation 9)."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(size: u64, workers: u32, scheduling: f64, imbalance: f64) -> Advice {
        advice(&Observed {
            items: 10_000,
            size,
            workers,
            scheduling,
            imbalance,
        })
    }

    #[test]
    fn scheduling_asks_for_larger_ones_and_imbalance_for_smaller_ones() {
        let larger = of(10, 4, 0.5, 0.0);
        assert_eq!(larger.size, 37); // 10 * (16 * 0.5 + 3) / 3
        assert!(
            larger.sentence.contains("larger ones, of about 37"),
            "{}",
            larger.sentence
        );
        assert!((larger.at_stake - 0.5).abs() < 1e-12);
        let smaller = of(2500, 4, 0.0, 0.75);
        assert_eq!(smaller.size, 500); // a fifth: P + 1
        assert!(
            smaller.sentence.contains("smaller ones, of about 500"),
            "{}",
            smaller.sentence
        );
    }

    #[test]
    fn what_is_balanced_small_or_at_its_limit_stays() {
        for (size, scheduling, imbalance) in [
            (50, 0.2, 0.2),
            (50, 0.001, 0.01),
            (1, 0.0, 0.4),
            (2500, 0.3, 0.1),
        ] {
            let stays = of(size, 4, scheduling, imbalance);
            assert_eq!(stays.size, size, "{}", stays.sentence);
            assert!(stays.at_stake.abs() < 1e-12);
        }
    }

    #[test]
    fn one_worker_needs_one_partition() {
        assert_eq!(of(10, 1, 0.3, 0.0).size, 10_000);
        assert_eq!(of(10, 1, 0.0, 0.0).size, 10);
    }

    #[test]
    fn nonsense_is_answered_within_the_limits() {
        for (size, workers, scheduling) in
            [(0, 0, f64::NAN), (u64::MAX, 3, 7.0), (5, u32::MAX, -1.0)]
        {
            let answer = advice(&Observed {
                items: 0,
                size,
                workers,
                scheduling,
                imbalance: f64::INFINITY,
            });
            assert_eq!(answer.size, 1, "{}", answer.sentence);
        }
    }
}

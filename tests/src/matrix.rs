//! How much of a matrix of trials one run does: two ways of each row for a commit, every way with `cargo test-all
//! --matrix`, which sets `CONTECH_MATRIX` for the tests.

pub const VARIABLE: &str = "CONTECH_MATRIX";

#[must_use]
pub fn whole() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value != "0")
}

/// The ways of `all` in which a row of this name runs: every way for the whole matrix, otherwise two. The two depend
/// only on the name, so that many rows together take all ways.
#[must_use]
pub fn ways<T: Clone>(row: &str, all: &[T]) -> Vec<T> {
    if whole() { all.to_vec() } else { two(row, all) }
}

/// Those of a program's optimisation levels that one run takes: all for the whole matrix, otherwise -O0 and -O2,
/// whose recordings differ most.
#[must_use]
pub fn levels(named: &[String]) -> Vec<String> {
    let chosen = |level: &&String| whole() || *level == "O0" || *level == "O2";
    let levels: Vec<String> = named.iter().filter(chosen).cloned().collect();
    if levels.is_empty() {
        named.to_vec()
    } else {
        levels
    }
}

fn two<T: Clone>(row: &str, all: &[T]) -> Vec<T> {
    if all.len() <= 2 {
        return all.to_vec();
    }
    // This is the hash FNV-1a.
    let hash = row.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let below = |n: usize, of: u64| usize::try_from(of % n as u64).unwrap_or(0);
    let first = below(all.len(), hash >> 32);
    let second = (first + 1 + below(all.len() - 1, hash & 0xffff_ffff)) % all.len();
    let mut chosen = [first, second];
    chosen.sort_unstable();
    chosen.map(|at| all[at].clone()).to_vec()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_row_takes_two_ways_and_always_the_same() {
        let all: Vec<u32> = (0..10).collect();
        for row in ["a", "mutex_normal", "omp_loops"] {
            let ways = two(row, &all);
            assert_eq!(ways.len(), 2);
            assert!(ways[0] < ways[1], "{row}: {ways:?}");
            assert_eq!(ways, two(row, &all));
        }
        assert_eq!(two("a", &[7]), [7]);
    }

    #[test]
    fn fifty_rows_take_all_ways() {
        let all: Vec<u32> = (0..10).collect();
        let taken: BTreeSet<u32> = (0..50)
            .flat_map(|n| two(&format!("row{n}"), &all))
            .collect();
        assert_eq!(taken.len(), all.len());
    }
}

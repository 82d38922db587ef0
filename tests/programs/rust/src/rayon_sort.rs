//! Rayon's own sorts and iterators.
// MODE: verify

use rayon::prelude::*;

pub(crate) fn main() {
    let values: Vec<u64> = (0..4000u64)
        .into_par_iter()
        .map(|x| x.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
        .collect();
    let mut stable = values.clone();
    stable.par_sort();
    let mut unstable = values.clone();
    unstable.par_sort_unstable();
    assert!(stable == unstable && stable.is_sorted());
    let total: u64 = values.par_iter().map(|x| x % 1000).sum();
    println!("{total} {}", stable[7]);
}

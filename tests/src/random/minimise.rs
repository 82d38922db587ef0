//! Makes a failing program smaller.

use std::collections::BTreeSet;

/// The most statements that can be left out while `fails` stays true. They are found by leaving out
/// halves, then quarters, and so on (Zeller and Hildebrandt, *Simplifying and isolating
/// failure-inducing input*, 2002).
pub fn minimise(statements: u32, mut fails: impl FnMut(&BTreeSet<u32>) -> bool) -> BTreeSet<u32> {
    let mut dropped = BTreeSet::new();
    let mut length = statements.div_ceil(2).max(1);
    loop {
        let mut begin = 0;
        while begin < statements {
            let end = (begin + length).min(statements);
            let mut tried = dropped.clone();
            tried.extend(begin..end);
            if tried.len() > dropped.len() && fails(&tried) {
                dropped = tried;
            }
            begin = end;
        }
        if length == 1 {
            return dropped;
        }
        length = length.div_ceil(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_statements_that_matter_are_left() {
        let dropped = minimise(37, |d| !d.contains(&5) && !d.contains(&30));
        let left: Vec<u32> = (0..37).filter(|s| !dropped.contains(s)).collect();
        assert_eq!(left, [5, 30]);
    }
}

//! What things cost, from sums that hold several of them.
//!
//! If thing b cost m(b) for each of its amount N(s, b) in stretch s, the stretch would cost their
//! sum t'(s), and it cost t(s). The costs that make what was counted most likely are found step by
//! step (expectation maximisation, which is the method of Richardson and Lucy, 1972 and 1974): m(b)
//! is multiplied by the mean of t(s) / t'(s) over the amounts of b. Where little is known of a
//! thing, it keeps the pace of all.

use rustc_hash::FxHashMap;

use super::sums::{Sums, add_all};

/// Steps of the estimate.
const STEPS: usize = 64;

/// How much of what things cost is in each stretch, by stretch and thing.
pub(super) type Amounts<T> = Sums<(u32, T)>;

/// What each thing costs in all stretches.
pub(super) fn sums<T: Copy + Eq + std::hash::Hash>(
    amounts: &Amounts<T>,
    counted: &Sums<u32>,
    each: &Sums<T>,
) -> Sums<T> {
    let costs = amounts.iter().map(|(&(stretch, thing), amount)| {
        (stretch, thing, each.get(&thing).map_or(0.0, |each| each * amount))
    });
    let mut expected = FxHashMap::default();
    add_all(&mut expected, costs.clone().map(|(stretch, _, cost)| (stretch, cost)));
    let mut sums = FxHashMap::default();
    let divided = costs.filter(|(stretch, ..)| expected[stretch] > 0.0);
    add_all(
        &mut sums,
        divided.filter_map(|(stretch, thing, cost)| {
            Some((thing, cost * counted.get(&stretch)? / expected[&stretch]))
        }),
    );
    sums
}

/// What each thing costs for each of its amount, so that the stretches cost what was counted. Of a
/// thing whose amounts would cost `known` by the pace of all things, that pace is known as well as
/// what was counted; it may depend on the noise in what was counted. `None` if nothing was.
pub(super) fn explain<T: Copy + Eq + std::hash::Hash>(
    amounts: &Amounts<T>,
    counted: &Sums<u32>,
    known: impl Fn(T, f64) -> f64,
) -> Option<Sums<T>> {
    // Stretches and things get numbers.
    let mut things: FxHashMap<T, usize> = FxHashMap::default();
    let mut stretches: FxHashMap<u32, usize> = FxHashMap::default();
    let mut costs = Vec::new();
    let mut entries = Vec::new();
    for (&(stretch, thing), &amount) in amounts {
        let Some(&cost) = counted.get(&stretch).filter(|_| amount > 0.0) else {
            continue;
        };
        let next = things.len();
        let thing = *things.entry(thing).or_insert(next);
        let at = *stretches.entry(stretch).or_insert_with(|| {
            costs.push(cost);
            costs.len() - 1
        });
        entries.push((at, thing, amount));
    }
    let all: f64 = entries.iter().map(|entry| entry.2).sum();
    let pace = costs.iter().sum::<f64>() / all;
    if !pace.is_finite() || pace <= 0.0 {
        return None;
    }
    let mut sums = vec![0.0; things.len()];
    for &(_, thing, amount) in &entries {
        sums[thing] += amount;
    }
    let sample = Sample { entries, costs, sums, pace };
    let known = |noise| {
        let mut all = vec![0.0; things.len()];
        for (&thing, &at) in &things {
            all[at] = known(thing, noise);
        }
        all
    };
    let at_first = known(0.0);
    let (mut each, noise) = sample.fit(&at_first);
    let then = known(noise);
    if then != at_first {
        (each, _) = sample.fit(&then);
    }
    Some(things.into_iter().map(|(thing, at)| (thing, each[at])).collect())
}

/// What was counted, with numbers for stretches and things.
struct Sample {
    /// A stretch, a thing, and how much of it is in the stretch.
    entries: Vec<(usize, usize, f64)>,
    /// What each stretch costs.
    costs: Vec<f64>,
    /// How much there is of each thing.
    sums: Vec<f64>,
    /// What all things cost for each of their amount.
    pace: f64,
}

impl Sample {
    fn expected(&self, each: &[f64]) -> Vec<f64> {
        let mut expected = vec![0.0; self.costs.len()];
        for &(stretch, thing, amount) in &self.entries {
            expected[stretch] += each[thing] * amount;
        }
        expected
    }

    /// What each thing costs, and the variance of what is left unexplained over its mean. That is
    /// what one independent count stands for (McCullagh and Nelder, Generalized Linear Models,
    /// 1989, 4.5): 1 if chance alone counts, and more if other programs disturb the run.
    fn fit(&self, known: &[f64]) -> (Vec<f64>, f64) {
        let mut each = vec![self.pace; self.sums.len()];
        for _ in 0..STEPS {
            let expected = self.expected(&each);
            let mut more = vec![0.0; each.len()];
            for &(stretch, thing, amount) in &self.entries {
                if expected[stretch] > 0.0 {
                    more[thing] += amount * self.costs[stretch] / expected[stretch];
                }
            }
            for (thing, each) in each.iter_mut().enumerate() {
                let all = self.sums[thing] + known[thing] / self.pace;
                *each = (*each * more[thing] + known[thing]) / all;
            }
        }
        let both = self.costs.iter().zip(self.expected(&each));
        let left = both.map(|(cost, expected)| (cost - expected).powi(2) / expected.max(1.0));
        (each, left.sum::<f64>() / self.costs.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_things_cost_is_found_from_stretches_that_hold_several_of_them() {
        // A costs 1 and B 10. Of stretch 9 nothing was counted.
        let amounts: Amounts<char> = [
            ((0, 'a'), 10.0),
            ((0, 'b'), 10.0),
            ((1, 'a'), 50.0),
            ((1, 'b'), 10.0),
            ((2, 'a'), 30.0),
            ((9, 'a'), 1e6),
        ]
        .into_iter()
        .collect();
        let counted = [(0, 110.0), (1, 150.0), (2, 30.0)].into_iter().collect();
        let each = explain(&amounts, &counted, |_, _| 0.0).unwrap();
        assert!((each[&'a'] - 1.0).abs() < 0.05, "{each:?}");
        assert!((each[&'b'] - 10.0).abs() < 0.5, "{each:?}");
        let sums = sums(&amounts, &counted, &each);
        assert!((sums.values().sum::<f64>() - 290.0).abs() < 1e-6, "{sums:?}");
        let unknown = explain(&amounts, &counted, |_, _| 1e9).unwrap();
        assert!((unknown[&'a'] - unknown[&'b']).abs() < 0.1, "{unknown:?}");
        // What is left unexplained makes what is known of a thing worth more.
        let noisy = [(0, 150.0), (1, 90.0), (2, 50.0)].into_iter().collect();
        let each = |by: f64| explain(&amounts, &noisy, |_, noise| by * noise).unwrap();
        let [free, bound] = [0.0, 100.0].map(each);
        assert!(free[&'b'] / free[&'a'] > 2.0 * bound[&'b'] / bound[&'a']);
        assert_eq!(explain(&amounts, &FxHashMap::default(), |_, _| 0.0), None);
    }
}

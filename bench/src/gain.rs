//! How many times as fast one program is as another, on a machine that other programs use, too.
//!
//! Both have priority and run in turns. Only runs count in which a program had about as many
//! processors as in its best run: what others take of those that it leaves idle does not disturb
//! it.

use std::process::Command;

use anyhow::Result;

use crate::measure::{measure, with_priority};
use crate::spread::median;

/// A run that had fewer processors than the best one by more than this was disturbed.
const FEWER: f64 = 0.1;
/// At most so many times the wanted number of runs are made.
const AGAIN: usize = 4;

/// How many times as fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gain {
    pub(crate) times: f64,
    /// Whether there were enough runs that nothing disturbed.
    pub(crate) quiet: bool,
}

/// A run.
#[derive(Clone, Copy, Debug)]
struct Run {
    seconds: f64,
    /// Mean number of processors that it had.
    processors: f64,
}

impl Gain {
    /// Compares the commands that `before` and `after` make, by `runs` undisturbed runs of each.
    pub(crate) fn measured(commands: [&dyn Fn() -> Command; 2], runs: usize) -> Result<Self> {
        let mut all = [Vec::new(), Vec::new()];
        let mut quiet = false;
        for pair in 1..=runs * AGAIN {
            for (command, all) in commands.iter().zip(&mut all) {
                let (_, usage) = measure(with_priority(&mut command()))?;
                all.push(Run { seconds: usage.wall, processors: usage.cpu / usage.wall });
            }
            let enough = |all: &Vec<Run>| undisturbed(all).len() >= runs;
            quiet = all.iter().all(enough);
            if pair >= runs && quiet {
                break;
            }
        }
        let [before, after] = all.map(|all| median(&undisturbed(&all)));
        Ok(Self { times: before / after, quiet })
    }
}

/// The seconds of the undisturbed ones of several runs.
fn undisturbed(all: &[Run]) -> Vec<f64> {
    let most = all.iter().map(|run| run.processors).fold(0.0, f64::max);
    let quiet = all.iter().filter(|run| run.processors >= most - FEWER);
    quiet.map(|run| run.seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_had_fewer_processors_do_not_count() {
        let runs = [(2.0, 1.0), (1.0, 1.9), (1.1, 1.85), (3.0, 0.7)];
        let all = runs.map(|(seconds, processors)| Run { seconds, processors });
        assert_eq!(undisturbed(&all), [1.0, 1.1]);
    }
}

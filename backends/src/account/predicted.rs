//! What the run would take on other numbers of processors, as it is and without each of the largest losses.

use anyhow::Result;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::charges::Charge;
use super::group::{Key, When};
use super::replay::{Schedule, replay};
use super::steps::{Losses, Steps};
use super::{Account, Loss, Row};
use crate::analysis::Graph;

/// Number of losses that a replay removes, the largest ones; each has a bit of [`Losses`].
const MOST: usize = Losses::BITS as usize;

/// A loss on its way to the report.
#[derive(Debug)]
pub(super) struct Lost {
    pub(super) row: Row,
    /// Lost processor time, ns, and the part of it after what was waited for had happened.
    pub(super) ns: f64,
    pub(super) late: f64,
    pub(super) when: When,
    /// The groups that it is made of.
    pub(super) groups: Vec<u32>,
}

impl Lost {
    pub(super) fn new(row: Row, ns: f64) -> Self {
        Self {
            row,
            ns,
            late: 0.0,
            when: When::default(),
            groups: Vec::new(),
        }
    }
}

/// How many times as fast as the recorded run it would be, by number of processors. Empty if the run is too long to
/// be replayed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Predicted {
    /// The numbers of processors.
    pub processors: Vec<u32>,
    /// The program as it is, where whoever waits longest gets a free processor.
    pub greedy: Vec<f64>,
    /// The program as it is, where processors take work from each other.
    pub stealing: Vec<f64>,
}

impl Predicted {
    /// Replays a run of `total` ns of processor time as it is, and without each of its losses, whose groups have these
    /// keys.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub(super) fn of(
        graph: &Graph,
        account: &Account,
        keys: &[Key],
        total: f64,
        losses: &mut [Lost],
    ) -> Result<Self> {
        let own = account.processors;
        let processors = match account.on.as_slice() {
            [] => vec![own, own.saturating_mul(2)],
            on => on.to_vec(),
        };
        let replayed = |lost: &&mut Lost| lost.row.cause.is_replayed();
        let mut bits: FxHashMap<u32, Losses> = FxHashMap::default();
        let mut locks: FxHashMap<u64, Losses> = FxHashMap::default();
        let mut asleep = 0;
        for (lost, at) in losses.iter_mut().filter(replayed).zip(0..MOST) {
            for &group in &lost.groups {
                let known = match keys.get(group as usize) {
                    Some(&Key::Wait(_, lock)) if lost.row.cause == Loss::Lock => {
                        locks.entry(lock).or_default()
                    }
                    _ => bits.entry(group).or_default(),
                };
                *known |= 1 << at;
            }
            if lost.row.cause == Loss::Io {
                asleep |= 1 << at;
            }
        }
        let charged = |task| {
            let charges = account.blame.charges(task).iter();
            let bit = |charge: &Charge| bits.get(&charge.group).copied().unwrap_or(0);
            charges.map(bit).fold(0, std::ops::BitOr::bitor)
        };
        let Some(steps) = Steps::of(graph, charged, &locks, asleep)? else {
            return Ok(Self::default());
        };
        // What other programs took of the processors is no time of the program.
        let lost = losses.iter();
        let preempted = lost.filter(|lost| lost.row.cause == Loss::Preemption);
        let preempted: f64 = preempted.map(|lost| lost.ns).sum();
        let took = (total - preempted) / f64::from(own.max(1));
        let now = replay(&steps, own, Schedule::Greedy, 0).max(1.0);
        // What the replay does not explain stays, without the part of it that belongs to the removed loss.
        let predict = |on: u32, schedule, removed, late: f64| {
            let again = replay(&steps, on, schedule, removed);
            let late = late / f64::from(own.max(1));
            let ns = match took - now {
                more if more > 0.0 => again + (more - late).max(0.0),
                _ => again * took / now,
            };
            took / ns.max(1.0)
        };
        let speedups = |schedule, removed, late| -> Vec<f64> {
            let on = processors.iter();
            on.map(|&on| predict(on, schedule, removed, late)).collect()
        };
        let greedy = speedups(Schedule::Greedy, 0, 0.0);
        for lost in losses.iter_mut() {
            lost.row.mended = Row::scaled(&greedy, lost.row.share);
        }
        for (lost, at) in losses.iter_mut().filter(replayed).zip(0..MOST) {
            lost.row.mended = speedups(Schedule::Greedy, 1 << at, lost.late);
        }
        Ok(Self {
            stealing: speedups(Schedule::Stealing, 0, 0.0),
            processors,
            greedy,
        })
    }
}

impl Row {
    /// The speedups of a run that loses `share` of its time less.
    pub(super) fn scaled(speedups: &[f64], share: f64) -> Vec<f64> {
        speedups
            .iter()
            .map(|speedup| speedup / (1.0 - share).max(0.01))
            .collect()
    }
}

impl Loss {
    /// Whether a replay without the loss says what it costs. The other losses are not in the order of tasks but in
    /// how long these take.
    fn is_replayed(self) -> bool {
        matches!(
            self,
            Self::Serial
                | Self::Imbalance
                | Self::Lock
                | Self::Producer
                | Self::Handover
                | Self::Io
        )
    }
}

//! What the run would take on other numbers of processors, as it is and without each of the largest
//! losses.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::group::{Key, key};
use super::replay::{Losses, Nobody, Removable, SPINNING, Schedule, replay};
use super::strands::{MOST, Strands};
use super::wait::Kind;
use super::{Account, Loss, Row};

/// Number of losses that a replay removes, the largest ones, at most and of a very long run.
const REPLAYED: usize = 8;
const LEAST: usize = 2;
/// What code costs that is not waiting is estimated, and from recorded code, which is slower than
/// the program's own. It may be so many times as much beside the rest of the run. (Of 40 planted
/// faults most cost 1.5 to 3 times as much.)
const SPREAD: f64 = 3.0;
/// If to deal out the work between barriers evenly brings so many times what it brings to be without
/// the barriers, that is the cause.
const UNEQUAL: f64 = 1.5;
/// The bit of the first loss whose waits are removed, and not the code that is waited for.
const ROOMS: usize = REPLAYED;

/// A loss on its way to the report.
#[derive(Debug)]
pub(super) struct Lost {
    pub(super) row: Row,
    /// Lost processor time, ns.
    pub(super) ns: f64,
    /// The groups that it is made of.
    pub(super) groups: Vec<u32>,
    /// The lock of [`Row::lock`].
    pub(super) lock: Option<u64>,
}

impl Lost {
    pub(super) fn new(row: Row, ns: f64) -> Self {
        Self { row, ns, groups: Vec::new(), lock: None }
    }
}

/// How many times as fast as on its own processors the run would be, by number of processors. Empty
/// if the run is too long to be replayed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Predicted {
    /// The numbers of processors.
    pub processors: Vec<u32>,
    /// The program as it is, where whoever waits longest gets a free processor.
    pub greedy: Vec<f64>,
    /// The program as it is, where processors take work from each other. Empty if nobody asked for
    /// numbers of processors.
    pub stealing: Vec<f64>,
    /// Without the two losses that cost most, on the run's own processors. 0 if there are fewer.
    pub without_two: f64,
}

impl Predicted {
    /// Replays a run as it is, and without each of its largest losses, whose groups have these
    /// keys.
    pub(super) fn of(account: &Account, keys: &[Key], losses: &mut [Lost]) -> Self {
        if account.run.too_long {
            return Self::default();
        }
        let run = &account.run;
        let processors = match account.on.as_slice() {
            [] => vec![run.kept_to],
            on => on.to_vec(),
        };
        let all = run.strands.all.len().max(1);
        let most = (MOST / all).clamp(LEAST, REPLAYED);
        let replayed = |lost: &&mut Lost| lost.row.cause.is_replayed();
        let mut chosen: Vec<&mut Lost> = losses.iter_mut().filter(replayed).take(most).collect();
        let removable = removable(account, keys, &chosen);
        let gain = |on: u32, schedule, removed: Losses| {
            let losses = (&removable, removed);
            run.ns / replay(&run.strands, (on, schedule), losses, Nobody).0.max(1.0)
        };
        let gains = |schedule, removed| -> Vec<f64> {
            processors.par_iter().map(|&on| gain(on, schedule, removed)).collect()
        };
        // On its own processors the run as it is has been replayed already.
        let (greedy, stealing) = match account.on.is_empty() {
            true => (vec![1.0], Vec::new()),
            false => rayon::join(|| gains(Schedule::Greedy, 0), || gains(Schedule::Stealing, 0)),
        };
        let without = |removed: Losses| gains(Schedule::Greedy, removed);
        // Without each loss, and without what may be the cause of it.
        let bits: Vec<Losses> = (0..).zip(&chosen).map(|(at, lost)| bit(at, lost)).collect();
        let each = |(at, lost): (usize, &&mut Lost)| {
            let room = room(&run.strands, keys, lost);
            let more = room.is_some() || lost.lock.is_some() || lost.row.cause == Loss::Barrier;
            let more = || more.then(|| without(1 << (ROOMS + at)));
            (rayon::join(|| without(bits[at]), more), room)
        };
        let two = || match bits[..] {
            [one, two, ..] => gain(run.kept_to, Schedule::Greedy, one | two),
            _ => 0.0,
        };
        let (each, without_two) =
            rayon::join(|| chosen.par_iter().enumerate().map(each).collect::<Vec<_>>(), two);
        for (lost, ((mended, other), room)) in chosen.iter_mut().zip(each) {
            let row = &mut lost.row;
            row.mended = mended;
            let Some(other) = other else { continue };
            match room {
                // Who comes last to a barrier each time has more to do, however little that is: or
                // all of it, if the others do nothing before.
                None if row.cause == Loss::Barrier => {
                    let of = |gains: &[f64]| gains.first().copied().unwrap_or(1.0) - 1.0;
                    if of(&other) > of(&row.mended) * UNEQUAL {
                        let idle = |group: &u32| {
                            matches!(keys.get(*group as usize), Some((Kind::Idle, _)))
                        };
                        let serial = lost.groups.iter().all(idle);
                        row.cause = if serial { Loss::Serial } else { Loss::Imbalance };
                        row.mended = other;
                    }
                }
                // What helps more: that who takes from the queue is faster, or that the queue has
                // more places.
                Some(places) if other.first() > row.mended.first() => {
                    (row.mended, row.room) = (other, Some(places));
                }
                Some(_) => {}
                // To sleep or to wait for input without the lock.
                None => row.mended = other,
            }
        }
        for lost in losses.iter_mut().filter(|lost| lost.row.mended.is_empty()) {
            lost.row.mended = Row::scaled(&greedy, lost.row.share);
        }
        Self { without_two, stealing, processors, greedy }
    }
}

/// What a replay removes with the loss at this place.
fn bit(at: u32, lost: &Lost) -> Losses {
    if lost.row.cause == Loss::Spinning { SPINNING } else { 1 << at }
}

/// The number of places of the queue, if a loss is made of waits for room in one.
fn room(strands: &Strands, keys: &[Key], lost: &Lost) -> Option<u64> {
    let place = |group: &u32| match keys.get(*group as usize) {
        Some(&(Kind::Word, condition)) => strands.room(condition),
        _ => None,
    };
    let places: Option<Vec<u64>> = lost.groups.iter().map(place).collect();
    let places = places.filter(|_| lost.row.cause == Loss::Producer);
    places?.into_iter().max()
}

/// What each of the losses is charged to, with the loss's place as its bit. Without a lock nobody
/// waits for it, and with the bits from [`ROOMS`] on nobody waits for room, or for a lock whose
/// holder sleeps, and nobody comes late to a barrier.
fn removable(account: &Account, keys: &[Key], losses: &[&mut Lost]) -> Removable {
    let mut bits: FxHashMap<u32, Losses> = FxHashMap::default();
    let mut locks: FxHashMap<Key, Losses> = FxHashMap::default();
    let mut asleep = 0;
    for (at, lost) in losses.iter().enumerate() {
        let bit = 1 << at;
        let of_waits = matches!(lost.row.cause, Loss::Lock | Loss::Barrier);
        for &group in &lost.groups {
            let of = keys.get(group as usize);
            if let Some(&key) = of {
                *locks.entry(key).or_default() |= if of_waits { bit } else { bit << ROOMS };
            }
            if of.is_none() || !of_waits {
                *bits.entry(group).or_default() |= bit;
            }
            if lost.row.cause == Loss::Barrier {
                *bits.entry(group).or_default() |= bit << ROOMS;
            }
        }
        if lost.row.cause == Loss::Io {
            asleep |= bit;
        }
        if let Some(lock) = lost.lock {
            *locks.entry((Kind::Lock, lock)).or_default() |= bit << ROOMS;
        }
    }
    let Account { run, .. } = account;
    let waits = run.strands.waits.iter();
    let of_lock = waits.map(|wait| locks.get(&key(wait)).copied().unwrap_or(0));
    let mut strands = vec![0; run.strands.all.len()];
    for &(strand, group) in run.blame.charges.keys() {
        strands[strand] |= bits.get(&group).copied().unwrap_or(0);
    }
    for (at, strand) in run.strands.all.iter().enumerate() {
        let outside = run.strands.wait_of(at).is_some_and(|wait| wait.kind == Kind::Outside);
        if strand.sleeps {
            strands[at] = if outside { asleep } else { 0 };
        }
    }
    Removable { waits: of_lock.collect(), strands }
}

impl Row {
    /// What the run gains at most without what code costs.
    pub(super) fn most(&self) -> Option<f64> {
        let gain = self.promise()?;
        let waits = self.operations.as_ref().and_then(|of| of.mended.first().copied());
        match (self.cause.is_of_code(), waits) {
            (true, _) => Some(1.0 + SPREAD * (gain - 1.0)),
            (false, Some(waits)) => Some(waits + SPREAD * (gain - waits)),
            (false, None) => None,
        }
    }

    /// The speedups of a run that loses `share` of its time less.
    pub(super) fn scaled(speedups: &[f64], share: f64) -> Vec<f64> {
        speedups.iter().map(|speedup| speedup / (1.0 - share).max(0.01)).collect()
    }
}

impl Loss {
    /// Whether it is what code costs, and no waiting.
    fn is_of_code(self) -> bool {
        matches!(
            self,
            Self::Scheduling
                | Self::Sharing
                | Self::Cache
                | Self::Allocation
                | Self::Locking
                | Self::System
                | Self::Copying
        )
    }

    /// Whether a replay without the loss says what it costs. The other losses are not in the order
    /// of tasks but in how long these take.
    fn is_replayed(self) -> bool {
        matches!(
            self,
            Self::Serial
                | Self::Imbalance
                | Self::Lock
                | Self::Barrier
                | Self::Producer
                | Self::Handover
                | Self::Io
                | Self::Spinning
        )
    }
}

//! What the run would take on other numbers of processors, as it is and without each of the largest
//! losses.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::group::{Key, When};
use super::replay::{Losses, Nobody, Removable, SPINNING, Schedule, replay};
use super::strands::MOST;
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
    pub(super) when: When,
    /// The groups that it is made of.
    pub(super) groups: Vec<u32>,
    /// The lock of [`Row::lock`].
    pub(super) lock: Option<u64>,
}

impl Lost {
    pub(super) fn new(row: Row, ns: f64) -> Self {
        Self { row, ns, when: When::default(), groups: Vec::new(), lock: None }
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
        let (own, run) = (account.processors, &account.run);
        // On its own processors the run as it is has been replayed already.
        let (processors, mut wanted) = match account.on.as_slice() {
            [] => (vec![own], Vec::new()),
            on => (on.to_vec(), vec![(Schedule::Greedy, 0), (Schedule::Stealing, 0)]),
        };
        let all = run.strands.all.len().max(1);
        let most = (MOST / all).clamp(LEAST, REPLAYED);
        let replayed = |lost: &&mut Lost| lost.row.cause.is_replayed();
        let mut chosen: Vec<&mut Lost> = losses.iter_mut().filter(replayed).take(most).collect();
        let rooms = run.strands.rooms();
        let rooms: Vec<Option<u64>> = chosen.iter().map(|lost| room(&rooms, keys, lost)).collect();
        let removable = removable(account, keys, &chosen);
        let took = |on: u32, schedule, removed: Losses| {
            let losses = (&removable, removed);
            replay(&run.strands, (on, schedule), losses, Nobody).0
        };
        // What is left out with each replay, and how it is scheduled.
        let as_it_is = wanted.len();
        let bit = |(at, lost): (usize, &&mut Lost)| match lost.row.cause {
            Loss::Spinning => SPINNING,
            _ => 1 << at,
        };
        let bits: Vec<Losses> = chosen.iter().enumerate().map(bit).collect();
        wanted.extend(bits.iter().map(|&bit| (Schedule::Greedy, bit)));
        let at_barrier = |lost: &Lost| lost.row.cause == Loss::Barrier;
        let others = |at: &usize| {
            let lost: &Lost = chosen[*at];
            rooms[*at].is_some() || lost.lock.is_some() || at_barrier(lost)
        };
        let others: Vec<usize> = (0..chosen.len()).filter(others).collect();
        wanted.extend(others.iter().map(|at| (Schedule::Greedy, 1 << (ROOMS + at))));
        let two =
            bits.first().zip(bits.get(1)).map(|(one, two)| (own, Schedule::Greedy, one | two));
        let jobs = wanted.iter().flat_map(|&(schedule, removed)| {
            let on = processors.iter();
            on.map(move |&on| (on, schedule, removed))
        });
        let jobs: Vec<(u32, Schedule, Losses)> = jobs.chain(two).collect();
        let speedups: Vec<f64> = jobs
            .into_par_iter()
            .map(|(on, schedule, removed)| run.ns / took(on, schedule, removed).max(1.0))
            .collect();
        let mut speedups = speedups.into_iter();
        let mut next = || speedups.by_ref().take(processors.len()).collect();
        let (greedy, stealing) = match as_it_is {
            0 => (vec![1.0], Vec::new()),
            _ => (next(), next()),
        };
        for lost in &mut chosen {
            lost.row.mended = next();
        }
        for at in others {
            let (row, mended): (_, Vec<f64>) = (&mut chosen[at].row, next());
            match rooms[at] {
                // Who comes last to a barrier each time has more to do, however little that is: or
                // all of it, if the others do nothing before.
                None if row.cause == Loss::Barrier => {
                    let of = |gains: &[f64]| gains.first().copied().unwrap_or(1.0) - 1.0;
                    if of(&mended) > of(&row.mended) * UNEQUAL {
                        let idle = |group: &u32| {
                            let key = keys.get(*group as usize);
                            matches!(key, Some(Key::Wait(Kind::Idle, _)))
                        };
                        let serial = chosen[at].groups.iter().all(idle);
                        let row = &mut chosen[at].row;
                        row.cause = if serial { Loss::Serial } else { Loss::Imbalance };
                        row.mended = mended;
                    }
                }
                // What helps more: that who takes from the queue is faster, or that the queue has
                // more places.
                Some(places) if mended.first() > row.mended.first() => {
                    (row.mended, row.room) = (mended, Some(places));
                }
                Some(_) => {}
                // To sleep or to wait for input without the lock.
                None => row.mended = mended,
            }
        }
        for lost in losses.iter_mut().filter(|lost| lost.row.mended.is_empty()) {
            lost.row.mended = Row::scaled(&greedy, lost.row.share);
        }
        Self { without_two: speedups.next().unwrap_or(0.0), stealing, processors, greedy }
    }
}

/// The number of places of the queue, if a loss is made of waits for room in one.
fn room(rooms: &FxHashMap<u64, u64>, keys: &[Key], lost: &Lost) -> Option<u64> {
    let place = |group: &u32| match keys.get(*group as usize) {
        Some(Key::Wait(Kind::Word, condition)) => rooms.get(condition).copied(),
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
            let key = keys.get(group as usize);
            if let Some(&key) = key {
                *locks.entry(key).or_default() |= if of_waits { bit } else { bit << ROOMS };
            }
            if key.is_none() || !of_waits {
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
            *locks.entry(Key::Wait(Kind::Lock, lock)).or_default() |= bit << ROOMS;
        }
    }
    let Account { run, .. } = account;
    let waits = run.strands.waits.iter();
    let of_lock = waits.map(|waits| locks.get(&Key::of(&waits.wait)).copied().unwrap_or(0));
    let mut strands = vec![0; run.strands.all.len()];
    for charge in run.blame.charges.all() {
        strands[charge.strand] |= bits.get(&charge.group).copied().unwrap_or(0);
    }
    for (at, strand) in run.strands.all.iter().enumerate() {
        let outside = run.strands.wait_of(at).is_some_and(|waits| waits.wait.kind == Kind::Outside);
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

//! Parallel phases, from fork to join. What the participating threads do in a phase is added up by
//! place.

use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire,
    Ordering::Relaxed, Ordering::Release,
};

use contech_observation::{Model, State};

use crate::clock;
use crate::lane::parts::Member;
use crate::lane::{Lane, Ticks};
use crate::lanes;

/// The largest numbers of places where phases begin, and of phases that run at the same time.
const PLACES: usize = 1024;
const INSTANCES: usize = 64;

/// What threads did in a phase, or in all phases of a place.
pub(crate) struct Sums {
    pub(crate) threads: AtomicU32,
    pub(crate) slowest: AtomicU64,
    pub(crate) times: [AtomicU64; State::COUNT],
    pub(crate) pieces: AtomicU64,
    /// Whether iterations or tasks were handed out at run time.
    pub(crate) dynamic: AtomicBool,
}

/// A running phase.
pub(crate) struct Instance {
    /// The phase's number: 0 if the instance is free, all ones while it is being set up.
    id: AtomicU64,
    place: AtomicUsize,
    began: AtomicU64,
    epoch: AtomicU32,
    /// Index of the phase's model in [`MODELS`].
    model: AtomicUsize,
    pub(crate) sums: Sums,
}

/// The sum of a place's finished phases.
pub(crate) struct Total {
    /// Place and model; 0 if the entry is free.
    key: AtomicUsize,
    pub(crate) count: AtomicU64,
    pub(crate) wall: AtomicU64,
    /// When the first of the phases began; 0 if there is none.
    pub(crate) first: AtomicU64,
    pub(crate) sums: Sums,
}

static GOING_ON: [Instance; INSTANCES] = [const {
    Instance {
        id: AtomicU64::new(0),
        place: AtomicUsize::new(0),
        began: AtomicU64::new(0),
        epoch: AtomicU32::new(0),
        model: AtomicUsize::new(0),
        sums: Sums::new(),
    }
}; INSTANCES];
static TOTALS: [Total; PLACES] = [const {
    Total {
        key: AtomicUsize::new(0),
        count: AtomicU64::new(0),
        wall: AtomicU64::new(0),
        first: AtomicU64::new(0),
        sums: Sums::new(),
    }
}; PLACES];
static NEXT: AtomicU64 = AtomicU64::new(1);
/// Number of phases that are in no total.
static LOST: AtomicU64 = AtomicU64::new(0);

/// All models, in the order of [`Lane::members`].
const MODELS: [Model; 3] = [Model::OpenMp, Model::Threads, Model::Marked];

/// The states in which a thread does not wait for others.
const OWN: [State; 3] = [State::Running, State::Scheduling, State::Sleep];

/// Skips zeros, which are the usual case: an atomic addition of zero to a cell that other threads
/// write still costs time.
fn add(cell: &AtomicU64, ticks: u64) {
    if ticks != 0 {
        cell.fetch_add(ticks, Relaxed);
    }
}

fn minus(now: &Ticks, before: &Ticks) -> Ticks {
    std::array::from_fn(|state| now[state].saturating_sub(before[state]))
}

impl Sums {
    const fn new() -> Self {
        Self {
            threads: AtomicU32::new(0),
            slowest: AtomicU64::new(0),
            times: [const { AtomicU64::new(0) }; State::COUNT],
            pieces: AtomicU64::new(0),
            dynamic: AtomicBool::new(false),
        }
    }

    /// Adds a phase that is over.
    fn add(&self, phase: &Self) {
        self.threads.fetch_max(phase.threads.load(Relaxed), Relaxed);
        for (sum, cell) in self.times.iter().zip(&phase.times) {
            add(sum, cell.load(Relaxed));
        }
        self.slowest.fetch_add(phase.slowest.load(Relaxed), Relaxed);
        add(&self.pieces, phase.pieces.load(Relaxed));
        if phase.dynamic.load(Relaxed) {
            self.dynamic.store(true, Relaxed);
        }
    }

    /// Forgets what was measured; what the program is like stays known.
    fn forget(&self) {
        self.threads.store(0, Relaxed);
        self.slowest.store(0, Relaxed);
        self.pieces.store(0, Relaxed);
        self.times.iter().for_each(|cell| cell.store(0, Relaxed));
    }
}

/// Begins a phase; `None` if too many run already.
pub(crate) fn begin(model: Model, place: usize) -> Option<&'static Instance> {
    const TAKEN: u64 = u64::MAX;
    for instance in &GOING_ON {
        if instance.id.load(Relaxed) != 0
            || instance.id.compare_exchange(0, TAKEN, AcqRel, Relaxed).is_err()
        {
            continue;
        }
        instance.place.store(place, Relaxed);
        instance.began.store(clock::now(), Relaxed);
        instance.epoch.store(clock::epoch(), Relaxed);
        instance.model.store(model as usize, Relaxed);
        instance.sums.forget();
        instance.sums.dynamic.store(false, Relaxed);
        instance.id.store(NEXT.fetch_add(1, Relaxed), Release);
        return Some(instance);
    }
    LOST.fetch_add(1, Relaxed);
    None
}

impl Instance {
    fn member<'a>(&self, lane: &'a Lane) -> &'a Member {
        &lane.members[self.model.load(Relaxed)]
    }

    /// Whether the lane's thread takes part in this phase.
    pub(crate) fn has(&self, lane: &Lane) -> bool {
        self.member(lane).instance.load(Acquire) == self.id.load(Relaxed)
    }

    /// Adds the lane's thread to this phase.
    pub(crate) fn join(&self, lane: &Lane) {
        if self.has(lane) {
            return;
        }
        let member = self.member(lane);
        let times = lane.times(clock::now());
        for (cell, ticks) in member.before.iter().zip(times) {
            cell.store(ticks, Relaxed);
        }
        member.pieces_before.store(lane.pieces(), Relaxed);
        member.epoch.store(clock::epoch(), Relaxed);
        member.instance.store(self.id.load(Relaxed), Release);
    }

    /// Removes the lane's thread from this phase and adds what the thread did in it.
    pub(crate) fn leave(&self, lane: &Lane, now: u64) {
        let member = self.member(lane);
        let id = self.id.load(Relaxed);
        if member.instance.load(Relaxed) != id {
            return;
        }
        if member.instance.compare_exchange(id, 0, AcqRel, Relaxed).is_err() {
            return;
        }
        let mut before = [0; State::COUNT];
        let mut pieces = lane.pieces();
        if member.epoch.load(Relaxed) == clock::epoch() {
            before = std::array::from_fn(|state| member.before[state].load(Relaxed));
            pieces = pieces.saturating_sub(member.pieces_before.load(Relaxed));
        }
        self.catch_up();
        let times = minus(&lane.times(now), &before);
        for (cell, ticks) in self.sums.times.iter().zip(times) {
            add(cell, ticks);
        }
        add(&self.sums.pieces, pieces);
        let own = OWN.map(|state| times[state as usize]).iter().sum();
        self.sums.slowest.fetch_max(own, Relaxed);
        self.sums.threads.fetch_add(1, Relaxed);
    }

    /// Forgets what was before the region of interest.
    fn catch_up(&self) {
        if self.epoch.load(Relaxed) != clock::epoch()
            && self.epoch.swap(clock::epoch(), AcqRel) != clock::epoch()
        {
            self.sums.forget();
        }
    }

    /// Ends the phase: removes all threads that still take part, and adds the phase to its place's
    /// total.
    pub(crate) fn end(&self, now: u64) {
        for lane in lanes::all() {
            self.leave(lane, now);
        }
        self.catch_up();
        let began = self.began.load(Relaxed).max(clock::zero());
        let place = self.place.load(Relaxed);
        let model = self.model.load(Relaxed);
        match (now > began).then(|| total(place, model)) {
            Some(Some(total)) => {
                total.count.fetch_add(1, Relaxed);
                total.wall.fetch_add(now - began, Relaxed);
                total.sums.add(&self.sums);
                if total.first.load(Relaxed) == 0 {
                    let _ = total.first.compare_exchange(0, began, Relaxed, Relaxed);
                }
            }
            Some(None) => {
                LOST.fetch_add(1, Relaxed);
            }
            None => {}
        }
        self.id.store(0, Release);
    }

    /// The address where the phase began.
    pub(crate) fn place(&self) -> usize {
        self.place.load(Relaxed)
    }

    /// Ends the region for the lanes other than `own`, whose thread ends the region: they wait for
    /// work from `now` on.
    pub(crate) fn release(&self, own: &Lane, now: u64) {
        for lane in lanes::all() {
            if !std::ptr::eq(lane, own) && self.has(lane) {
                lane.idle_from.store(now, Relaxed);
            }
        }
    }

    /// Drops the phase without counting it.
    pub(crate) fn cancel(&self) {
        for lane in lanes::all() {
            let member = self.member(lane);
            let id = self.id.load(Relaxed);
            let _ = member.instance.compare_exchange(id, 0, AcqRel, Relaxed);
        }
        self.id.store(0, Release);
    }
}

/// The place's total; `None` if there are too many places.
fn total(place: usize, model: usize) -> Option<&'static Total> {
    let hash = (((place ^ model) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    for step in 0..PLACES {
        let total = &TOTALS[(hash + step) % PLACES];
        // A place is an address in the program, whose topmost bits are zero, the number of a marked
        // phase's name, or 0 if it is not known.
        let key = place << 2 | (model + 1);
        let free = total.key.compare_exchange(0, key, AcqRel, Acquire);
        if free.is_ok() || free == Err(key) {
            return Some(total);
        }
    }
    None
}

impl Total {
    pub(crate) fn place(&self) -> (usize, Model) {
        let key = self.key.load(Relaxed);
        (key >> 2, MODELS[(key & 3).saturating_sub(1)])
    }
}

/// The totals of all places that had a phase.
pub(crate) fn totals() -> impl Iterator<Item = &'static Total> {
    let used = |total: &&Total| total.key.load(Relaxed) != 0 && total.count.load(Relaxed) != 0;
    TOTALS.iter().filter(used)
}

/// Ends all running phases, because the process ends.
pub(crate) fn end_all(now: u64) {
    for instance in &GOING_ON {
        if !matches!(instance.id.load(Acquire), 0 | u64::MAX) {
            instance.end(now);
        }
    }
}

/// Number of phases that could not be counted.
pub(crate) fn lost() -> u64 {
    LOST.load(Relaxed)
}

/// Clears the totals of finished phases.
pub(crate) fn forget() {
    for total in totals() {
        total.count.store(0, Relaxed);
        total.wall.store(0, Relaxed);
        total.first.store(0, Relaxed);
        total.sums.forget();
    }
}

/// Removes the lane's thread from all phases, because the thread ends.
pub(crate) fn thread_ends(lane: &Lane, now: u64) {
    for member in &lane.members {
        let id = member.instance.load(Relaxed);
        if id == 0 {
            continue;
        }
        let going_on = GOING_ON.iter().find(|i| i.id.load(Acquire) == id);
        if let Some(instance) = going_on {
            instance.leave(lane, now);
        }
        member.instance.store(0, Relaxed);
    }
}

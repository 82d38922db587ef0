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

/// A running phase.
pub(crate) struct Instance {
    /// The phase's number: 0 if the instance is free, all ones while it is being set up.
    id: AtomicU64,
    place: AtomicUsize,
    began: AtomicU64,
    epoch: AtomicU32,
    threads: AtomicU32,
    slowest: AtomicU64,
    times: [AtomicU64; State::COUNT],
    pieces: AtomicU64,
    /// Whether iterations or tasks were handed out at run time.
    pub(crate) dynamic: AtomicBool,
    model: AtomicU32,
}

/// The sum of a place's finished phases.
pub(crate) struct Total {
    /// Place and model; 0 if the entry is free.
    key: AtomicUsize,
    model: AtomicU32,
    pub(crate) count: AtomicU64,
    pub(crate) wall: AtomicU64,
    pub(crate) threads: AtomicU32,
    pub(crate) times: [AtomicU64; State::COUNT],
    pub(crate) slowest: AtomicU64,
    pub(crate) pieces: AtomicU64,
    /// When the first of the phases began; 0 if there is none.
    pub(crate) first: AtomicU64,
    pub(crate) dynamic: AtomicBool,
}

const fn zeros() -> [AtomicU64; State::COUNT] {
    [const { AtomicU64::new(0) }; State::COUNT]
}

static GOING_ON: [Instance; INSTANCES] = [const {
    Instance {
        id: AtomicU64::new(0),
        place: AtomicUsize::new(0),
        began: AtomicU64::new(0),
        epoch: AtomicU32::new(0),
        threads: AtomicU32::new(0),
        slowest: AtomicU64::new(0),
        times: zeros(),
        pieces: AtomicU64::new(0),
        dynamic: AtomicBool::new(false),
        model: AtomicU32::new(0),
    }
}; INSTANCES];
static TOTALS: [Total; PLACES] = [const {
    Total {
        key: AtomicUsize::new(0),
        model: AtomicU32::new(0),
        count: AtomicU64::new(0),
        wall: AtomicU64::new(0),
        threads: AtomicU32::new(0),
        times: zeros(),
        slowest: AtomicU64::new(0),
        pieces: AtomicU64::new(0),
        first: AtomicU64::new(0),
        dynamic: AtomicBool::new(false),
    }
}; PLACES];
static NEXT: AtomicU64 = AtomicU64::new(1);
/// Number of phases that are in no total.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Index of a model in [`Lane::members`].
const fn index(model: Model) -> u32 {
    match model {
        Model::OpenMp => 0,
        Model::Threads => 1,
        Model::Marked => 2,
    }
}

/// The inverse of `index`.
pub(crate) fn model(index: u32) -> Model {
    match index {
        0 => Model::OpenMp,
        1 => Model::Threads,
        _ => Model::Marked,
    }
}

/// The states in which a thread waits for others.
const WAITS: [State; 7] = [
    State::Idle,
    State::Lock,
    State::Spin,
    State::Barrier,
    State::Join,
    State::Condition,
    State::Message,
];

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
        instance.model.store(index(model), Relaxed);
        instance.forget();
        instance.dynamic.store(false, Relaxed);
        instance.id.store(NEXT.fetch_add(1, Relaxed), Release);
        return Some(instance);
    }
    LOST.fetch_add(1, Relaxed);
    None
}

impl Instance {
    fn forget(&self) {
        self.threads.store(0, Relaxed);
        self.slowest.store(0, Relaxed);
        self.pieces.store(0, Relaxed);
        self.times.iter().for_each(|cell| cell.store(0, Relaxed));
    }

    fn member<'a>(&self, lane: &'a Lane) -> &'a Member {
        &lane.members[self.model.load(Relaxed) as usize]
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
        for (cell, ticks) in self.times.iter().zip(times) {
            add(cell, ticks);
        }
        add(&self.pieces, pieces);
        let waits: u64 = WAITS.iter().map(|state| times[*state as usize]).sum();
        let total: u64 = times.iter().sum();
        self.slowest.fetch_max(total.saturating_sub(waits), Relaxed);
        self.threads.fetch_add(1, Relaxed);
    }

    /// Forgets what was before the region of interest.
    fn catch_up(&self) {
        if self.epoch.load(Relaxed) != clock::epoch()
            && self.epoch.swap(clock::epoch(), AcqRel) != clock::epoch()
        {
            self.forget();
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
                total.threads.fetch_max(self.threads.load(Relaxed), Relaxed);
                for (sum, cell) in total.times.iter().zip(&self.times) {
                    add(sum, cell.load(Relaxed));
                }
                total.slowest.fetch_add(self.slowest.load(Relaxed), Relaxed);
                add(&total.pieces, self.pieces.load(Relaxed));
                if self.dynamic.load(Relaxed) {
                    total.dynamic.store(true, Relaxed);
                }
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
fn total(place: usize, model: u32) -> Option<&'static Total> {
    let hash =
        ((place as u64 ^ u64::from(model)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    for step in 0..PLACES {
        let total = &TOTALS[(hash + step) % PLACES];
        // A place is an address in the program, whose topmost bits are zero, the number of a marked
        // phase's name, or 0 if it is not known.
        let key = place << 2 | (model as usize + 1);
        let found = match total.key.load(Acquire) {
            0 => match total.key.compare_exchange(0, key, AcqRel, Acquire) {
                Ok(_) => {
                    total.model.store(model, Relaxed);
                    key
                }
                Err(found) => found,
            },
            found => found,
        };
        if found == key {
            return Some(total);
        }
    }
    None
}

impl Total {
    pub(crate) fn place(&self) -> (usize, Model) {
        let place = self.key.load(Relaxed) >> 2;
        (place, model(self.model.load(Relaxed)))
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
        total.threads.store(0, Relaxed);
        total.slowest.store(0, Relaxed);
        total.pieces.store(0, Relaxed);
        total.first.store(0, Relaxed);
        total.times.iter().for_each(|cell| cell.store(0, Relaxed));
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

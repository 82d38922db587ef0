//! Parallel phases, from fork to join. What the participating threads do in a phase is added up by
//! place.

use std::sync::atomic::Ordering::{AcqRel, Relaxed};

use contech_interpose::kernel::yield_now;
use contech_interpose::lock::{Mutex, MutexGuard, lock, try_lock};
use contech_observation::{Model, State};

use crate::lane::Lane;
use crate::{clock, lanes, tls};

/// What threads did in the phases of a place. The place is an address, or the number of the name of
/// phases that the program marked; times are ticks.
pub(crate) type Phase = contech_observation::Phase<usize>;

/// The largest number of phases that go on at the same time.
const SLOTS: usize = 64;

/// A phase that goes on.
struct GoingOn {
    began: u64,
    /// Index of its place in [`Phases::places`].
    index: usize,
    /// What the threads did that do not take part any more.
    sums: Phase,
}

pub(crate) struct Phases {
    going_on: [Option<GoingOn>; SLOTS],
    /// The sums of phases that are over, in the order of the first phase of each place.
    pub(crate) places: Vec<Phase>,
    /// Names of marked phases.
    names: Vec<String>,
    /// The marked phase that goes on; there is at most one at a time.
    marked: Option<Running>,
    /// Number of phases that are in no sum.
    pub(crate) lost: u64,
}

static PHASES: Mutex<Phases> = Mutex::new(Phases {
    going_on: [const { None }; SLOTS],
    places: Vec::new(),
    names: Vec::new(),
    marked: None,
    lost: 0,
});

/// The states in which a thread does not wait for others.
const OWN: [State; 3] = [State::Running, State::Scheduling, State::Sleep];

/// A phase that goes on, as threads and libomp know it: its place, model and number (one more than
/// its slot) in one word. The topmost bits of an address are zero.
#[derive(Clone, Copy)]
pub(crate) struct Running(u64);

const PLACE_SHIFT: u32 = 16;
const MODEL_SHIFT: u32 = 8;

impl Running {
    /// The phase of a word that [`Running::word`] made; `None` if the word is 0.
    pub(crate) fn of(word: u64) -> Option<Self> {
        (word != 0).then_some(Self(word))
    }

    pub(crate) fn word(self) -> u64 {
        self.0
    }

    /// Where the phase began.
    pub(crate) fn place(self) -> usize {
        usize::try_from(self.0 >> PLACE_SHIFT).unwrap_or(0)
    }

    fn model(self) -> Model {
        Model::ALL[(self.0 >> MODEL_SHIFT & 3) as usize]
    }

    fn number(self) -> usize {
        (self.0 & 0xff) as usize
    }

    /// Adds the lane's thread to this phase.
    pub(crate) fn join(self, lane: &Lane) {
        lane.join(self.model(), self.number());
    }

    /// Ends the phase, or drops it without counting it.
    pub(crate) fn end(self, now: u64, counts: bool) {
        lock(&PHASES).end(self.number() - 1, now, counts);
    }
}

/// Begins a phase; `None` if too many go on already.
pub(crate) fn begin(model: Model, place: usize) -> Option<Running> {
    lock(&PHASES).begin(model, place)
}

/// Begins a marked phase, of all threads.
pub(crate) fn mark(name: &str) {
    let mut phases = lock(&PHASES);
    let known = phases.names.iter().position(|known| known == name);
    let number = known.unwrap_or_else(|| {
        phases.names.push(name.to_owned());
        phases.names.len() - 1
    });
    phases.marked = phases.begin(Model::Marked, number);
    if let Some(marked) = phases.marked {
        let taken = lanes::all().iter().filter(|lane| lane.taken.load(Relaxed) != 0);
        taken.for_each(|lane| marked.join(lane));
    }
}

/// Ends the marked phase.
pub(crate) fn unmark(now: u64) {
    let mut phases = lock(&PHASES);
    if let Some(marked) = phases.marked.take() {
        phases.end(marked.number() - 1, now, true);
    }
}

/// Adds a thread that begins to the marked phase that goes on.
pub(crate) fn thread_begins(lane: &Lane) {
    if let Some(marked) = lock(&PHASES).marked {
        marked.join(lane);
    }
}

/// Removes the lane's thread from all phases, because the thread ends.
pub(crate) fn thread_ends(lane: &Lane, now: u64) {
    let mut phases = lock(&PHASES);
    for model in Model::ALL {
        phases.leave(model, lane, now);
    }
}

/// Forgets what was before the region of interest; what the program is like stays known.
pub(crate) fn forget() {
    let mut phases = lock(&PHASES);
    let forget = |phase: &mut Phase| {
        let Phase { place, model, dynamic, .. } = *phase;
        *phase = Phase { place, model, dynamic, ..Phase::default() };
    };
    phases.places.iter_mut().for_each(forget);
    for phase in phases.going_on.iter_mut().flatten() {
        phase.began = phase.began.max(clock::zero());
        forget(&mut phase.sums);
    }
}

/// All phases, which end because the process ends. `None` if a thread that was stopped is changing
/// them.
pub(crate) fn end_all(now: u64) -> Option<MutexGuard<'static, Phases>> {
    let tries = (0..1000).find_map(|_| {
        let phases = try_lock(&PHASES);
        if phases.is_none() {
            yield_now();
        }
        phases
    });
    let mut phases = tries?;
    for slot in 0..SLOTS {
        phases.end(slot, now, true);
    }
    Some(phases)
}

impl Phases {
    fn begin(&mut self, model: Model, place: usize) -> Option<Running> {
        let Some(slot) = self.going_on.iter().position(Option::is_none) else {
            self.lost += 1;
            return None;
        };
        let sums = Phase { place, model, ..Phase::default() };
        let known = self.places.iter().position(|all| (all.place, all.model) == (place, model));
        let index = known.unwrap_or_else(|| {
            self.places.push(sums);
            self.places.len() - 1
        });
        self.going_on[slot] = Some(GoingOn { began: clock::now(), index, sums });
        let word = (place as u64) << PLACE_SHIFT | (model as u64) << MODEL_SHIFT;
        Some(Running(word | (slot as u64 + 1)))
    }

    /// Ends the phase of a slot, if there is one: removes all threads that still take part, and adds
    /// the phase to its place's sums.
    fn end(&mut self, slot: usize, now: u64, counts: bool) {
        let Some(model) = self.going_on[slot].as_ref().map(|phase| phase.sums.model) else {
            return;
        };
        let own = tls::lane();
        for lane in lanes::all() {
            if lane.members[model as usize].phase.load(Relaxed) != slot + 1 {
                continue;
            }
            self.leave(model, lane, now);
            // The other threads of a region wait for work from now on.
            if model == Model::OpenMp && own.is_none_or(|own| !std::ptr::eq(lane, own)) {
                lane.idle_from.store(now, Relaxed);
            }
        }
        if let Some(phase) = self.going_on[slot].take()
            && counts
            && now > phase.began
        {
            let wall_ns = now - phase.began;
            self.places[phase.index].add(&Phase { count: 1, wall_ns, ..phase.sums });
        }
    }

    /// Removes the lane's thread from its phase of that model and adds what the thread did in it.
    fn leave(&mut self, model: Model, lane: &Lane, now: u64) {
        let number = lane.members[model as usize].phase.swap(0, AcqRel);
        let slot = number.checked_sub(1).and_then(|slot| self.going_on[slot].as_mut());
        let Some(GoingOn { sums, .. }) = slot else { return };
        let (times, pieces) = lane.since_joined(model, now);
        sums.times.add(&times);
        sums.pieces += pieces;
        sums.slowest_ns = sums.slowest_ns.max(OWN.iter().map(|state| times.of(*state)).sum());
        sums.threads += 1;
        sums.dynamic |= model == Model::OpenMp && lane.openmp.dynamic.load(Relaxed);
    }

    /// The name of a marked phase's place.
    pub(crate) fn name(&self, place: usize) -> String {
        self.names.get(place).cloned().unwrap_or_default()
    }
}

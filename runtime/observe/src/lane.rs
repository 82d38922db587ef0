//! What a thread does and did. Only the thread writes it; every thread may read it.

use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release, fence,
};

use contech_interpose::memory;
use contech_observation::{Model, State, Times};

use crate::clock;
use crate::sites::{Sites, bump};

/// Number of bins of the time line.
const BINS: usize = 1024;
/// Binary logarithm of the initial ticks of a bin: about a millisecond.
const FIRST_SHIFT: u32 = 21;
/// Ticks by state.
type Cells = [AtomicU64; State::COUNT];

const RUNNING: usize = State::Running as usize;
const IDLE: usize = State::Idle as usize;
const BARRIER: usize = State::Barrier as usize;

/// A row of the activity graph. A lane that is all zero was never used.
pub(crate) struct Lane {
    /// 1 if the lane is taken by a thread, or for one that is about to begin.
    pub(crate) taken: AtomicU32,
    /// Whether a thread has the lane.
    lives: AtomicBool,
    pub(crate) threads: AtomicU32,
    /// Odd while the owner writes.
    sequence: AtomicU32,
    epoch: AtomicU32,
    state: AtomicU32,
    since: AtomicU64,
    /// When the bin ends that `since` is in; 0 if that is not known.
    bin_end: AtomicU64,
    /// Time in [`State::Barrier`] after this moment is [`State::Idle`], because the phase is over.
    pub(crate) idle_from: AtomicU64,
    times: Cells,
    /// The times at the end of each bin that is over, and the number of such bins.
    ends: [Cells; BINS],
    over: AtomicUsize,
    /// Binary logarithm of the ticks of a bin, less [`FIRST_SHIFT`].
    wider: AtomicU32,
    /// The function that the thread is to run, and its argument.
    pub(crate) body: AtomicUsize,
    pub(crate) argument: AtomicUsize,
    /// The phases that the thread takes part in, by model (`phase`).
    pub(crate) members: [Member; Model::ALL.len()],
    pub(crate) sites: Sites,
    pub(crate) openmp: OpenMp,
    /// Estimated number of locks taken, free or not.
    pub(crate) locks: AtomicU64,
    /// Number of tasks begun plus the estimated number of parts of loops taken.
    pub(crate) pieces: AtomicU64,
    /// Number of begins of idle or scheduling, as the program says itself, that have not ended.
    pub(crate) said: AtomicU32,
}

/// A thread's participation in a phase.
pub(crate) struct Member {
    /// The phase's number; 0 for none.
    pub(crate) phase: AtomicUsize,
    epoch: AtomicU32,
    /// The lane's times and pieces when the thread joined the phase.
    before: Cells,
    pieces: AtomicU64,
}

impl Member {
    /// What a number of the lane was when the phase began; 0 if the lane was cleared since then.
    fn before(&self, number: &AtomicU64) -> u64 {
        if self.epoch.load(Relaxed) == clock::epoch() { number.load(Relaxed) } else { 0 }
    }
}

/// The largest depth of the stack of frames.
const FRAMES: usize = 250;

/// A lane's part in OpenMP (`openmp`), which its thread alone uses.
pub(crate) struct OpenMp {
    /// The word of the outermost region that the thread is in; 0 if there is none.
    pub(crate) region: AtomicU64,
    /// Whether work of that region was handed out to the thread at run time.
    pub(crate) dynamic: AtomicBool,
    pub(crate) depth: AtomicU32,
    /// Number of frames that found no room.
    pub(crate) beyond: AtomicU32,
    pub(crate) frames: [AtomicU64; FRAMES],
    /// When the wait of the topmost frame began, if none of it has been counted yet; 0 if there is
    /// no such wait. Many waits for tasks have nothing to wait for.
    pub(crate) pending: AtomicU64,
    /// 1 + the depth at which a call that is being timed began; 0 if no call is being timed.
    pub(crate) timed: AtomicU32,
    /// When the current task within that call began, and the ticks of the tasks within the call so
    /// far.
    pub(crate) nested_from: AtomicU64,
    pub(crate) nested: AtomicU64,
}

impl OpenMp {
    pub(crate) fn depth(&self) -> u32 {
        self.depth.load(Relaxed) + self.beyond.load(Relaxed)
    }

    pub(crate) fn top(&self) -> Option<u64> {
        let depth = self.depth.load(Relaxed).checked_sub(1)?;
        Some(self.frames[depth as usize].load(Relaxed))
    }

    /// Clears everything, because another thread uses the lane.
    fn forget(&self) {
        for word in [&self.region, &self.pending] {
            word.store(0, Relaxed);
        }
        for word in [&self.depth, &self.beyond, &self.timed] {
            word.store(0, Relaxed);
        }
    }
}

fn load(cells: &Cells) -> Times {
    Times(std::array::from_fn(|i| cells[i].load(Relaxed)))
}

fn copy<'a>(
    from: impl IntoIterator<Item = &'a AtomicU64>,
    to: impl IntoIterator<Item = &'a AtomicU64>,
) {
    to.into_iter().zip(from).for_each(|(to, from)| to.store(from.load(Relaxed), Relaxed));
}

impl Lane {
    /// Lanes that were never used. The kernel adds their pages as threads use them.
    pub(crate) fn map(count: usize) -> Option<&'static [Self]> {
        let lanes = memory::map(count * size_of::<Self>())?;
        // SAFETY: the mapping has room for the lanes and is never unmapped; a zero lane is valid,
        // and all fields are atomics.
        Some(unsafe { std::slice::from_raw_parts(lanes.cast(), count) })
    }

    /// A lane outside of the table.
    pub(crate) fn new() -> Option<&'static Self> {
        Self::map(1)?.first()
    }

    /// Prepares the lane for a thread that begins.
    pub(crate) fn begin(&self) {
        let now = clock::now();
        self.catch_up();
        self.write(|| {
            self.count(None, now.max(self.since()));
            self.state.store(State::Running as u32, Relaxed);
            self.idle_from.store(0, Relaxed);
            self.openmp.forget();
            self.said.store(0, Relaxed);
        });
        self.threads.store(self.threads.load(Relaxed) + 1, Relaxed);
        self.lives.store(true, Release);
    }

    /// Ends the lane's thread.
    pub(crate) fn end(&self) {
        self.switch(State::Running, clock::now());
        self.lives.store(false, Release);
    }

    /// Changes the lane, so that a reader sees all of it or nothing. A signal handler's changes may
    /// come in between.
    #[inline(always)]
    fn write(&self, change: impl FnOnce()) {
        self.sequence.store(self.sequence.load(Relaxed) | 1, Relaxed);
        fence(Release);
        change();
        let odd = self.sequence.load(Relaxed) | 1;
        self.sequence.store(odd.wrapping_add(1), Release);
    }

    /// What the thread does now.
    #[inline]
    pub(crate) fn state(&self) -> usize {
        self.state.load(Relaxed) as usize
    }

    /// When the current state began.
    pub(crate) fn since(&self) -> u64 {
        self.since.load(Relaxed)
    }

    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        self.state() == RUNNING
    }

    /// Whether what was measured is from before the region of interest.
    #[inline]
    fn is_old(&self) -> bool {
        self.epoch.load(Relaxed) != clock::epoch()
    }

    /// Clears what was measured before the region of interest.
    fn catch_up(&self) {
        if !self.is_old() {
            return;
        }
        self.write(|| {
            for cell in self.times.iter().chain([&self.locks, &self.pieces]) {
                cell.store(0, Relaxed);
            }
            self.over.store(0, Relaxed);
            self.wider.store(0, Relaxed);
            self.sites.clear();
            self.since.store(self.since().max(clock::zero()), Relaxed);
            self.epoch.store(clock::epoch(), Relaxed);
        });
    }

    /// Puts the thread in another state, and counts the time since the last change for the state it
    /// was in.
    #[inline]
    pub(crate) fn switch(&self, to: State, now: u64) {
        self.switch_from(self.state(), to, now);
    }

    /// The same, if the time since the last change turns out to belong to `state`.
    #[inline]
    pub(crate) fn switch_from(&self, state: usize, to: State, now: u64) {
        let since = self.since();
        // Most changes are in the same bin as the last one.
        let plain = !self.is_old()
            && self.idle_from.load(Relaxed) == 0
            && (since..self.bin_end.load(Relaxed)).contains(&now);
        if !plain {
            return self.switch_across(state, to, now);
        }
        self.write(|| {
            bump(&self.times[state], now - since);
            self.state.store(to as u32, Relaxed);
            self.since.store(now, Relaxed);
        });
    }

    /// The same for the rare cases, such as a change in another bin.
    #[inline(never)]
    fn switch_across(&self, state: usize, to: State, now: u64) {
        self.catch_up();
        self.write(|| {
            let now = now.max(self.since());
            let end = self.end_of(state, now);
            self.count(Some(state), end);
            self.count(Some(IDLE), now);
            self.idle_from.store(0, Relaxed);
            self.state.store(to as u32, Relaxed);
        });
    }

    /// When the state ends that the thread is in: it is idle from then until `now`.
    fn end_of(&self, state: usize, now: u64) -> u64 {
        match self.idle_from.load(Relaxed) {
            from @ 1.. if state == BARRIER => from.max(self.since()).min(now),
            _ => now,
        }
    }

    /// Counts the time from the last change until `to` for a state, if there is one.
    fn count(&self, state: Option<usize>, to: u64) {
        loop {
            let shift = FIRST_SHIFT + self.wider.load(Relaxed);
            let over = self.over.load(Relaxed);
            let end = clock::zero().wrapping_add((over as u64 + 1) << shift);
            let until = end.min(to);
            if let Some(state) = state {
                bump(&self.times[state], until.saturating_sub(self.since()));
            }
            self.since.store(until, Relaxed);
            self.bin_end.store(end, Relaxed);
            if to < end {
                return;
            }
            copy(&self.times, &self.ends[over]);
            if over + 1 == BINS {
                self.widen(BINS);
            } else {
                self.over.store(over + 1, Relaxed);
            }
        }
    }

    /// Merges every two of so many bins into one.
    #[cold]
    fn widen(&self, over: usize) {
        let pairs = over / 2;
        for pair in 0..pairs {
            copy(&self.ends[2 * pair + 1], &self.ends[pair]);
        }
        self.over.store(pairs, Relaxed);
        self.wider.store(self.wider.load(Relaxed) + 1, Relaxed);
    }

    /// Begins to wait, and returns the time. Does nothing if the thread is not running.
    #[inline]
    pub(crate) fn enter(&self, state: State) -> Option<u64> {
        if !self.is_running() {
            return None;
        }
        let now = clock::now();
        self.switch(state, now);
        Some(now)
    }

    /// Lets the thread run again since `now` after a wait that [`Lane::enter`] began.
    #[inline]
    pub(crate) fn leave(&self, state: State, place: usize, before: u64, now: u64) {
        self.switch(State::Running, now);
        self.sites.add(place, state, 1, now.saturating_sub(before));
    }

    /// Moves `ticks` that were lately counted as running, up to `now`, to another state.
    pub(crate) fn reassign(&self, to: State, ticks: u64, now: u64) {
        self.switch(State::Running, now);
        self.write(|| {
            // The thread cannot give more than it ran in its phase.
            let member = &self.members[Model::OpenMp as usize];
            let joined = member.phase.load(Relaxed) != 0;
            let before = if joined { member.before(&member.before[RUNNING]) } else { 0 };
            let ran = &self.times[RUNNING];
            let ticks = ticks.min(ran.load(Relaxed).saturating_sub(before));
            bump(ran, ticks.wrapping_neg());
            bump(&self.times[to as usize], ticks);
            // What the current bin does not have comes from those before it.
            for end in self.ends[..self.over.load(Relaxed)].iter().rev() {
                let more = end[RUNNING].load(Relaxed).saturating_sub(ran.load(Relaxed));
                if more == 0 {
                    break;
                }
                bump(&end[RUNNING], more.wrapping_neg());
                bump(&end[to as usize], more);
            }
        });
    }

    fn consistent<R>(&self, f: impl Fn() -> R) -> R {
        // A thread that was stopped in the middle of writing must not hold up the reader for ever.
        for _ in 0..1000 {
            let before = self.sequence.load(Acquire);
            if before & 1 == 1 {
                std::hint::spin_loop();
                continue;
            }
            let result = f();
            fence(Acquire);
            if self.sequence.load(Relaxed) == before {
                return result;
            }
        }
        f()
    }

    fn until(&self, now: u64) -> (Times, u64) {
        let old = self.is_old();
        let mut times = if old { Times::default() } else { load(&self.times) };
        let pieces = if old { 0 } else { self.pieces.load(Relaxed) };
        if self.lives.load(Acquire) {
            let (state, since) = (self.state(), self.since().max(clock::zero()));
            let now = now.max(since);
            let end = self.end_of(state, now).max(since);
            times.0[state] += end - since;
            times.0[IDLE] += now - end;
        }
        (times, pieces)
    }

    /// Time by state and number of pieces of work until `now`, since the thread joined the phase of
    /// that model.
    pub(crate) fn since_joined(&self, model: Model, now: u64) -> (Times, u64) {
        self.consistent(|| {
            let member = &self.members[model as usize];
            let (mut times, pieces) = self.until(now);
            for (ticks, before) in times.0.iter_mut().zip(&member.before) {
                *ticks = ticks.saturating_sub(member.before(before));
            }
            (times, pieces.saturating_sub(member.before(&member.pieces)))
        })
    }

    /// Lets the thread take part in the phase of that model that has the number.
    pub(crate) fn join(&self, model: Model, phase: usize) {
        let member = &self.members[model as usize];
        if member.phase.load(Acquire) == phase {
            return;
        }
        let (times, pieces) = self.consistent(|| self.until(clock::now()));
        for (cell, ticks) in member.before.iter().zip(times.0) {
            cell.store(ticks, Relaxed);
        }
        member.pieces.store(pieces, Relaxed);
        if model == Model::OpenMp {
            self.openmp.dynamic.store(false, Relaxed);
        }
        member.epoch.store(clock::epoch(), Relaxed);
        member.phase.store(phase, Release);
    }

    /// The times of the lane as they are at `now`, or at the thread's last write if that is later:
    /// in a copy that nobody else knows. `None` if there is no memory for it.
    pub(crate) fn read(&self, now: u64) -> Option<&'static Self> {
        let copied = Self::new()?;
        self.consistent(|| {
            let over = self.over.load(Relaxed);
            copied.over.store(over, Relaxed);
            copied.epoch.store(self.epoch.load(Relaxed), Relaxed);
            copied.state.store(self.state.load(Relaxed), Relaxed);
            copied.wider.store(self.wider.load(Relaxed), Relaxed);
            copy([&self.since, &self.idle_from], [&copied.since, &copied.idle_from]);
            copy(&self.times, &copied.times);
            copy(self.ends[..over].iter().flatten(), copied.ends[..over].iter().flatten());
        });
        copied.catch_up();
        if self.lives.load(Acquire) {
            copied.switch(State::Running, now);
        }
        Some(copied)
    }

    /// Binary logarithm of the ticks of a bin.
    pub(crate) fn shift(&self) -> u32 {
        FIRST_SHIFT + self.wider.load(Relaxed)
    }

    /// Ticks by state, in all and in each bin of so many ticks, of a lane that nobody writes.
    pub(crate) fn line(&self, shift: u32) -> (Times, Vec<Times>) {
        while self.shift() < shift {
            self.widen(self.over.load(Relaxed));
        }
        let (all, mut before) = (load(&self.times), Times::default());
        let ends = self.ends[..self.over.load(Relaxed)].iter().map(load).chain([all]);
        let bins = ends.map(|end| {
            let bin = std::array::from_fn(|state| end.0[state].saturating_sub(before.0[state]));
            before = end;
            Times(bin)
        });
        (all, bins.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thread writes its lane after the reader has taken the time.
    #[test]
    fn a_lane_is_read_until_its_last_write() {
        let lane = Lane::new().expect("memory");
        lane.begin();
        let begin = lane.since();
        let now = clock::now();
        lane.switch(State::Sleep, now + 1_000_000);
        let at = |now: u64| {
            let read = lane.read(now).expect("memory");
            (read.since(), read.line(read.shift()).0.total())
        };
        let last = now + 1_000_000;
        assert_eq!(at(now), (last, last - begin));
        assert_eq!(at(last + 5), (last + 5, last + 5 - begin));
    }

    /// Bins that are too many become wider, and the last ones give first.
    #[test]
    fn bins_have_the_time_of_the_lane() {
        let lane = Lane::new().expect("memory");
        lane.begin();
        let (begin, shift) = (lane.since(), lane.shift());
        let at = |bins: u64| begin + (bins << shift);
        let bins = |all: u64| {
            let (times, bins) = lane.line(lane.shift());
            for state in State::ALL {
                let sum: u64 = bins.iter().map(|bin| bin.of(state)).sum();
                assert_eq!(sum, times.of(state), "{state:?}");
            }
            assert_eq!(times.total(), all << shift);
            bins
        };
        lane.switch(State::Sleep, at(3));
        lane.switch(State::Running, at(5));
        lane.reassign(State::Lock, 2 << shift, at(6));
        let all = bins(6);
        let first = all.iter().find(|bin| bin.total() > 0).expect("a bin");
        assert_eq!((first.of(State::Lock), all[all.len() - 2].of(State::Running)), (0, 0));
        lane.switch(State::Sleep, at(3000));
        assert!(bins(3000).len() <= BINS && lane.shift() > shift);
    }
}

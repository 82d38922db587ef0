//! What a thread does and did. Only the thread writes it; every thread may read it.

pub(crate) mod parts;

use std::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
    fence,
};

use contech_observation::State;

use crate::clock;
use crate::sites::{Sites, bump};
use parts::{Member, OpenMp};

/// Number of bins of the time line.
pub(crate) const BINS: usize = 1024;
/// Binary logarithm of the initial ticks of a bin: about a millisecond.
pub(crate) const FIRST_SHIFT: u32 = 21;
/// Ticks or counts by state.
pub(crate) type Ticks = [u64; State::COUNT];
type Cells = [AtomicU64; State::COUNT];

/// A row of the activity graph. A lane that is all zero was never used.
pub(crate) struct Lane {
    /// 1 if the lane is taken by a thread, or for one that is about to begin.
    pub(crate) taken: AtomicU32,
    /// The kernel's number of the thread; 0 while there is none.
    pub(crate) tid: AtomicU32,
    pub(crate) threads: AtomicU32,
    /// Odd while the owner writes.
    sequence: AtomicU32,
    epoch: AtomicU32,
    state: AtomicU32,
    since: AtomicU64,
    /// The bin that `since` is in, and the time when it ends; 0 if that is not known.
    bin: AtomicUsize,
    bin_end: AtomicU64,
    /// Time in [`State::Barrier`] after this moment is [`State::Idle`], because the phase is over.
    pub(crate) idle_from: AtomicU64,
    times: Cells,
    counts: Cells,
    /// Binary logarithm of the ticks of a bin, less [`FIRST_SHIFT`].
    wider: AtomicU32,
    /// Processor time and switches of threads that have ended.
    pub(crate) cpu_ns: AtomicU64,
    pub(crate) voluntary: AtomicU64,
    pub(crate) involuntary: AtomicU64,
    /// The function that the thread is to run, and its argument.
    pub(crate) body: AtomicUsize,
    pub(crate) argument: AtomicUsize,
    /// The phases that the thread takes part in, by model.
    pub(crate) members: [Member; 3],
    pub(crate) sites: Sites,
    pub(crate) openmp: OpenMp,
    /// Estimated number of locks taken, free or not.
    pub(crate) locks: AtomicU64,
    /// Number of tasks begun plus the estimated number of parts of loops taken.
    pub(crate) pieces: AtomicU64,
    /// Number of begins of idle or scheduling, as the program says itself, that have not ended.
    pub(crate) said: AtomicU32,
    bins: [Cells; BINS],
}

/// A lane at one moment.
pub(crate) struct Reading {
    /// The moment: later than the one asked for if the thread wrote the lane after it.
    pub(crate) at: u64,
    pub(crate) times: Ticks,
    pub(crate) counts: Ticks,
    /// Logarithm of the ticks of a bin.
    pub(crate) shift: u32,
    pub(crate) bins: Vec<Ticks>,
}

/// The two parts of the time since `since`: in the state itself, and idle after it.
fn parts(state: usize, since: u64, idle_from: u64, now: u64) -> [(usize, u64, u64); 2] {
    let now = now.max(since);
    let end = if state == State::Barrier as usize && idle_from != 0 {
        idle_from.clamp(since, now)
    } else {
        now
    };
    [(state, since, end), (State::Idle as usize, end, now)]
}

/// Calls `f` with index and ticks of each bin of an interval.
fn each_bin(from: u64, to: u64, shift: u32, mut f: impl FnMut(usize, u64)) {
    let mut at = from;
    while at < to {
        let bin = at >> shift;
        let end = ((bin + 1) << shift).min(to);
        f(usize::try_from(bin).unwrap_or(BINS).min(BINS - 1), end - at);
        at = end;
    }
}

fn load(cells: &Cells) -> Ticks {
    std::array::from_fn(|i| cells[i].load(Relaxed))
}

impl Lane {
    /// Prepares the lane for a thread that begins.
    pub(crate) fn begin(&self, tid: u32) {
        let now = clock::now();
        self.catch_up();
        self.write(|| {
            self.state.store(State::Running as u32, Relaxed);
            self.since.store(now, Relaxed);
            self.bin_end.store(0, Relaxed);
            self.idle_from.store(0, Relaxed);
            self.openmp.forget();
            self.said.store(0, Relaxed);
            bump(&self.counts[State::Running as usize], 1);
        });
        self.threads.store(self.threads.load(Relaxed) + 1, Relaxed);
        self.tid.store(tid, Release);
    }

    /// Ends the lane's thread.
    pub(crate) fn end(&self) {
        self.switch(State::Running, clock::now());
        self.tid.store(0, Release);
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
        self.state() == State::Running as usize
    }

    /// Clears what was measured before the region of interest.
    #[inline]
    fn catch_up(&self) {
        if self.is_old() {
            self.forget();
        }
    }

    #[cold]
    fn forget(&self) {
        self.write(|| {
            for cell in self.times.iter().chain(&self.counts) {
                cell.store(0, Relaxed);
            }
            self.locks.store(0, Relaxed);
            self.pieces.store(0, Relaxed);
            let wider = self.wider.load(Relaxed);
            for bin in &self.bins[..self.used_bins(wider)] {
                bin.iter().for_each(|cell| cell.store(0, Relaxed));
            }
            self.wider.store(0, Relaxed);
            self.sites.clear();
            let since = self.since.load(Relaxed);
            self.since.store(since.max(clock::zero()), Relaxed);
            self.bin_end.store(0, Relaxed);
            self.epoch.store(clock::epoch(), Relaxed);
        });
    }

    /// Number of bins that may have something in them. The memory of the others is not touched.
    fn used_bins(&self, wider: u32) -> usize {
        let last = self.since.load(Relaxed).saturating_sub(clock::zero()) >> (FIRST_SHIFT + wider);
        if self.is_old() { BINS } else { usize::try_from(last + 1).map_or(BINS, |n| n.min(BINS)) }
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
        let since = self.since.load(Relaxed);
        // Most changes are in the same bin as the last one.
        let plain = self.epoch.load(Relaxed) == clock::epoch()
            && self.idle_from.load(Relaxed) == 0
            && (since..self.bin_end.load(Relaxed)).contains(&now);
        let bin = self.bins.get(self.bin.load(Relaxed));
        let (true, Some(bin)) = (plain, bin) else {
            return self.switch_across(state, to, now);
        };
        self.write(|| {
            bump(&self.times[state], now - since);
            bump(&bin[state], now - since);
            self.state.store(to as u32, Relaxed);
            self.since.store(now, Relaxed);
            bump(&self.counts[to as usize], 1);
        });
    }

    /// The same for the rare cases, such as a change in another bin.
    #[inline(never)]
    fn switch_across(&self, state: usize, to: State, now: u64) {
        self.catch_up();
        let since = self.since.load(Relaxed);
        let idle_from = self.idle_from.load(Relaxed);
        self.write(|| {
            for (state, from, to) in parts(state, since, idle_from, now) {
                if to > from {
                    bump(&self.times[state], to - from);
                    self.line(state, from, to);
                }
            }
            if idle_from != 0 {
                self.idle_from.store(0, Relaxed);
            }
            let now = now.max(since);
            self.state.store(to as u32, Relaxed);
            self.since.store(now, Relaxed);
            self.know_bin(now);
            bump(&self.counts[to as usize], 1);
        });
    }

    /// Finds the bin in which the time line goes on.
    fn know_bin(&self, now: u64) {
        let zero = clock::zero();
        let shift = FIRST_SHIFT + self.wider.load(Relaxed);
        let bin = usize::try_from(now.saturating_sub(zero) >> shift).unwrap_or(BINS);
        let known = now >= zero && bin < BINS;
        let end = zero.wrapping_add((bin as u64 + 1) << shift);
        self.bin.store(bin.min(BINS - 1), Relaxed);
        self.bin_end.store(if known { end } else { 0 }, Relaxed);
    }

    /// Adds a state from one time to another to the time line.
    #[inline]
    fn line(&self, state: usize, from: u64, to: u64) {
        let zero = clock::zero();
        let (from, to) = (from.saturating_sub(zero), to.saturating_sub(zero));
        let mut shift = FIRST_SHIFT + self.wider.load(Relaxed);
        while to >> shift >= BINS as u64 {
            self.widen();
            shift += 1;
        }
        each_bin(from, to, shift, |bin, ticks| bump(&self.bins[bin][state], ticks));
    }

    /// Merges every two bins into one.
    #[cold]
    fn widen(&self) {
        for bin in 0..BINS {
            let pair = |at: usize, state: usize| {
                self.bins.get(at).map_or(0, |bin| bin[state].load(Relaxed))
            };
            for state in 0..State::COUNT {
                let sum = pair(2 * bin, state) + pair(2 * bin + 1, state);
                self.bins[bin][state].store(sum, Relaxed);
            }
        }
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

    /// Lets the thread run again after a wait that [`Lane::enter`] began.
    #[inline]
    pub(crate) fn leave(&self, state: State, place: usize, before: u64) {
        self.leave_at(state, place, before, clock::now());
    }

    /// Lets the thread run again since `now`.
    pub(crate) fn leave_at(&self, state: State, place: usize, before: u64, now: u64) {
        self.switch(State::Running, now);
        self.sites.add(place, state, now.saturating_sub(before));
    }

    /// Moves `ticks` that were lately counted as running, up to `now`, to another state, which
    /// began `count` times.
    pub(crate) fn reassign(&self, to: State, ticks: u64, count: u64, now: u64) {
        const RUNNING: usize = State::Running as usize;
        self.switch(State::Running, now);
        self.write(|| {
            let shift = FIRST_SHIFT + self.wider.load(Relaxed);
            let last = (self.since().saturating_sub(clock::zero()) >> shift).min(BINS as u64 - 1);
            // The thread cannot give more than it ran in its phase.
            let before = self.members[0].running_before();
            let ran = self.times[RUNNING].load(Relaxed).saturating_sub(before);
            let mut left = ticks.min(ran);
            for bin in self.bins[..=usize::try_from(last).unwrap_or(0)].iter().rev() {
                let here = left.min(bin[RUNNING].load(Relaxed));
                for cells in [bin, &self.times] {
                    bump(&cells[RUNNING], here.wrapping_neg());
                    bump(&cells[to as usize], here);
                }
                left -= here;
                if left == 0 {
                    break;
                }
            }
            bump(&self.counts[to as usize], count);
            bump(&self.counts[RUNNING], u64::MAX);
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

    fn current(&self, now: u64) -> [(usize, u64, u64); 2] {
        let since = self.since.load(Relaxed).max(clock::zero());
        if self.tid.load(Acquire) == 0 {
            return [(0, since, since); 2];
        }
        parts(self.state(), since, self.idle_from.load(Relaxed), now)
    }

    /// Whether what was measured is from before the region of interest.
    #[inline]
    fn is_old(&self) -> bool {
        self.epoch.load(Relaxed) != clock::epoch()
    }

    /// The sums, as far as they count.
    fn known(&self, cells: &Cells) -> Ticks {
        if self.is_old() { [0; State::COUNT] } else { load(cells) }
    }

    fn times_until(&self, now: u64) -> Ticks {
        let mut times = self.known(&self.times);
        for (state, from, to) in self.current(now) {
            times[state] += to - from;
        }
        times
    }

    /// Number of tasks begun and parts of loops taken.
    pub(crate) fn pieces(&self) -> u64 {
        if self.is_old() { 0 } else { self.pieces.load(Relaxed) }
    }

    /// Time by state until `now`.
    pub(crate) fn times(&self, now: u64) -> Ticks {
        self.consistent(|| self.times_until(now))
    }

    /// The whole lane until `now`, or until the thread's last write if that is later.
    pub(crate) fn read(&self, now: u64) -> Reading {
        self.consistent(|| {
            let old = self.is_old();
            let now = now.max(if old { 0 } else { self.since() });
            let zero = clock::zero();
            let mut shift = FIRST_SHIFT + if old { 0 } else { self.wider.load(Relaxed) };
            let used = if old { 0 } else { self.used_bins(shift - FIRST_SHIFT) };
            let mut bins: Vec<Ticks> = self.bins[..used].iter().map(load).collect();
            while now.saturating_sub(zero) >> shift >= BINS as u64 {
                bins = halved(&bins);
                shift += 1;
            }
            for (state, from, to) in self.current(now) {
                each_bin(from - zero, to - zero, shift, |bin, ticks| {
                    if bins.len() <= bin {
                        bins.resize(bin + 1, [0; State::COUNT]);
                    }
                    bins[bin][state] += ticks;
                });
            }
            let (times, counts) = (self.times_until(now), self.known(&self.counts));
            Reading { at: now, times, counts, shift, bins }
        })
    }
}

/// The same times in bins of twice the width.
pub(crate) fn halved(bins: &[Ticks]) -> Vec<Ticks> {
    bins.chunks(2)
        .map(|pair| {
            let mut sum = pair[0];
            for (state, ticks) in sum.iter_mut().enumerate() {
                *ticks += pair.get(1).map_or(0, |other| other[state]);
            }
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use contech_observation::State;

    use crate::{clock, lanes};

    /// The thread writes its lane after the reader has taken the time.
    #[test]
    fn a_lane_is_read_until_its_last_write() {
        let lane = lanes::single();
        lane.begin(1);
        let begin = lane.since();
        let now = clock::now();
        lane.switch(State::Sleep, now + 1_000_000);
        let reading = lane.read(now);
        assert_eq!(reading.at, now + 1_000_000);
        assert_eq!(reading.times.iter().sum::<u64>(), reading.at - begin);
        assert_eq!(lane.read(reading.at + 5).at, reading.at + 5);
    }
}

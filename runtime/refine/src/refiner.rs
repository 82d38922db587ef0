//! The decisions: a state machine without clocks or threads.
//!
//! It *seeks* by equation 9, then *polishes* by comparing the times of sizes near the best one, then *holds* until
//! the measurements change.
//!
//! Equation 9 alone ends where scheduling equals imbalance. That size is near the best where imbalance grows with the
//! size. It is far from the best where imbalance has causes that no size changes (one item as heavy as the rest), or
//! where it jumps (eight equal parts and nine). So times decide at the end.

use crate::equation::{fraction, largest_imbalance, ratio};
use crate::sample::{Sample, State};
use crate::sizes::Sizes;

/// Number of rounds of a size, of which the shortest counts, since other load on the machine only makes rounds
/// longer: while seeking far off, where later steps correct an error; while seeking; and while comparing sizes.
const FAR_WINDOW: usize = 2;
const SEEK_WINDOW: usize = 3;
const POLISH_WINDOW: usize = 8;
/// The shortest round counts as undisturbed if another one was longer by at most this fraction. Otherwise the window
/// goes on, up to so many times its rounds.
const AGREES: f64 = 0.1;
const MOST_WINDOWS: usize = 4;
/// A ratio (as a logarithm) that is far off.
const FAR: f64 = 0.7; // ln 2
/// A ratio within this of 1 asks for no change.
const TOLERANCE: f64 = 0.095; // ln 1.1
/// Steps of seeking after which it ends in any case.
const MOST_STEPS: u32 = 40;
/// A time is better, or worse, if it differs by at least this fraction.
const MARGIN: f64 = 0.02;
/// With a smaller overhead (scheduling and imbalance), no other size is worth a try.
const SMALL: f64 = 0.02;
/// While holding, the refiner seeks again after so many windows in a row whose ratio (as a logarithm) differs by this
/// much from that at the begin of holding.
const CHANGED: f64 = 0.47; // ln 1.6
const PATIENCE: u32 = 2;

/// What was measured at a size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    size: u64,
    time: f64,
    ratio: f64,
    overhead: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Seek {
        gain: f64,
        /// Sign of the last step.
        direction: f64,
        steps: u32,
        /// Number of steps in a row after which the time was worse than the best.
        worse: u32,
    },
    /// `tries` are sizes still to be compared with the best, from which they all differ by the same factor.
    Polish { factor: f64, tries: Vec<u64> },
    /// `usual` is the ratio at this size.
    Hold { usual: f64, changed: u32 },
}

/// Chooses the size of parts by the results of earlier rounds. It follows equation 9, then compares the times of
/// sizes near the best one, then keeps the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Refiner {
    sizes: Sizes,
    workers: u32,
    size: u64,
    stage: Stage,
    window: Vec<Sample>,
    best: Option<Seen>,
    last: Sample,
}

impl Refiner {
    /// A refiner for loops over so many items (between two barriers, if a round has several) with so many workers.
    /// The first size is 1 or `items / (2 * workers)` (the two of the paper), or what was found in another run.
    ///
    /// Sizes are from 1 to items / workers, rounded up, since fewer parts than workers help nobody. With one worker
    /// the only size is all items.
    #[must_use]
    pub fn new(items: u64, workers: u32, initial: u64) -> Self {
        let workers = workers.max(1);
        let mut refiner = Self {
            sizes: Sizes::new(items, workers),
            workers,
            size: 1,
            stage: Stage::seek(),
            window: Vec::with_capacity(MOST_WINDOWS * POLISH_WINDOW),
            best: None,
            last: Sample::default(),
        };
        refiner.start(initial);
        refiner
    }

    /// The same with other limits of the size, which are put in order and limited to `items`.
    #[must_use]
    pub fn with_limits(mut self, smallest: u64, largest: u64) -> Self {
        self.sizes.limit(smallest, largest);
        self.start(self.size);
        self
    }

    fn start(&mut self, initial: u64) {
        self.size = self.sizes.clamp(initial);
        if self.workers == 1 {
            self.size = self.sizes.largest();
        }
        self.stage = if self.is_settled() {
            Stage::hold()
        } else {
            Stage::seek()
        };
    }

    /// Whether there is nothing to choose.
    fn is_settled(&self) -> bool {
        self.workers == 1 || self.sizes.is_one()
    }

    /// Number of items of a part in the next round.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Number of workers.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.workers
    }

    #[must_use]
    pub fn state(&self) -> State {
        match self.stage {
            Stage::Seek { .. } => State::Seeking,
            Stage::Polish { .. } => State::Polishing,
            Stage::Hold { .. } => State::Holding,
        }
    }

    /// The last usable sample.
    #[must_use]
    pub fn last(&self) -> Sample {
        self.last
    }

    /// Takes the result of a round of the present size. A sample that is no measurement (no time, no numbers) is
    /// ignored.
    pub fn observe(&mut self, sample: Sample) {
        if !sample.is_usable() {
            return;
        }
        self.last = sample;
        if self.is_settled() {
            return;
        }
        self.window.push(sample);
        let seen = self.seen();
        let enough = match self.stage {
            Stage::Seek { .. } if seen.ratio.abs() > FAR => FAR_WINDOW,
            Stage::Seek { .. } => SEEK_WINDOW,
            Stage::Polish { .. } | Stage::Hold { .. } => POLISH_WINDOW,
        };
        let rounds = self.window.len();
        if rounds < enough || (rounds < MOST_WINDOWS * enough && !self.is_confirmed(seen.time)) {
            return;
        }
        self.window.clear();
        match self.stage {
            Stage::Seek { .. } => self.seek(seen),
            Stage::Polish { .. } => self.polish(seen),
            Stage::Hold { .. } => self.hold(seen),
        }
    }

    /// The logarithm of equation 9's ratio.
    fn ratio_of(&self, sample: &Sample) -> f64 {
        ratio(self.workers, sample.scheduling, sample.imbalance).ln()
    }

    /// The shortest round of the window.
    fn seen(&self) -> Seen {
        let shortest = self.window.iter().min_by(|a, b| a.time.total_cmp(&b.time));
        let sample = shortest.copied().unwrap_or_default();
        Seen {
            size: self.size,
            time: sample.time,
            ratio: self.ratio_of(&sample),
            overhead: fraction(sample.scheduling, 1.0)
                + fraction(sample.imbalance, largest_imbalance(self.workers)),
        }
    }

    /// Whether two rounds of the window took about the shortest time. Then no other program took a processor away in
    /// them.
    fn is_confirmed(&self, shortest: f64) -> bool {
        let near = |sample: &&Sample| sample.time <= shortest * (1.0 + AGREES);
        self.window.iter().filter(near).count() > 1
    }

    /// Keeps the size if it is the best so far; returns whether it is.
    fn keep_best(&mut self, seen: Seen, margin: f64) -> bool {
        let better = self
            .best
            .is_none_or(|best| seen.time < best.time * (1.0 - margin));
        if better {
            self.best = Some(seen);
        }
        better
    }

    fn seek(&mut self, seen: Seen) {
        let better = self.keep_best(seen, 0.0);
        let much_worse = self
            .best
            .is_some_and(|best| seen.time > best.time * (1.0 + 2.0 * MARGIN));
        let Stage::Seek {
            gain,
            direction,
            steps,
            worse,
        } = &mut self.stage
        else {
            return;
        };
        *worse = match (better, much_worse) {
            (true, _) => 0,
            (_, true) => *worse + 1,
            _ => *worse,
        };
        let sign = seen.ratio.signum();
        if *direction != 0.0 && (sign - *direction).abs() > 0.5 {
            *gain *= 0.5; // successive suggestions alternate: half the way
        }
        *direction = sign;
        *steps += 1;
        let step = seen.ratio * *gain;
        let ended = step.abs() < TOLERANCE || *steps >= MOST_STEPS || *worse >= 2;
        let next = self.sizes.by(seen.size, step.exp());
        if ended || next == seen.size {
            self.polish_from(2.0);
        } else {
            self.size = next;
        }
    }

    /// Compares the best size with the sizes that differ from it by a factor.
    fn polish_from(&mut self, factor: f64) {
        let Some(best) = self.best else {
            return;
        };
        if best.overhead < SMALL {
            self.hold_best(best);
            return;
        }
        let mut tries = vec![
            self.sizes.by(best.size, factor),
            self.sizes.by(best.size, 1.0 / factor),
        ];
        // The direction of equation 9 comes first.
        if best.ratio > 0.0 {
            tries.reverse();
        }
        tries.retain(|size| *size != best.size);
        self.stage = Stage::Polish { factor, tries };
        self.next_try();
    }

    fn next_try(&mut self) {
        let Stage::Polish { factor, tries } = &mut self.stage else {
            return;
        };
        let factor = *factor;
        match (tries.pop(), self.best) {
            (Some(size), _) => self.size = size,
            (None, Some(best)) if factor < 1.5 => self.hold_best(best),
            (None, _) => self.polish_from(factor.sqrt()),
        }
    }

    fn polish(&mut self, seen: Seen) {
        let before = self.best;
        if !self.keep_best(seen, MARGIN) {
            self.next_try();
            return;
        }
        // The size is better, so the search goes further in this direction.
        let Stage::Polish { factor, .. } = self.stage else {
            return;
        };
        let up = before.is_some_and(|before| seen.size > before.size);
        let further = self
            .sizes
            .by(seen.size, if up { factor } else { 1.0 / factor });
        let tries = if further == seen.size {
            vec![]
        } else {
            vec![further]
        };
        self.stage = Stage::Polish { factor, tries };
        self.next_try();
    }

    fn hold_best(&mut self, best: Seen) {
        self.size = best.size;
        self.stage = Stage::Hold {
            usual: best.ratio,
            changed: 0,
        };
    }

    /// Holds the size. Another program phase, other items or another machine load make it seek again from here.
    fn hold(&mut self, seen: Seen) {
        let Stage::Hold { usual, changed } = &mut self.stage else {
            return;
        };
        let other = (seen.ratio - *usual).abs() > CHANGED;
        *changed = if other { *changed + 1 } else { 0 };
        if *changed >= PATIENCE {
            self.stage = Stage::seek();
            self.best = None;
        }
    }
}

impl Stage {
    fn seek() -> Self {
        Self::Seek {
            gain: 1.0,
            direction: 0.0,
            steps: 0,
            worse: 0,
        }
    }

    fn hold() -> Self {
        Self::Hold {
            usual: 0.0,
            changed: 0,
        }
    }
}

//! The Cache Pirate (speedup stacks, section 3): a thread that keeps a working set in the last-level cache while the
//! profiled thread runs alone. The time of its own accesses tells whether it succeeds.
//!
//! The Pirate walks through its cache lines in random order, in four rings. An access to a line that left the cache
//! since the last round is slower. `quiet` is the time of an access with the machine to itself, `miss` its time in a
//! set of four times the cache.

use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::time::{Duration, Instant};

use contech_guest::arch::ticks;
use contech_guest::memory;
use contech_observation::Pirate;

use crate::clock;

const LINE: usize = 64;
const CHAINS: usize = 4;
/// Number of steps between checks whether to stop.
const STEPS: usize = 256;
/// Number of samples kept of the time of these steps beside the program.
const SAMPLES: usize = 4096;
/// Bytes of the last-level cache if the processor does not tell.
const USUAL_CACHE: usize = 32 << 20;
/// If `quiet` is not less than half of `miss`, the set was never in the cache: others use the cache, or it is smaller
/// than it says (guests of one machine share it). Otherwise the set is held while an access takes at most `quiet` plus
/// this part of the difference from `quiet` to `miss`.
const HELD: f64 = 0.25;

const STOP: u32 = 0;
const WARM: u32 = 1;
const RUN: u32 = 2;
static ORDER: AtomicU32 = AtomicU32::new(STOP);
static IS_WARM: AtomicBool = AtomicBool::new(false);
static EXISTS: AtomicBool = AtomicBool::new(false);
/// The processor on which the profiled thread was last seen.
static AWAY_FROM: AtomicU32 = AtomicU32::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
/// Ticks that [`STEPS`] steps in each ring take.
static QUIET: AtomicU64 = AtomicU64::new(0);
static MISS: AtomicU64 = AtomicU64::new(0);
static BESIDE: [AtomicU64; SAMPLES] = [const { AtomicU64::new(0) }; SAMPLES];
/// Number of samples that were taken.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Cache lines that point to each other in rings.
struct Rings {
    at: [*const u64; CHAINS],
    lines: usize,
}

// SAFETY: the memory belongs to this module, and is only read.
unsafe impl Send for Rings {}

impl Rings {
    /// Rings through `bytes` of memory; `None` if there is not enough memory.
    fn new(bytes: usize) -> Option<(Self, *mut u8)> {
        let memory = memory::map(bytes)?;
        // SAFETY: the mapping belongs to this function; large pages are only a wish.
        unsafe { libc::madvise(memory.cast(), bytes, libc::MADV_HUGEPAGE) };
        let lines = bytes / LINE / CHAINS;
        let mut order: Vec<u32> = (0..u32::try_from(lines).ok()?).collect();
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let base = memory.cast::<u64>();
        let mut at = [base.cast_const(); CHAINS];
        for (chain, first) in at.iter_mut().enumerate() {
            // Sattolo's algorithm makes one ring; each chain has its own part of the memory.
            for last in (1..lines).rev() {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let other = usize::try_from(random % last as u64).unwrap_or(0);
                order.swap(last, other);
            }
            let line = |number: u32| {
                base.wrapping_add((chain * lines + number as usize) * (LINE / size_of::<u64>()))
            };
            for pair in 0..lines {
                let (from, to) = (order[pair], order[(pair + 1) % lines]);
                // SAFETY: both lines are in the mapping.
                unsafe { line(from).write(line(to).addr() as u64) };
            }
            *first = line(order[0]);
        }
        Some((Self { at, lines }, memory))
    }

    /// Takes `steps` steps in each ring.
    #[inline(never)]
    fn walk(&mut self, steps: usize) {
        for _ in 0..steps {
            for at in &mut self.at {
                // SAFETY: each line holds the address of another one.
                *at = at.with_addr(usize::try_from(unsafe { at.read_volatile() }).unwrap_or(0));
            }
        }
    }

    /// Ticks of `STEPS` steps in each ring.
    fn timed(&mut self) -> u64 {
        let before = ticks();
        self.walk(STEPS);
        ticks().saturating_sub(before)
    }

    /// The median ticks of `STEPS` steps in each ring, over `steps` steps.
    fn measure(&mut self, steps: usize) -> u64 {
        let mut ticks: Vec<u64> = (0..steps / STEPS).map(|_| self.timed()).collect();
        median(&mut ticks)
    }
}

/// The median, so that steps that another program or another guest of the machine interrupted do not matter.
fn median(ticks: &mut [u64]) -> u64 {
    ticks.sort_unstable();
    ticks.get(ticks.len() / 2).copied().unwrap_or(0)
}

/// Bytes of the last-level cache, and the processors that share it with `cpu`.
fn cache(cpu: u32) -> (usize, Vec<u32>) {
    let folder = |index: u32| format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
    let read = |path: String| std::fs::read_to_string(path).ok();
    let found = (0..8).rev().find_map(|index| {
        let size = read(format!("{}/size", folder(index)))?;
        let kib: usize = size.trim().strip_suffix('K')?.parse().ok()?;
        let list = read(format!("{}/shared_cpu_list", folder(index)))?;
        Some((kib << 10, numbers(&list)))
    });
    found.unwrap_or((USUAL_CACHE, Vec::new()))
}

/// The numbers in a list such as `0-3,8`.
fn numbers(list: &str) -> Vec<u32> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

/// Moves the calling thread to a processor that shares the cache with `cpu`; whether there is one.
fn move_away(cpu: u32) -> bool {
    // SAFETY: the type is plain data for which zero is a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let Some(other) = cache(cpu).1.into_iter().find(|other| *other != cpu) else {
        return false;
    };
    // SAFETY: the set is live, and the call concerns only the calling thread.
    unsafe {
        libc::CPU_SET(other as usize, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set) == 0
    }
}

/// Creates the Pirate and measures its times with the machine to itself, before the program begins.
pub(crate) fn start(bytes: usize) {
    BYTES.store(bytes as u64, Relaxed);
    let life = move || {
        move_away(here());
        let large = cache(here()).0 * 4;
        if let Some((mut rings, memory)) = Rings::new(large) {
            MISS.store(rings.measure(200_000), Relaxed);
            // SAFETY: nothing refers to the memory any more.
            unsafe { memory::unmap(memory, large) };
        }
        let Some((mut rings, _)) = Rings::new(bytes.max(LINE * CHAINS * 2)) else {
            IS_WARM.store(true, Release);
            return;
        };
        let round = rings.lines;
        rings.walk(2 * round);
        QUIET.store(rings.measure(4 * round.max(50_000)), Relaxed);
        EXISTS.store(true, Relaxed);
        IS_WARM.store(true, Release);
        obey(rings);
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let made = contech_guest::mask::unhandled(|| thread.spawn(life));

    if made.is_ok() {
        wait(Duration::from_secs(20));
    }
}

fn here() -> u32 {
    // SAFETY: the function takes no arguments.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

fn wait(limit: Duration) {
    let since = Instant::now();
    while !IS_WARM.load(Acquire) && since.elapsed() < limit {
        std::thread::sleep(Duration::from_micros(50));
    }
}

fn obey(mut rings: Rings) -> ! {
    let mut beside = u32::MAX;
    loop {
        match ORDER.load(Acquire) {
            RUN => {
                let passed = rings.timed();
                // The first samples are all kept; then a number without pattern gives each later one the same chance.
                let number = TAKEN.fetch_add(1, Relaxed);
                let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                let at = if number < SAMPLES as u64 {
                    number
                } else {
                    random % (number + 1)
                };
                if let Some(sample) = usize::try_from(at).ok().and_then(|at| BESIDE.get(at)) {
                    sample.store(passed, Relaxed);
                }
            }
            WARM if !IS_WARM.load(Relaxed) => {
                let away = AWAY_FROM.load(Relaxed);
                if away != beside {
                    move_away(away);
                    beside = away;
                }
                let round = rings.lines;
                rings.walk(round);
                IS_WARM.store(true, Release);
            }
            WARM => std::hint::spin_loop(),
            _ => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}

pub(crate) fn exists() -> bool {
    EXISTS.load(Relaxed)
}

/// Waits until the Pirate's set is in the cache. The profiled thread calls this function before it runs.
pub(crate) fn go_on() {
    if exists() {
        AWAY_FROM.store(here(), Relaxed);
        IS_WARM.store(false, Release);
        ORDER.store(WARM, Release);
        wait(Duration::from_secs(5));
        ORDER.store(RUN, Release);
    }
}

/// Stops the Pirate, because the profiled thread does not run any more.
pub(crate) fn stop() {
    ORDER.store(STOP, Release);
}

/// The Pirate's measurements; `None` if there was no Pirate.
#[allow(clippy::cast_precision_loss, reason = "means")]
pub(crate) fn result() -> Option<Pirate> {
    let bytes = BYTES.load(Relaxed);
    if bytes == 0 {
        return None;
    }
    let ns = |ticks: u64| ticks as f64 * clock::ns_per_tick() / (STEPS * CHAINS) as f64;
    let taken = TAKEN.load(Relaxed);
    let kept = usize::try_from(taken).map_or(SAMPLES, |taken| taken.min(SAMPLES));
    let mut samples: Vec<u64> = BESIDE[..kept].iter().map(|s| s.load(Relaxed)).collect();
    let (quiet, miss) = (ns(QUIET.load(Relaxed)), ns(MISS.load(Relaxed)));
    let beside = ns(median(&mut samples));
    let lines = (bytes / LINE as u64).max(1);
    Some(Pirate {
        bytes,
        quiet_ns: quiet,
        beside_ns: beside,
        miss_ns: miss,
        rounds: taken * (STEPS * CHAINS) as u64 / lines,
        held: taken > 0 && quiet < miss / 2.0 && beside <= quiet + HELD * (miss - quiet),
    })
}

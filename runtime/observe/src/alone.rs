//! The alone-run (speedup stacks, section 6.1): in every parallel phase one thread runs alone up to a barrier, the
//! join or its end. Then the others run up to the same point, and so on. A program that cannot run like this is
//! recognised and reported, and runs as usual.

use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire,
    Ordering::Relaxed, Ordering::Release,
};

use contech_guest::arch::ticks;
use contech_observation::{Alone, State};

use crate::lane::Lane;
use crate::{clock, pirate};

/// Whose turn it is.
const OPEN: u32 = 0;
const PROFILED: u32 = 1;
const OTHERS: u32 = 2;
/// Threads are being created, and their creator runs.
const MAKING: u32 = 3;

/// The roles of a lane: none, the profiled thread, one of the others, the creator of the threads.
const NOBODY: u32 = 0;
const SELF: u32 = 1;
const OTHER: u32 = 2;
const MAKER: u32 = 3;

/// Ticks that the profiled thread ran alone in a phase. The turns are those of one phase at a time, which its team
/// stands for.
pub(crate) struct Team(pub(crate) AtomicU64);

struct Gate {
    locked: AtomicBool,
    turn: AtomicU32,
    /// The team of the threads that take turns.
    team: AtomicPtr<Team>,
    /// Number of threads besides the profiled one that must arrive, and number that have arrived.
    others: AtomicU32,
    arrived: AtomicU32,
    made: AtomicU32,
    /// When the profiled thread began to run (0 if it does not), and when the turn last changed.
    since: AtomicU64,
    changed: AtomicU64,
    yields: AtomicU32,
}

static GATE: Gate = Gate {
    locked: AtomicBool::new(false),
    turn: AtomicU32::new(OPEN),
    team: AtomicPtr::new(std::ptr::null_mut()),
    others: AtomicU32::new(0),
    arrived: AtomicU32::new(0),
    made: AtomicU32::new(0),
    since: AtomicU64::new(0),
    changed: AtomicU64::new(0),
    yields: AtomicU32::new(0),
};

/// Whether an alone-run was requested, and the number of its thread.
static ASKED: AtomicBool = AtomicBool::new(false);
static NUMBER: AtomicU32 = AtomicU32::new(0);
/// The longest time that a turn may take, in seconds.
static LIMIT: AtomicU64 = AtomicU64::new(2);
/// Why the measurement is invalid: an index into `REASONS`, counted from 1; 0 while it is valid.
static INVALID: AtomicUsize = AtomicUsize::new(0);
/// Number of yields of the processor above which the thread must be spinning.
const SPINS: u32 = 20_000;

/// Why a program cannot run one thread at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    Condition = 1,
    Dynamic,
    Tasks,
    Nested,
    NoSuchThread,
    Spins,
    Stuck,
    Waits,
}

const REASONS: [&str; 8] = [
    "threads wait for conditions or semaphores, which another thread would have to signal meanwhile",
    "iterations are handed out at run time (dynamic or guided schedule): one thread alone takes them all; use schedule(static)",
    "explicit tasks: one thread alone runs them all",
    "parallel regions within parallel regions",
    "no phase has a thread of that number",
    "the thread spins and yields the processor, waiting for a thread that is halted: a barrier of the program's own?",
    "the thread ran longer than CONTECH_ALONE_LIMIT seconds while the others were halted: does it spin, waiting for them? If it works, allow more",
    "the thread waits for a lock of one that is halted",
];

/// Requests an alone-run of thread `number`, with at most `limit` seconds for a turn.
pub(crate) fn start(number: u32, limit: u64) {
    NUMBER.store(number, Relaxed);
    LIMIT.store(limit.max(2), Relaxed);
    ASKED.store(true, Release);
    // This thread is not observed and does not disturb the program: it sleeps, and ends with the process.
    let watch = std::thread::Builder::new().stack_size(64 << 10);
    let _ = contech_guest::mask::unhandled(|| watch.spawn(watchdog));
}

/// Whether there is an alone-run that is still valid.
#[inline]
fn is_on() -> bool {
    ASKED.load(Relaxed) && INVALID.load(Relaxed) == 0
}

/// The result of the alone-run; `None` if none was requested.
pub(crate) fn result() -> Option<Alone> {
    if !ASKED.load(Acquire) {
        return None;
    }
    let measured = SEGMENTS.load(Relaxed) > 0;
    let reason = match INVALID.load(Relaxed) {
        0 if !measured => Some(Reason::NoSuchThread as usize),
        0 => None,
        reason => Some(reason),
    };
    let words = reason.and_then(|reason| REASONS.get(reason - 1));
    Some(Alone {
        thread: NUMBER.load(Relaxed),
        invalid: words.map(|words| (*words).to_owned()),
        pirate: pirate::result(),
    })
}

/// Number of times that the profiled thread ran alone.
static SEGMENTS: AtomicU64 = AtomicU64::new(0);

/// Gives up the measurement; the program goes on as usual.
#[cold]
pub(crate) fn invalid(reason: Reason) {
    let _ = INVALID.compare_exchange(0, reason as usize, AcqRel, Relaxed);
    pirate::stop();
    GATE.set(OPEN);
}

fn watchdog() {
    let ticks_per_second = |limit: u64| {
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "seconds"
        )]
        let ticks = (limit as f64 * 1e9 / clock::ns_per_tick()) as u64;
        ticks
    };
    while INVALID.load(Relaxed) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let turn = GATE.turn.load(Acquire);
        let passed = ticks().saturating_sub(GATE.changed.load(Relaxed));
        if !matches!(turn, PROFILED | MAKING) || passed < ticks_per_second(LIMIT.load(Relaxed)) {
            continue;
        }
        let waits = crate::lanes::all().iter().any(|lane| {
            lane.alone.role.load(Relaxed) == SELF
                && (lane.state() == State::Lock as usize || lane.state() == State::Spin as usize)
        });
        invalid(if waits { Reason::Waits } else { Reason::Stuck });
    }
}

impl Gate {
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        while self.locked.swap(true, Acquire) {
            std::hint::spin_loop();
        }
        let result = f();
        self.locked.store(false, Release);
        result
    }

    fn set(&self, turn: u32) {
        self.changed.store(ticks(), Relaxed);
        self.turn.store(turn, Release);
        let word = self.turn.as_ptr();
        // SAFETY: the call wakes threads that wait for the word, which is static.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word,
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                i32::MAX,
            )
        };
    }

    /// Halts the calling thread until it may run.
    fn halt(&self, lane: &Lane) {
        let mine = match lane.alone.role.load(Relaxed) {
            NOBODY => return,
            SELF => PROFILED,
            _ => OTHERS,
        };
        let mut halted = false;
        loop {
            let turn = self.turn.load(Acquire);
            if turn == OPEN || turn == mine {
                break;
            }
            if !halted {
                lane.switch(State::Idle, clock::now());
                halted = true;
            }
            let word = self.turn.as_ptr();
            let none = std::ptr::null::<libc::timespec>();
            // SAFETY: the call waits while the word, which is static, is `turn`.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    word,
                    libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                    turn,
                    none,
                )
            };
        }
        let alone = mine == PROFILED && self.turn.load(Relaxed) == PROFILED;
        if alone && pirate::exists() {
            lane.switch(State::Idle, clock::now());
            halted = true;
            pirate::go_on();
        }
        let now = clock::now();
        if halted {
            lane.switch(State::Running, now);
        }
        if alone {
            self.yields.store(0, Relaxed);
            self.changed.store(ticks(), Relaxed);
            self.since.store(now, Relaxed);
        }
    }

    /// Adds the time that the profiled thread ran alone, when it stops running.
    fn account(&self) {
        pirate::stop();
        let since = self.since.swap(0, Relaxed);
        // SAFETY: the pointer is null, or that of a team that lives for ever, see `begin`.
        let team = unsafe { self.team.load(Relaxed).as_ref() };
        if let Some(team) = team.filter(|_| since != 0) {
            SEGMENTS.fetch_add(1, Relaxed);
            let passed = clock::now().saturating_sub(since);
            team.0.fetch_add(passed, Relaxed);
        }
    }

    /// Gives the turn to the profiled thread once all others have arrived or ended.
    fn next(&self) {
        if self.arrived.load(Relaxed) >= self.others.load(Relaxed) {
            self.arrived.store(0, Relaxed);
            self.set(PROFILED);
        }
    }
}

fn is_team(team: &Team) -> bool {
    std::ptr::eq(GATE.team.load(Acquire), team)
}

/// Called when a phase of threads begins; the creator of the threads runs until it waits for them.
pub(crate) fn threads_begin(team: &'static Team, maker: &Lane) {
    if begin(team, MAKING, 1) {
        maker.alone.role.store(MAKER, Relaxed);
    }
}

/// Called when a parallel region begins.
pub(crate) fn region_begins(team: &'static Team) {
    begin(team, PROFILED, u32::MAX);
}

fn begin(team: &'static Team, turn: u32, others: u32) -> bool {
    let (new, null) = (std::ptr::from_ref(team).cast_mut(), std::ptr::null_mut());
    if !is_on()
        || GATE
            .team
            .compare_exchange(null, new, AcqRel, Relaxed)
            .is_err()
    {
        return false;
    }
    GATE.others.store(others, Relaxed);
    GATE.arrived.store(0, Relaxed);
    GATE.made.store(0, Relaxed);
    GATE.since.store(0, Relaxed);
    GATE.set(turn);
    true
}

/// Called when the phase ends.
pub(crate) fn end(team: &Team) {
    if ASKED.load(Relaxed) && is_team(team) {
        GATE.set(OPEN);
        for lane in crate::lanes::all() {
            lane.alone.role.store(NOBODY, Relaxed);
        }
        GATE.team.store(std::ptr::null_mut(), Release);
    }
}

/// Called before a thread of the phase is created.
pub(crate) fn made(team: &Team, lane: &Lane) {
    if !is_on() || !is_team(team) {
        return;
    }
    GATE.with(|| {
        if GATE.made.fetch_add(1, Relaxed) == NUMBER.load(Relaxed) {
            lane.alone.role.store(SELF, Relaxed);
        } else {
            lane.alone.role.store(OTHER, Relaxed);
            GATE.others.fetch_add(1, Relaxed);
        }
    });
}

/// Called when a thread begins.
pub(crate) fn thread_begins(lane: &Lane) {
    if is_on() {
        GATE.halt(lane);
    }
}

/// Called when a thread of a region's team begins.
pub(crate) fn team_begins(team: &Team, lane: &Lane, index: u32, size: u32, inner: bool) {
    if !is_on() || !is_team(team) {
        return;
    }
    if inner {
        if size > 1 {
            invalid(Reason::Nested);
        }
        lane.alone.inner.fetch_add(1, Relaxed);
        return;
    }
    let number = NUMBER.load(Relaxed);
    if size <= number {
        GATE.set(OPEN);
        return;
    }
    let role = if index == number { SELF } else { OTHER };
    lane.alone.role.store(role, Relaxed);
    GATE.others.store(size - 1, Relaxed);
    GATE.halt(lane);
}

/// Called when a region within the team's region ends.
pub(crate) fn inner_ends(lane: &Lane) {
    let inner = lane.alone.inner.load(Relaxed);
    lane.alone.inner.store(inner.saturating_sub(1), Relaxed);
}

fn role(lane: &Lane) -> u32 {
    if !is_on() || lane.alone.inner.load(Relaxed) > 0 || GATE.turn.load(Relaxed) == OPEN {
        return NOBODY;
    }
    lane.alone.role.load(Relaxed)
}

/// Called when a thread arrives at a barrier, before it passes the barrier.
pub(crate) fn arrives(lane: &Lane) {
    match role(lane) {
        NOBODY => {}
        SELF => GATE.with(|| {
            GATE.account();
            if GATE.arrived.load(Relaxed) >= GATE.others.load(Relaxed) {
                GATE.next();
            } else {
                GATE.set(OTHERS);
            }
        }),
        _ => GATE.with(|| {
            GATE.arrived.fetch_add(1, Relaxed);
            match GATE.turn.load(Relaxed) {
                MAKING => makes_no_more(),
                OTHERS => GATE.next(),
                _ => {}
            }
        }),
    }
}

/// All threads are created: gives the turn to the profiled one, if there is one.
fn makes_no_more() {
    if GATE.made.load(Relaxed) > NUMBER.load(Relaxed) {
        GATE.set(PROFILED);
    } else {
        GATE.set(OPEN);
    }
}

/// Called when a thread has passed a barrier.
pub(crate) fn passed(lane: &Lane) {
    if role(lane) != NOBODY {
        GATE.halt(lane);
    }
}

/// Called when a thread begins to wait for others to end.
pub(crate) fn joins(lane: &Lane) {
    if role(lane) == MAKER {
        GATE.with(|| {
            lane.alone.role.store(NOBODY, Relaxed);
            leaves();
        });
    }
}

fn leaves() {
    GATE.others.fetch_sub(1, Relaxed);
    match GATE.turn.load(Relaxed) {
        MAKING => makes_no_more(),
        OTHERS => GATE.next(),
        _ => {}
    }
}

/// Called when a thread ends.
pub(crate) fn ends(lane: &Lane) {
    match role(lane) {
        SELF => GATE.with(|| {
            GATE.account();
            // No thread is profiled any more.
            GATE.set(OPEN);
        }),
        OTHER => GATE.with(leaves),
        _ => {}
    }
    lane.alone.role.store(NOBODY, Relaxed);
    lane.alone.inner.store(0, Relaxed);
}

/// Called when a thread does something that makes the measurement invalid, if the thread is in the team.
pub(crate) fn spoils(lane: &Lane, reason: Reason) {
    if ASKED.load(Relaxed) && role(lane) != NOBODY {
        invalid(reason);
    }
}

/// Called when a thread yields the processor.
pub(crate) fn yields(lane: &Lane) {
    if ASKED.load(Relaxed) && role(lane) == SELF && GATE.yields.fetch_add(1, Relaxed) > SPINS {
        invalid(Reason::Spins);
    }
}

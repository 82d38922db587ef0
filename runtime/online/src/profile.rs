//! The profile of the running program.
#![allow(
    unsafe_code,
    reason = "variables of instrumented functions and return addresses, read through pointers"
)]

mod loops;

pub(crate) use loops::{Iterations, Looping};

use workspan::abi::{Function, REMEMBERED};
use workspan::{Kind, Shadow, Site};

use crate::clock::{Clock, Cost, Metric, Moment, cycles};
use crate::sites::Numbers;

/// What a call site is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteFacts {
    /// Code of the function invoked first.
    pub function: usize,
    /// Whether it was a spawn.
    pub spawn: bool,
    /// Whether its invocations are the iterations of a loop in the function.
    pub repeats: bool,
}

/// An invocation on the stack: its slot, and the number of its function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Invocation {
    slot: usize,
    function: u32,
}

/// Everything about one run.
#[derive(Debug)]
pub(crate) struct Profile {
    pub shadow: Shadow<Invocation>,
    pub sites: Numbers,
    functions: Numbers,
    pub facts: Vec<SiteFacts>,
    clock: Clock,
    pub metric: Metric,
    pub started: Moment,
    /// Invocations that ended without returning: by a jump or an exception.
    pub jumped: u64,
    /// The iterations of the loop that calls nothing, told when it ends, are no strands.
    serial: bool,
    /// The iteration in whose ordered section the program is.
    ordered: Option<(Site, Invocation)>,
}

/// The program itself, around all invocations.
const PROGRAM: u32 = u16::MAX as u32;

impl Profile {
    /// With the program itself as the outermost invocation.
    pub(crate) fn new(metric: Metric, cost: Cost) -> Self {
        let mut profile = Self {
            shadow: Shadow::default(),
            sites: Numbers::default(),
            functions: Numbers::default(),
            facts: Vec::new(),
            clock: Clock::new(metric, cost),
            metric,
            started: Moment::now(),
            jumped: 0,
            serial: false,
            ordered: None,
        };
        let id = profile.sites.of(0);
        profile.facts.push(SiteFacts {
            function: 0,
            spawn: false,
            repeats: false,
        });
        let site = Site {
            id,
            caller: PROGRAM,
            kind: Kind::Call,
        };
        profile.shadow.enter_with(
            site,
            Invocation {
                slot: usize::MAX,
                function: PROGRAM,
            },
        );
        profile
    }

    /// The program's time began when this library was loaded; since `before` the profiler spent it.
    pub(crate) fn since_loaded(&mut self, before: u64) {
        self.clock.since_loaded(cycles().saturating_sub(before));
    }

    /// `function` was invoked and is going to call something; `operations` were executed up to now, `own` of them by it.
    #[inline(always)]
    pub(crate) fn enter(&mut self, at: &Arrival<'_>, operations: u64, own: u64) {
        let (before, within) = self.clock.spent(operations, own, at.foreign);
        self.shadow.advance(before);
        self.leave_jumped(at.slot, true);
        let site = self.site(at);
        let function = self.number(at);
        let tag = Invocation {
            slot: at.slot,
            function,
        };
        self.shadow.enter_with(site, tag);
        self.shadow.advance(within);
    }

    /// `function` was invoked and returns without having called anything.
    #[inline(always)]
    pub(crate) fn leaf(&mut self, at: &Arrival<'_>, operations: u64, own: u64) {
        let (before, within) = self.clock.spent(operations, own, at.foreign);
        self.shadow.advance(before);
        self.leave_jumped(at.slot, true);
        let site = self.site(at);
        self.shadow.leaf(site, within);
    }

    /// The invocation at `slot` returns.
    #[inline(always)]
    pub(crate) fn leave(&mut self, slot: usize, operations: u64, foreign: bool) {
        self.advance(operations, foreign);
        self.leave_jumped(slot, false);
        if self.shadow.top().is_some_and(|top| top.slot == slot) {
            self.shadow.leave();
        }
    }

    /// The invocation at `slot`, or the innermost one, waits for what it spawned.
    #[inline(always)]
    pub(crate) fn sync(&mut self, slot: Option<usize>, operations: u64, foreign: bool) {
        self.advance(operations, foreign);
        if let Some(slot) = slot {
            self.leave_jumped(slot, false);
        }
        self.shadow.sync();
    }

    /// Takes what was executed up to now into account.
    pub(crate) fn catch_up(&mut self, operations: u64) {
        self.advance(operations, true);
    }

    /// Invocations that have not returned, the program itself not counted.
    pub(crate) fn running(&self) -> usize {
        self.shadow.depth() - 1
    }

    /// The innermost invocation executed what was told up to now.
    #[inline(always)]
    pub(crate) fn advance(&mut self, operations: u64, foreign: bool) {
        let (before, within) = self.clock.spent(operations, 0, foreign);
        self.shadow.advance(before + within);
    }

    /// The call site, whose number the function remembers.
    #[inline(always)]
    fn site(&mut self, at: &Arrival<'_>) -> Site {
        let known = (0..REMEMBERED).find(|&k| at.function.from[k] == at.from);
        let id = match known {
            Some(k) if at.from != 0 => at.function.sites[k],
            _ => self.new_site(at),
        };
        Site {
            id,
            caller: self.shadow.top().map_or(PROGRAM, |top| top.function),
            kind: if at.spawn { Kind::Spawn } else { Kind::Call },
        }
    }

    #[cold]
    #[inline(never)]
    fn new_site(&mut self, at: &Arrival<'_>) -> u32 {
        let id = self.sites.of(at.from);
        if id as usize == self.facts.len() {
            self.facts.push(SiteFacts {
                function: at.function.code,
                spawn: at.spawn,
                repeats: false,
            });
        }
        at.remember.remember(at.from, id);
        id
    }

    #[inline(always)]
    fn number(&mut self, at: &Arrival<'_>) -> u32 {
        match u32::try_from(at.function.number) {
            Ok(known) if known > 0 => known - 1,
            _ => {
                let number = self.functions.of(at.function.code);
                at.remember.number(number);
                number
            }
        }
    }

    /// Functions were left by a jump or an exception: their slots are at or below that of a new invocation, or below
    /// that of one that goes on.
    #[inline(always)]
    fn leave_jumped(&mut self, slot: usize, new: bool) {
        while let Some(top) = self.shadow.top()
            && (top.slot < slot || new && top.slot == slot)
        {
            self.leave_one();
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_one(&mut self) {
        self.shadow.leave();
        self.jumped += 1;
    }
}

/// An invocation as its function tells it.
#[derive(Debug)]
pub(crate) struct Arrival<'f> {
    pub function: &'f Function,
    pub remember: Memory,
    pub slot: usize,
    /// The return address.
    pub from: usize,
    pub spawn: bool,
    pub foreign: bool,
}

/// A function's variable, to write to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory(*mut Function);

impl Memory {
    /// # Safety
    /// The variable of an instrumented function; no other thread uses it while this lives.
    pub(crate) unsafe fn new(function: *mut Function) -> Self {
        Self(function)
    }

    fn remember(self, from: usize, site: u32) {
        // SAFETY: by the contract of `new`; the reference in Arrival is not used for these fields afterwards.
        unsafe {
            let (all, sites) = (&raw mut (*self.0).from, &raw mut (*self.0).sites);
            for k in (1..REMEMBERED).rev() {
                (*all)[k] = (*all)[k - 1];
                (*sites)[k] = (*sites)[k - 1];
            }
            ((*all)[0], (*sites)[0]) = (from, site);
        }
    }

    fn number(self, number: u32) {
        // SAFETY: as above.
        unsafe { (*self.0).number = u64::from(number) + 1 };
    }
}

/// What a reading of the counter, and a hook, cost in cycles: the least of many.
pub(crate) fn calibrate() -> Cost {
    const ROUNDS: u64 = 512;
    // The counter may advance by many cycles at a time: the mean of many readings.
    let round = || {
        let before = cycles();
        for _ in 1..64 {
            std::hint::black_box(cycles());
        }
        cycles().saturating_sub(before) / 64
    };
    let reading = (0..8).map(|_| round()).min().unwrap_or(0);
    // Invocations as a recursion makes them, with a metric that reads no clock.
    let mut profile = Profile::new(Metric::Operations, Cost::default());
    let mut variables: Vec<Function> = (0..2)
        .map(|k| Function {
            code: 16 + k,
            number: 0,
            from: [0; REMEMBERED],
            sites: [0; REMEMBERED],
        })
        .collect();
    let variable = variables.as_mut_ptr();
    let mut least = u64::MAX;
    for _ in 0..16 {
        let before = cycles();
        for round in 0..ROUNDS {
            for (depth, slot) in [(0, 4096), (1, 4000)] {
                // SAFETY: an element of the vector above, used by this thread alone.
                let (function, remember) =
                    unsafe { (&*variable.add(depth), Memory::new(variable.add(depth))) };
                let at = Arrival {
                    function,
                    remember,
                    slot,
                    from: 64 + depth,
                    spawn: round & 1 == 1,
                    foreign: false,
                };
                std::hint::black_box(&mut profile).enter(&at, round, 0);
            }
            std::hint::black_box(&mut profile).leave(4000, round, false);
            std::hint::black_box(&mut profile).leave(4096, round, false);
        }
        least = least.min((cycles() - before) / (4 * ROUNDS));
    }
    Cost {
        hook: least,
        reading,
    }
}

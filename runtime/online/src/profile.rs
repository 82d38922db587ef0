//! The profile of the running program.

mod read;

use contech_interpose::clock as interpose;
use workspan::abi::Function;
use workspan::file::Metric;
use workspan::{Kind, Shadow, Site};

use crate::clock::{Clock, Cost};
use crate::sites::Numbers;

/// The facts of a call site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteFacts {
    /// Code of the function that was invoked first.
    pub function: usize,
    /// How it was invoked.
    pub kind: Kind,
}

/// An invocation on the stack: its slot, as the distance from the stack's lower end, and the number
/// of its function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Invocation {
    slot: usize,
    function: u32,
}

/// The bounds of a stack. Invocations elsewhere (of handlers on a stack of their own) are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub low: usize,
    pub size: usize,
}

/// Everything that is known about one run.
#[derive(Debug)]
pub(crate) struct Profile {
    pub shadow: Shadow<Invocation>,
    pub sites: Numbers,
    functions: Numbers,
    pub facts: Vec<SiteFacts>,
    pub clock: Clock,
    stack: Bounds,
    pub metric: Metric,
    pub started: interpose::Clock,
    /// Invocations that ended without returning: by a jump or an exception.
    pub jumped: u64,
    /// [`workspan::abi::SPAWN`] if the next invocation is a spawn, whatever its event says.
    spawn: u64,
}

/// The number of the program itself, as a function around all invocations; the others are numbered
/// from one on.
const PROGRAM: u32 = 0;

impl Profile {
    /// A profile with the program itself as the outermost invocation.
    pub(crate) fn new(metric: Metric, cost: Cost, stack: Bounds) -> Self {
        let mut profile = Self {
            shadow: Shadow::default(),
            sites: Numbers::default(),
            functions: Numbers::default(),
            facts: Vec::new(),
            clock: Clock::new(metric, cost),
            stack,
            metric,
            started: interpose::Clock::start(),
            jumped: 0,
            spawn: 0,
        };
        let id = profile.sites.of(0);
        profile.facts.push(SiteFacts { function: 0, kind: Kind::Call });
        let site = Site { id, caller: PROGRAM, kind: Kind::Call };
        profile.shadow.enter(site, Invocation { slot: stack.size, function: PROGRAM });
        profile
    }

    /// The invocation at `slot`, or the innermost one, waits for what it spawned.
    pub(crate) fn sync(&mut self, at: Option<usize>, now: u64) {
        let slot = at.map(|at| self.slot(at));
        if slot.is_some_and(|slot| slot >= self.stack.size) {
            return;
        }
        self.shadow.advance_to(now);
        if let Some(slot) = slot {
            self.leave_jumped(slot, false);
        }
        self.shadow.sync();
    }

    /// Number of invocations that have not returned, without the program itself.
    pub(crate) fn running(&self) -> usize {
        self.shadow.depth() - 1
    }

    /// The place of a slot on the stack; for a slot elsewhere it is not below the stack's size.
    #[inline(always)]
    fn slot(&self, slot: usize) -> usize {
        slot.wrapping_sub(self.stack.low)
    }

    /// A function was invoked and is going to call something. Returns false if it is on another
    /// stack, and so left out.
    #[cold]
    #[inline(never)]
    pub(crate) fn enter(&mut self, at: Arrival<'_>, began: u64) -> bool {
        self.arrives(at, began) && self.enter_at_once(at, began)
    }

    /// A function was invoked and returns without having called anything. Returns false if it is on
    /// another stack.
    #[cold]
    #[inline(never)]
    pub(crate) fn leaf(&mut self, at: Arrival<'_>, now: u64, own: u64) -> bool {
        self.arrives(at, now - own) && self.leaf_at_once(at, now, own)
    }

    /// Leaves the invocations that no longer are on the stack at `at`. Makes call site and function
    /// known, and memory for the invocation. Returns false if `at` is on another stack.
    fn arrives(&mut self, at: Arrival<'_>, now: u64) -> bool {
        let slot = self.slot(at.slot);
        if slot >= self.stack.size {
            return false;
        }
        self.shadow.advance_to(now);
        self.leave_jumped(slot, true);
        let id = self.sites.of(at.from);
        if id as usize == self.facts.len() {
            self.facts.push(SiteFacts { function: at.function.code, kind: at.kind });
        }
        if at.function.number.get() == 0 {
            let number = self.functions.of(at.function.code) + 1;
            at.function.number.set(number);
        }
        self.shadow.prepare(Site { id, caller: self.shadow.top().function, kind: at.kind });
        true
    }

    /// The invocation at `at` returns. If it spawned, it synced before its last `after` units of
    /// time.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&mut self, at: usize, now: u64, after: u64) {
        let slot = self.slot(at);
        if slot >= self.stack.size {
            return;
        }
        self.shadow.advance_to(now - after);
        self.leave_jumped(slot, false);
        self.leave_at_once(at, now, after);
        self.shadow.advance_to(now);
    }

    /// Leaves the invocations that ended by a jump or an exception: their slots are at or below
    /// that of a new invocation, or below that of one that goes on.
    fn leave_jumped(&mut self, slot: usize, new: bool) {
        while self.shadow.top().slot < slot || new && self.shadow.top().slot == slot {
            self.shadow.leave();
            self.jumped += 1;
        }
    }
}

/// Events in the usual case: the call site is known, there is memory, and no jump left an
/// invocation. These functions call nothing; in any other case they do nothing and return false.
impl Profile {
    /// Does what [`Self::enter`] does.
    #[inline(always)]
    pub(crate) fn enter_at_once(&mut self, at: Arrival<'_>, began: u64) -> bool {
        let function = at.function.number.get();
        if function == 0 {
            return false;
        }
        let Some((site, slot)) = self.arrives_at_once(at) else {
            return false;
        };
        self.shadow.enter_at(began, site, Invocation { slot, function })
    }

    /// Does what [`Self::leaf`] does.
    #[inline(always)]
    pub(crate) fn leaf_at_once(&mut self, at: Arrival<'_>, now: u64, own: u64) -> bool {
        let Some((site, _)) = self.arrives_at_once(at) else {
            return false;
        };
        self.shadow.leaf_at(now, site, own)
    }

    /// Does what [`Self::leave`] does.
    #[inline(always)]
    pub(crate) fn leave_at_once(&mut self, at: usize, now: u64, after: u64) -> bool {
        self.slot(at) == self.shadow.top().slot && self.shadow.leave_at(now - after, now).is_some()
    }

    /// The call site if it is known, and the slot if it is below that of the innermost invocation.
    #[inline(always)]
    fn arrives_at_once(&self, at: Arrival<'_>) -> Option<(Site, usize)> {
        let (slot, top) = (self.slot(at.slot), self.shadow.top());
        let id = self.sites.at_once(at.from)?;
        let site = Site { id, caller: top.function, kind: at.kind };
        (slot < top.slot).then_some((site, slot))
    }
}

/// An invocation as its function reports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'f> {
    pub function: &'f Function,
    pub slot: usize,
    /// The return address.
    pub from: usize,
    pub kind: Kind,
}

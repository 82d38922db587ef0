//! Loops whose iterations may run in parallel: the loop is a call site, and each iteration is a spawn from it.
//!
//! An iteration that is reported by itself is an invocation on the stack. Its slot is that of the invocation that
//! contains it, less one for itself and one for each such loop around it. So the slot is above the slots of
//! everything that the iteration calls, and is not the address of a return address.

use workspan::abi::{self, Function};
use workspan::{Kind, Site};

use super::{Invocation, Profile, SiteFacts, Told};

/// A loop that became one call handles this many bytes as one iteration.
const CACHE_LINE: u64 = 64;

/// A loop as its code reports it.
#[derive(Debug)]
pub(crate) struct Looping<'f> {
    pub variable: &'f Function,
    /// The slot of the invocation that contains the loop.
    pub slot: usize,
    /// The `LOOP_*` flags of the contract.
    pub flags: u64,
}

impl Looping<'_> {
    /// The slot of what contains the loop, from the stack's lower end: the invocation, or an iteration of a loop
    /// around it.
    fn within(&self, profile: &Profile) -> usize {
        within(profile.slot(self.slot), self.flags)
    }
}

impl Invocation {
    fn is_iteration(self) -> bool {
        !self.slot.is_multiple_of(align_of::<usize>())
    }
}

fn within(slot: usize, flags: u64) -> usize {
    slot - usize::try_from(flags >> abi::LOOP_DEPTH).unwrap_or(0)
}

impl Profile {
    /// A loop begins, and the code that begins it returns to `from`. `serial` says that one thread executes its
    /// iterations in any run.
    pub(crate) fn loop_begins(&mut self, at: &Looping<'_>, from: usize, serial: bool, told: Told) {
        let Told { last, now, .. } = told;
        self.shadow.advance_to(last);
        self.serial = serial;
        if serial {
            self.shadow.advance_to(now);
            return;
        }
        let within = at.within(self);
        let site = if at.flags & abi::LOOP_IN_CHUNKS == 0 {
            self.shadow.advance_to(now);
            self.leave_jumped(within, false);
            self.loop_site(at, from)
        } else {
            // Handing out a chunk takes the time of the thread that takes the chunk.
            let spent = now - last;
            self.leave_jumped(within, false);
            let site = self.loop_site(at, from);
            self.shadow.iterations(site, 0, spent, spent);
            site
        };
        if at.flags & abi::LOOP_CALLS != 0 {
            self.iteration_begins(at, site);
        }
    }

    /// An iteration of a loop that reports each iteration has ended. Either the next one begins, or the loop's end
    /// follows.
    pub(crate) fn loop_goes_on(&mut self, at: &Looping<'_>, now: u64) {
        self.shadow.advance_to(now);
        if self.in_iteration(at.slot, at.flags) {
            self.shadow.leave();
            let site = self.loop_site(at, 0);
            self.iteration_begins(at, site);
        }
    }

    /// A loop that reports each iteration has ended. What was executed since its last iteration is not an iteration.
    pub(crate) fn loop_ends(&mut self, slot: usize, flags: u64, told: Told) {
        self.advance(told);
        if self.in_iteration(slot, flags) {
            self.shadow.dissolve();
        }
    }

    /// An ordered section of the innermost iteration begins, or ends. The sections of one loop follow each other; the
    /// parts of an iteration before and after its section are in parallel with them.
    pub(crate) fn ordered(&mut self, begins: bool, told: Told) {
        self.advance(told);
        if !begins {
            if let Some((site, tag)) = self.ordered.take() {
                self.leave_jumped(tag.slot, true);
                self.shadow.enter_with(site, tag);
            }
        } else if self.shadow.top().is_iteration() && self.ordered.is_none() {
            self.ordered = self.shadow.leave_part();
        }
    }

    /// A loop that calls nothing has ended. The operations reported since it began are its own; `iterations` are a
    /// part of them.
    pub(crate) fn loop_told(&mut self, at: &Looping<'_>, iterations: Iterations, told: Told) {
        let (now, took) = (told.now, told.own);
        if self.serial {
            self.shadow.advance_to(now);
            return;
        }
        self.shadow.advance_to(now - took);
        let own = told.own_operations;
        // In operations, the time taken equals the number of operations.
        let share = |part: u64| match took.checked_mul(part) {
            _ if took == own => part,
            _ if part == own => took,
            Some(product) => product / own.max(1),
            None => {
                let part = u128::from(took) * u128::from(part) / u128::from(own.max(1));
                u64::try_from(part).unwrap_or(took)
            }
        };
        let (work, longest) = (share(iterations.work), share(iterations.longest));
        let site = self.loop_site(at, 0);
        self.shadow
            .iterations(site, iterations.count, work, longest);
        self.shadow.advance_to(now);
    }

    /// A loop that became one call, which set or copied so many bytes, has ended. Each cache line counts as an
    /// iteration.
    pub(crate) fn loop_copied(&mut self, at: &Looping<'_>, bytes: u64, told: Told) {
        let Told { last, now, .. } = told;
        let took = now - last;
        let count = bytes.div_ceil(CACHE_LINE);
        if self.serial || count == 0 {
            self.shadow.advance_to(now);
            return;
        }
        self.shadow.advance_to(last);
        let site = self.loop_site(at, 0);
        self.shadow
            .iterations(site, count, took, took.div_ceil(count));
    }

    /// Whether the innermost invocation is an iteration of the loop.
    fn in_iteration(&mut self, slot: usize, flags: u64) -> bool {
        let iteration = within(self.slot(slot), flags) - 1;
        self.leave_jumped(iteration, false);
        self.shadow.top().slot == iteration
    }

    fn iteration_begins(&mut self, at: &Looping<'_>, site: Site) {
        // The loop's body takes the place of a function for the calls that it makes.
        if at.variable.number.get() == 0 {
            let number = self.functions.of(std::ptr::from_ref(at.variable).addr()) + 1;
            at.variable.number.set(number);
        }
        let function = at.variable.number.get();
        let slot = at.within(self) - 1;
        self.shadow.enter_with(site, Invocation { slot, function });
    }

    /// The loop's call site; `from` names the call site if it is new.
    fn loop_site(&mut self, at: &Looping<'_>, from: usize) -> Site {
        if at.variable.site.get() == 0 {
            let id = self.sites.of(from);
            if id as usize == self.facts.len() {
                self.facts.push(SiteFacts {
                    function: at.variable.code,
                    spawn: true,
                    repeats: true,
                });
            }
            // The first number is the program's, so zero means that there is none.
            at.variable.site.set(id);
        }
        Site {
            id: at.variable.site.get(),
            caller: self.top().function,
            kind: Kind::Spawn,
        }
    }
}

/// The iterations of a loop, in operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iterations {
    /// Number of iterations.
    pub count: u64,
    /// Operations of all iterations.
    pub work: u64,
    /// Operations of the longest iteration.
    pub longest: u64,
}

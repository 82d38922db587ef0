//! The profile of the running program.

use workspan::{Kind, Shadow, Site};

use crate::clock::{Moment, cycles};
use crate::sites::Numbers;

/// What a call site is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteFacts {
    /// The function invoked first, and its number.
    pub function: usize,
    pub number: u32,
    /// Whether it was a spawn.
    pub spawn: bool,
}

/// Everything about one run.
#[derive(Debug)]
pub(crate) struct Profile {
    pub shadow: Shadow,
    pub sites: Numbers,
    pub functions: Numbers,
    pub facts: Vec<SiteFacts>,
    /// Functions on the stack: address and number.
    stack: Vec<(usize, u32)>,
    /// When the last hook ended.
    last: u64,
    /// Cycles from the end of a hook to the beginning of the next one with nothing in between.
    overhead: u64,
    spawn: bool,
    pub started: Moment,
    /// Invocations that ended without returning: by a jump or an exception.
    pub jumped: u64,
}

impl Profile {
    /// With the program itself as the outermost invocation.
    pub(crate) fn new(overhead: u64) -> Self {
        let mut profile = Self {
            shadow: Shadow::default(),
            sites: Numbers::default(),
            functions: Numbers::default(),
            facts: Vec::new(),
            stack: Vec::new(),
            last: 0,
            overhead,
            spawn: false,
            started: Moment::now(),
            jumped: 0,
        };
        profile.push(0, 0);
        profile.last = cycles();
        profile
    }

    /// A function is entered from the call before `call_site`.
    #[inline]
    pub(crate) fn enter(&mut self, function: usize, call_site: usize) {
        self.advance(cycles());
        self.push(function, call_site);
        self.last = cycles();
    }

    /// A function returns.
    #[inline]
    pub(crate) fn exit(&mut self, function: usize) {
        self.advance(cycles());
        let is = |top: &(usize, u32)| top.0 == function;
        if !self.stack.last().is_some_and(is) {
            self.unwind(function);
        }
        if self.stack.len() > 1 && self.stack.last().is_some_and(is) {
            self.stack.pop();
            self.shadow.leave();
        }
        self.spawn = false;
        self.last = cycles();
    }

    /// The next call is a spawn.
    #[inline]
    pub(crate) fn spawn(&mut self) {
        self.spawn = true;
    }

    /// The function waits for what it spawned.
    pub(crate) fn sync(&mut self) {
        self.advance(cycles());
        self.spawn = false;
        self.shadow.sync();
        self.last = cycles();
    }

    /// Takes the time up to now into account.
    pub(crate) fn catch_up(&mut self) {
        self.advance(cycles());
        self.last = cycles();
    }

    /// Invocations that have not returned, the program itself not counted.
    pub(crate) fn running(&self) -> usize {
        self.stack.len() - 1
    }

    #[inline]
    fn advance(&mut self, now: u64) {
        let passed = now.saturating_sub(self.last);
        self.shadow.advance(passed.saturating_sub(self.overhead));
    }

    fn push(&mut self, function: usize, call_site: usize) {
        let spawn = std::mem::take(&mut self.spawn);
        let id = self.sites.of(call_site);
        if id as usize == self.facts.len() {
            let number = self.functions.of(function);
            self.facts.push(SiteFacts {
                function,
                number,
                spawn,
            });
        }
        let facts = self.facts[id as usize];
        let number = if facts.function == function {
            facts.number
        } else {
            self.functions.of(function)
        };
        let kind = if spawn { Kind::Spawn } else { Kind::Call };
        let caller = self.stack.last().map_or(u32::from(u16::MAX), |top| top.1);
        self.shadow.enter(Site { id, caller, kind });
        self.stack.push((function, number));
    }

    /// Functions were left by a jump or an exception: down to the one that goes on.
    #[cold]
    fn unwind(&mut self, function: usize) {
        if !self.stack[1..].iter().any(|at| at.0 == function) {
            return;
        }
        while self.stack.len() > 1 && self.stack.last().is_some_and(|top| top.0 != function) {
            self.stack.pop();
            self.shadow.leave();
            self.jumped += 1;
        }
    }
}

/// Cycles between two hooks with nothing in between: the least of many.
pub(crate) fn calibrate() -> u64 {
    let mut profile = Profile::new(0);
    let mut least = u64::MAX;
    for _ in 0..2000 {
        let before = profile.last;
        std::hint::black_box(&mut profile).enter(2, 1);
        // The hook's own last reading against its first: what advance saw.
        let entered = profile.shadow.so_far().work;
        std::hint::black_box(&mut profile).exit(2);
        let left = profile.shadow.so_far().work;
        least = least.min(left - entered);
        let _ = before;
    }
    if least == u64::MAX { 0 } else { least }
}

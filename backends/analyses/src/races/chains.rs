//! Contexts in chains: a context takes the place of another that ended before it begins. So a clock
//! has an entry for each context that may run at the same time as others, and not for each context
//! that ever existed.
//!
//! A context that joins one that has ended may give the place of that one to a context that it
//! creates later: everything of the first comes before everything of the second. A program that
//! creates a million tasks and waits for each hundred needs a hundred places.
//!
//! A context that joins another also does not note what the other knew of the contexts that it had
//! joined, because those come before the joining task anyway. So a recursion of a million tasks has
//! clocks only as long as the recursion is deep.

use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

/// A task, as the shadow memory stores it: the place of its context, and the position in the chain
/// there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Epoch(u64);

impl Epoch {
    pub(super) fn new(place: u32, position: u32) -> Self {
        Self(u64::from(place) << 32 | u64::from(position))
    }

    /// The place.
    pub(super) fn place(self) -> u32 {
        u32::try_from(self.0 >> 32).unwrap_or(u32::MAX)
    }

    /// The position in the chain.
    pub(super) fn position(self) -> u32 {
        u32::try_from(self.0 & u64::from(u32::MAX)).unwrap_or(u32::MAX)
    }
}

/// One context of a chain.
#[derive(Clone, Copy, Debug)]
struct Life {
    /// Position of its first task.
    base: u32,
    context: ContextId,
    /// The task that joined it after it had ended.
    joined: Option<Epoch>,
}

#[derive(Debug, Default)]
struct Chain {
    lives: Vec<Life>,
    /// The last task of the latest context, from the time it has been visited until the place is
    /// given away.
    ended: Option<TaskId>,
    /// Position after that task.
    next: u32,
    /// Places that the latest context may give to contexts that it creates.
    spare: Vec<u32>,
}

/// The places of all contexts.
#[derive(Debug, Default)]
pub(super) struct Chains {
    of: FxHashMap<ContextId, (u32, u32)>,
    chains: Vec<Chain>,
    lives: usize,
}

impl Chains {
    /// Place of a context, and position of its first task; a context without a place gets a new
    /// one.
    pub(super) fn of(&mut self, context: ContextId) -> (u32, u32) {
        if let Some(&known) = self.of.get(&context) {
            return known;
        }
        let place = u32::try_from(self.chains.len()).unwrap_or(u32::MAX);
        self.chains.push(Chain::default());
        self.settle(context, place, 0)
    }

    fn settle(&mut self, context: ContextId, place: u32, base: u32) -> (u32, u32) {
        self.chains[place as usize].lives.push(Life { base, context, joined: None });
        self.lives += 1;
        self.of.insert(context, (place, base));
        (place, base)
    }

    /// The epoch of a task of a context that has a place.
    pub(super) fn epoch(&self, task: TaskId) -> Epoch {
        let (place, base) = self.of[&task.context];
        Epoch::new(place, base.saturating_add(task.seq))
    }

    /// The task of an epoch.
    pub(super) fn task(&self, epoch: Epoch) -> TaskId {
        let life = self.life(epoch);
        TaskId::new(life.context, epoch.position() - life.base)
    }

    /// Position of the first task of the context of an epoch.
    pub(super) fn base(&self, epoch: Epoch) -> u32 {
        self.life(epoch).base
    }

    /// The task that joined the context of an epoch, and so comes after all of it.
    pub(super) fn joined(&self, epoch: Epoch) -> Option<Epoch> {
        self.life(epoch).joined
    }

    fn life(&self, epoch: Epoch) -> Life {
        let lives = &self.chains[epoch.place() as usize].lives;
        let after = lives.partition_point(|life| life.base <= epoch.position());
        lives[after.saturating_sub(1)]
    }

    /// Notes that `last` is the last task of its context.
    pub(super) fn end(&mut self, last: TaskId) {
        let (place, base) = self.of[&last.context];
        let chain = &mut self.chains[place as usize];
        chain.ended = Some(last);
        chain.next = base.saturating_add(last.seq).saturating_add(1);
    }

    /// Notes that the task `at` comes after `task`. If `task` is the last of its context, and no
    /// other task came after it before, the context is joined here and its place is free. Returns
    /// whether this is so.
    pub(super) fn join(&mut self, at: Epoch, task: TaskId) -> bool {
        let place = at.place();
        let (other, _) = self.of[&task.context];
        let chain = &mut self.chains[other as usize];
        if other != place && chain.ended == Some(task) {
            chain.ended = None;
            if let Some(life) = chain.lives.last_mut() {
                life.joined = Some(at);
            }
            let mut spare = std::mem::take(&mut chain.spare);
            spare.push(other);
            let own = &mut self.chains[place as usize].spare;
            // The longer list stays in place, so that in a chain of joins each place is moved only
            // a few times.
            if own.len() < spare.len() {
                std::mem::swap(own, &mut spare);
            }
            own.append(&mut spare);
            return true;
        }
        false
    }

    /// The context at `place` creates another with so many tasks, at a task that comes before all
    /// of them.
    pub(super) fn create(&mut self, place: u32, created: ContextId, tasks: u32) {
        if self.of.contains_key(&created) {
            return;
        }
        let Some(free) = self.chains[place as usize].spare.pop() else {
            return;
        };
        let base = self.chains[free as usize].next;
        // Positions have 32 bits; a place whose positions are used up is not used again.
        if base.checked_add(tasks).is_some() {
            self.settle(created, free, base);
        }
    }

    /// Approximate bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.lives * 48 + self.chains.len() * size_of::<Chain>()
    }
}

//! Locks with which contexts wait for what others make: queues between stages, pools of jobs.
//!
//! The recorded order of such a lock's sections is more than the program asks for. Of two contexts that take jobs, any
//! may be first, and a context that only adds a job waits for nobody. What the program asks for is a count: the tenth
//! job cannot be taken before ten were made, and the tenth place in a queue for eight is free when two were taken. So
//! where each section of a lock either makes something that others wait for with that lock, or takes it, and as many
//! are made as taken, a replay counts. How far the count of takers may be ahead of that of makers (the room of the
//! queue) is the most that the recorded run shows.
//!
//! Which context takes a job is no order either: whoever is free takes the next one. So a replay deals the jobs out
//! anew, where their code is ordered with other contexts by nothing but locks and counts.
//!
//! Locks whose sections tell anything else, such as barriers of a counter and a condition, keep the recorded order.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::TaskId;

use super::counted::{Counted, Pool, Queue, signed};
use super::locks::LockUse;
use super::sections::Section;
use super::strands::{NO_WAIT, Needs, Strands, Waits, end};
use super::wait::{Kind, Wait};

/// Lets the contexts at queues go on as soon as there is something for them. Returns the locks of such queues.
pub(super) fn relax(strands: &mut Strands) -> FxHashSet<u64> {
    let mut by_lock: BTreeMap<u64, Vec<Section>> = BTreeMap::new();
    for section in std::mem::take(&mut strands.sections) {
        if strands.known.is_ordered(section.lock) {
            by_lock.entry(section.lock).or_default().push(section);
        }
    }
    let mut relaxed = FxHashSet::default();
    for (lock, mut sections) in by_lock {
        sections.sort_by_key(|section| (section.at_ns, section.first));
        if let Some(found) = Found::of(strands, &sections) {
            found.put(strands);
            relaxed.insert(lock);
        }
    }
    relaxed
}

/// The queues of a lock.
#[derive(Debug, Default)]
struct Found {
    queues: Vec<Queue>,
    /// Their places by the condition.
    numbers: FxHashMap<u64, u32>,
    counts: FxHashMap<u32, Counted>,
    /// The waits for what is taken, with the strands, the queues, and how much is taken with each.
    waits: Vec<(u32, u32, u64, Wait)>,
    /// Waits for the conditions, which the counts stand for.
    former: Vec<u32>,
}

impl Found {
    /// `None` if the sections of the lock, in order, have to keep the recorded order.
    fn of(strands: &Strands, sections: &[Section]) -> Option<Self> {
        let awaits = awaited(strands, sections)?;
        let context = |section: &Section| strands.context_of(section.first as usize);
        let mut found = Self::default();
        for section in sections {
            let awaited = awaits.get(&context(section)).copied();
            // Who neither waits nor wakes may count something, and the order of that is not known.
            if awaited.is_none() && section.signals.is_none() || awaited == section.signals {
                return None;
            }
            if let Some(condition) = awaited {
                found.take(strands, section, condition)?;
            }
            if let Some(condition) = section.signals {
                let number = found.number(condition);
                for (strand, more) in found.places(strands, section, LockUse::Give)? {
                    found.add(strand, (number, more))?;
                    let queue = &mut found.queues[number as usize];
                    queue.made += u64::from(more);
                    queue.makers.push((queue.made, strand));
                }
            }
        }
        let contexts = strands.contexts.len();
        let even = found.queues.iter().all(|queue| queue.is_even(contexts));
        even.then_some(found)
    }

    fn take(&mut self, strands: &Strands, section: &Section, condition: u64) -> Option<()> {
        let number = self.number(condition);
        let own = strands.of_context(strands.context_of(section.first as usize));
        let waits = section.first
            ..section
                .last
                .saturating_add(1)
                .min(end(&strands.all[..own.end]));
        let former = waits.filter(|&strand| {
            let wait = strands.wait_of(strand as usize);
            wait.is_some_and(|waits| waits.wait.object == condition)
        });
        self.former.extend(former);
        for (strand, less) in self.places(strands, section, LockUse::Take)? {
            self.add(strand, (number, less))?;
            let at = section.waited.map_or(strand, |(_, at)| at);
            let context = strands.context_of(at as usize);
            let first = strands.all[at as usize].first;
            let wait = Wait {
                kind: Kind::Word,
                object: condition,
                task: TaskId::new(strands.ids[context as usize], first),
                ended_by: None,
            };
            let queue = &mut self.queues[number as usize];
            queue.taken += u64::from(less);
            queue.takers.push(strand);
            let lead = signed(queue.made) - signed(queue.taken);
            queue.lead = queue.lead.min(lead);
            self.waits.push((strand, number, queue.taken, wait));
        }
        Some(())
    }

    fn number(&mut self, condition: u64) -> u32 {
        let queues = &mut self.queues;
        *self.numbers.entry(condition).or_insert_with(|| {
            queues.push(Queue::default());
            end(queues) - 1
        })
    }

    /// The strands before which sections take their lock, or give it back, with how many sections each stands for.
    /// Sections may have been gathered, and then there are fewer strands. `None` if there is none.
    fn places(
        &self,
        strands: &Strands,
        section: &Section,
        how: LockUse,
    ) -> Option<Vec<(u32, u32)>> {
        let after = section
            .last
            .saturating_add(if how == LockUse::Give { 2 } else { 1 });
        let own = strands.of_context(strands.context_of(section.first as usize));
        let at = section.first as usize..own.end.min(after as usize);
        let uses = |strand: &u32| {
            let lock = strands.all[*strand as usize].lock as usize;
            strands.locks.get(lock) == Some(&(section.lock, how))
        };
        let all: Vec<u32> = at
            .filter_map(|at| u32::try_from(at).ok())
            .filter(uses)
            .collect();
        let free = |strand: &&u32| !self.counts.contains_key(*strand);
        let mut free: Vec<u32> = all.iter().filter(free).copied().collect();
        // Whoever waits for a condition gives the lock back and takes it again meanwhile.
        let number = usize::try_from(section.number).unwrap_or(usize::MAX);
        if how == LockUse::Give && free.len() > number {
            free.drain(..free.len() - number);
        }
        free.truncate(number);
        if free.is_empty() {
            free.extend(all.last());
        }
        let strands = free.len().max(1);
        let (each, rest) = (number / strands, number % strands);
        let each = |at| u32::try_from(each + usize::from(at < rest)).unwrap_or(u32::MAX);
        let places: Vec<_> = free
            .into_iter()
            .enumerate()
            .map(|(at, strand)| (strand, each(at)))
            .collect();
        (!places.is_empty()).then_some(places)
    }

    /// Counts so much more at a strand. `None` if that strand is for something else.
    fn add(&mut self, strand: u32, (queue, number): (u32, u32)) -> Option<()> {
        let counted = self.counts.entry(strand).or_insert(Counted {
            queue,
            number: 0,
            wait: NO_WAIT,
        });
        counted.number = counted.number.saturating_add(number);
        (counted.queue == queue).then_some(())
    }

    /// Puts the queues into the strands.
    fn put(mut self, strands: &mut Strands) {
        for strand in self.former {
            let wait = strands.all[strand as usize].wait;
            if let Some(waits) = strands.waits.get_mut(wait as usize) {
                (waits.needs, waits.latency_ns) = (Needs::Nothing, 0);
            }
        }
        for (strand, queue, taken, mut wait) in self.waits {
            let maker = self.queues[queue as usize].maker(signed(taken));
            wait.ended_by = maker.map(|at| {
                let context = strands.context_of(at as usize);
                let first = strands.all[at as usize].first;
                (TaskId::new(strands.ids[context as usize], first), 0)
            });
            if let Some(counted) = self.counts.get_mut(&strand) {
                counted.wait = end(&strands.waits);
            }
            strands.waits.push(Waits {
                wait,
                latency_ns: 0,
                needs: Needs::Nothing,
            });
        }
        let first = end(&strands.queues);
        let counts = self.counts.into_iter();
        strands.counts.extend(counts.map(|(strand, counted)| {
            let queue = counted.queue + first;
            (strand, Counted { queue, ..counted })
        }));
        strands.queues.extend(self.queues);
    }
}

/// The condition that each context waits for with a lock. Who found something whenever it looked waits for what others
/// wait for that signal the same. `None` if a context waits for several conditions, or a section signals several.
fn awaited(strands: &Strands, sections: &[Section]) -> Option<FxHashMap<u32, u64>> {
    let context = |section: &Section| strands.context_of(section.first as usize);
    let mut awaited: FxHashMap<u32, u64> = FxHashMap::default();
    for section in sections {
        if section.mixed {
            return None;
        }
        if let Some((condition, _)) = section.waited
            && *awaited.entry(context(section)).or_insert(condition) != condition
        {
            return None;
        }
    }
    // What those wait for that signal a condition; nothing if that differs.
    let mut by_signal: FxHashMap<u64, Option<u64>> = FxHashMap::default();
    for section in sections {
        if let (Some(signals), Some(&own)) = (section.signals, awaited.get(&context(section))) {
            let same = by_signal.entry(signals).or_insert(Some(own));
            *same = same.filter(|&same| same == own);
        }
    }
    for section in sections {
        let others = section.signals.and_then(|signals| by_signal.get(&signals));
        if let Some(&Some(condition)) = others {
            awaited.entry(context(section)).or_insert(condition);
        }
    }
    Some(awaited)
}

/// Finds the jobs that any of several contexts may do, now that all waits are known.
pub(super) fn deal(strands: &mut Strands) {
    let several = |queue: &Queue| {
        let mut contexts = queue
            .takers
            .iter()
            .map(|&strand| strands.context_of(strand as usize));
        let first = contexts.next();
        contexts.any(|context| Some(context) != first)
    };
    if !strands.queues.iter().any(several) {
        return;
    }
    let needed = needed(strands);
    for number in 0..strands.queues.len() {
        let queue = &strands.queues[number];
        let mut takers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &strand in &queue.takers {
            let context = strands.context_of(strand as usize);
            let begins = strands.contexts[context as usize] == strand;
            let all = takers.entry(context).or_default();
            if !begins && all.last() != Some(&strand) {
                all.push(strand);
            }
        }
        takers.retain(|_, all| all.len() > 1);
        if takers.len() < 2 {
            continue;
        }
        // What a context does after it has taken something for the last time is no job.
        let next = |taken: &[u32]| (taken[0], taken[0]..taken[1]);
        let jobs: FxHashMap<u32, Range<u32>> = takers
            .values()
            .flat_map(|all| all.windows(2).map(next))
            .collect();
        let is_free = |strand: u32| {
            let own = &strands.all[strand as usize];
            let order = strands
                .waits
                .get(own.wait as usize)
                .map(|waits| waits.needs);
            let first = !matches!(order, None | Some(Needs::Nothing))
                && !strands.needs_of(strand as usize).is_empty();
            !first && needed.binary_search(&strand).is_err()
        };
        if !jobs.values().cloned().flatten().all(is_free) {
            continue;
        }
        let mut in_order: Vec<Range<u32>> = Vec::new();
        for strand in &queue.takers {
            in_order.extend(
                jobs.get(strand)
                    .filter(|job| in_order.last() != Some(job))
                    .cloned(),
            );
        }
        let queue_number = u32::try_from(number).unwrap_or(u32::MAX);
        for all in takers.values() {
            let (first, last) = (all[0], all[all.len() - 1]);
            strands.pools.insert(
                first,
                Pool {
                    queue: queue_number,
                    last,
                },
            );
        }
        strands.queues[number].jobs = in_order;
    }
}

/// The strands that others wait for, in order.
fn needed(strands: &Strands) -> Vec<u32> {
    let mut needed: Vec<u32> = Vec::new();
    for (at, strand) in strands.all.iter().enumerate() {
        let order = strands
            .waits
            .get(strand.wait as usize)
            .map(|waits| waits.needs);
        if order != Some(Needs::Nothing) {
            let before = strands.needs_of(at).iter();
            needed.extend(
                before.map(|&(context, number)| strands.contexts[context as usize] + number),
            );
        }
    }
    needed.sort_unstable();
    needed.dedup();
    needed
}

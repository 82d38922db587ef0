//! Locks with which contexts wait for what others make: queues between stages, pools of jobs.
//!
//! The recorded order of such a lock's sections is more than the program asks for. Of two contexts
//! that take jobs, any may be first, and a context that only adds a job waits for nobody. What the
//! program asks for is a count: the tenth job cannot be taken before ten were made, and the tenth
//! place in a queue for eight is free when two were taken. So where each section of a lock either
//! makes something that others wait for with that lock, or takes it, and as many are made as taken,
//! a replay counts. How far the count of takers may be ahead of that of makers (the room of the
//! queue) is the most that the recorded run shows.
//!
//! Which context takes a job is no order either: whoever is free takes the next one. So a replay
//! deals the jobs out anew, where their code is ordered with other contexts by nothing but locks
//! and counts.
//!
//! A thread of a pool may take the lock for other things in turn, such as to count the jobs that
//! are done. Then each second or third of its sections takes a job. The turn is found from the
//! sections in which threads waited, and as many must have been made as are taken so. If sections
//! of one turn signal that all is done, who waits for that takes at once what all of these sections
//! have made.
//!
//! Locks whose sections tell anything else, such as barriers of a counter and a condition, keep the
//! recorded order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::counted::{Counted, Pool, Queue, signed};
use super::locks::LockUse;
use super::sections::Section;
use super::strands::{NO_WAIT, Strands, end, index};
use super::wait::{Kind, NEVER, Wait};

/// Who waited for a condition goes on so late as one in so many did at most. (Others may have
/// lacked a processor.)
const USUAL: usize = 4;
/// The most sections of a lock that a context has in turn.
const TURNS: u64 = 4;

/// Lets the contexts at queues go on as soon as there is something for them.
pub(super) fn relax(strands: &mut Strands) {
    let mut by_lock: BTreeMap<u64, Vec<Section>> = BTreeMap::new();
    for section in std::mem::take(&mut strands.sections) {
        if strands.known.is_ordered(section.lock) {
            by_lock.entry(section.lock).or_default().push(section);
        }
    }
    for (lock, mut sections) in by_lock {
        sections.sort_by_key(|section| (section.at_ns, section.first));
        if let Some(found) = QueuesOfLock::of(strands, &sections) {
            found.put(strands);
            strands.known.set_queue(lock);
        }
    }
}

/// The queues of a lock.
#[derive(Debug, Default)]
struct QueuesOfLock {
    queues: Vec<Queue>,
    /// What each condition tells that is waited for.
    roles: BTreeMap<u64, Role>,
    counts: FxHashMap<u32, Counted>,
    /// The waits for what is taken, with the strands, the queues, and how much is taken with each.
    waits: Vec<(u32, u32, u64, Wait)>,
    /// Waits for the conditions, which the counts stand for.
    former: Vec<u32>,
}

/// What a condition tells.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// That there is something to take. These sections of those that wait for it take something.
    Taken(Turn),
    /// That all is done: what these sections of those do that wait for another condition.
    Done(u64, Turn),
    /// Something else. It is waited for in the recorded order.
    Recorded,
}

/// One in so many sections of a context, and the number of the first one.
#[derive(Clone, Copy, Debug)]
struct Turn {
    every: u64,
    first: u64,
}

impl Turn {
    /// How many of so many sections from this number on are its.
    fn of(self, number: u64, sections: u64) -> u64 {
        let before = |number: u64| (number + self.every - 1 - self.first) / self.every;
        before(number + sections) - before(number)
    }

    /// The turn in which those that wait for a condition take what others make: all that waited are
    /// in it, and as many take something as was made.
    fn find(
        condition: u64,
        awaits: &FxHashMap<u32, u64>,
        groups: &[Group<'_>],
        contexts: usize,
    ) -> Option<Self> {
        let made = groups.iter().flat_map(|group| &group.sections);
        let made = made.filter(|section| section.signals == Some(condition));
        let made = made.map(|section| section.number).sum();
        let takers = || groups.iter().filter(|of| awaits.get(&of.context) == Some(&condition));
        let waits = |of: &&Group<'_>| of.sections.iter().any(|section| section.waited.is_some());
        let turns = |every| (0..every).map(move |first| Self { every, first });
        (1..=TURNS).flat_map(turns).find(|turn| {
            let queue = Queue {
                made,
                taken: takers().map(|of| turn.of(of.first, of.number)).sum(),
                ..Queue::default()
            };
            queue.is_even(contexts) && takers().filter(waits).all(|of| turn.of(of.first, 1) == 1)
        })
    }
}

/// Sections of a context at one time: one, or those of a task without an order among themselves.
/// The first one is the one that waited, if one did.
#[derive(Debug)]
struct Group<'s> {
    sections: Vec<&'s Section>,
    context: u32,
    /// The number of the first one among the context's sections of the lock, and how many they are.
    first: u64,
    number: u64,
}

impl Group<'_> {
    /// The strands before which the sections take their lock, or give it back, in order. Who waited
    /// takes the lock after the wait.
    fn strands(&self, strands: &Strands, how: LockUse) -> Vec<u32> {
        let first = self.sections[0].waited.map(|(_, at)| at);
        let first = first.or(self.sections.iter().map(|section| section.first).min());
        let last = self.sections.iter().map(|section| section.last).max();
        let after =
            last.map_or(0, |last| last.saturating_add(if how == LockUse::Give { 2 } else { 1 }));
        let lock = self.sections[0].lock;
        let own = strands.of_context(self.context);
        let uses = |strand: &u32| {
            let used = strands.all[*strand as usize].lock as usize;
            strands.locks.get(used) == Some(&(lock, how))
        };
        let range = first.unwrap_or(0)..after.min(end(&strands.all[..own.end]));
        let number = usize::try_from(self.number).unwrap_or(usize::MAX);
        range.filter(uses).take(number).collect()
    }
}

/// The sections of a lock, in order.
fn groups<'s>(strands: &Strands, sections: &'s [Section]) -> Vec<Group<'s>> {
    let mut all: Vec<Group<'s>> = Vec::new();
    let mut last: FxHashMap<u32, usize> = FxHashMap::default();
    for section in sections {
        let context = strands.context_of(section.first as usize);
        let before = last.get(&context).map(|&at| &mut all[at]);
        let first = before.as_ref().map_or(0, |group| group.first + group.number);
        match before.filter(|group| group.sections[0].at_ns == section.at_ns) {
            Some(group) => {
                group.sections.push(section);
                group.number += section.number;
            }
            None => {
                last.insert(context, all.len());
                all.push(Group { sections: vec![section], context, first, number: section.number });
            }
        }
    }
    all
}

impl QueuesOfLock {
    /// `None` if the sections of the lock, in order, have to keep the recorded order.
    fn of(strands: &Strands, sections: &[Section]) -> Option<Self> {
        let awaits = awaited(strands, sections)?;
        let groups = groups(strands, sections);
        let mut found = Self::default();
        let conditions: BTreeSet<u64> = awaits.values().copied().collect();
        for &condition in &conditions {
            let turn = Turn::find(condition, &awaits, &groups, strands.contexts.len());
            found.roles.extend(turn.map(|turn| (condition, Role::Taken(turn))));
        }
        if found.roles.is_empty() {
            return None;
        }
        for &condition in &conditions {
            if !found.roles.contains_key(&condition) {
                let end = found.end(condition, &awaits, &groups);
                let role = end.map_or(Role::Recorded, |(of, turn)| Role::Done(of, turn));
                found.roles.insert(condition, role);
            }
        }
        for group in &groups {
            let awaited = awaits.get(&group.context).copied();
            // Who neither waits nor wakes may count something, and the order of that is not known.
            let unknown = |section: &&Section| {
                awaited.is_none() && section.signals.is_none() || awaited == section.signals
            };
            if group.sections.iter().any(unknown) {
                return None;
            }
            found.takes(strands, group, awaited)?;
            let makes = found.makes(group, awaited);
            if let Some(queue) = found.queues.iter_mut().find(|of| Some(of.condition) == awaited) {
                queue.room &= !makes.is_empty();
            }
            for (condition, more) in makes {
                let queue = found.number(condition);
                for (strand, more) in found.places(strands, group, LockUse::Give, more)? {
                    found.add(strand, (queue, more))?;
                    let queue = &mut found.queues[queue as usize];
                    queue.made += u64::from(more);
                    queue.makers.push((queue.made, strand));
                }
            }
        }
        Some(found)
    }

    /// The sections that do what a condition tells the end of: those that signal it are in one turn
    /// of the contexts that take something else.
    fn end(
        &self,
        condition: u64,
        awaits: &FxHashMap<u32, u64>,
        groups: &[Group<'_>],
    ) -> Option<(u64, Turn)> {
        let mut end: Option<(u64, Turn)> = None;
        for group in groups {
            let signals = |section: &&&Section| section.signals == Some(condition);
            let Some(section) = group.sections.iter().find(signals) else {
                continue;
            };
            let takes = *awaits.get(&group.context)?;
            let Some(&Role::Taken(Turn { every, .. })) = self.roles.get(&takes) else {
                return None;
            };
            let first = group.first % every;
            let (known, turn) = match end {
                Some(end) => end,
                None if section.number == group.number => {
                    *end.insert((takes, Turn { every, first }))
                }
                None => continue,
            };
            if known != takes || turn.of(group.first, group.number) < section.number {
                return None;
            }
        }
        end
    }

    /// What sections of a context take that waits for a condition.
    fn takes(&mut self, strands: &Strands, group: &Group<'_>, awaited: Option<u64>) -> Option<()> {
        let Some((condition, role)) = awaited.and_then(|of| Some((of, *self.roles.get(&of)?)))
        else {
            return Some(());
        };
        let section = group.sections[0];
        // So many of the sections take so much each: those of a turn.
        let (takes, turn, each) = match role {
            Role::Taken(turn) => (turn.of(group.first, group.number), Some(turn), 1),
            Role::Done(..) if section.waited.is_some() => {
                let number = self.number(condition);
                let queue = &self.queues[number as usize];
                let all = u32::try_from(queue.made.saturating_sub(queue.taken));
                (1, None, all.unwrap_or(u32::MAX))
            }
            Role::Done(..) | Role::Recorded => return Some(()),
        };
        if takes == 0 || each == 0 {
            return Some(());
        }
        let number = self.number(condition);
        let own = strands.of_context(group.context);
        let waits = section.first..section.last.saturating_add(1).min(end(&strands.all[..own.end]));
        let former = waits.filter(|&strand| {
            let wait = strands.wait_of(strand as usize);
            wait.is_some_and(|wait| wait.object == condition)
        });
        self.former.extend(former);
        for (strand, less) in self.places(strands, group, LockUse::Take, (takes, turn))? {
            let less = less.saturating_mul(each);
            self.add(strand, (number, less))?;
            let waited = section.waited.filter(|(_, at)| *at <= strand);
            let task = strands.task_of(waited.map_or(strand, |(_, at)| at));
            let wait = Wait::free(Kind::Word, condition, task);
            let queue = &mut self.queues[number as usize];
            queue.taken += u64::from(less);
            if queue.takers.is_empty() {
                queue.room = queue.made < queue.taken;
            }
            queue.takers.push(strand);
            let lead = signed(queue.made) - signed(queue.taken);
            queue.lead = queue.lead.min(lead);
            self.waits.push((strand, number, queue.taken, wait));
        }
        Some(())
    }

    /// What sections make: by condition, how much, and in which turn. What a condition tells the
    /// end of is made whether or not that is signalled.
    fn makes(&self, group: &Group<'_>, awaited: Option<u64>) -> Vec<(u64, (u64, Option<Turn>))> {
        let done = self.roles.iter().filter_map(|(&condition, &role)| match role {
            Role::Done(of, turn) if Some(of) == awaited => {
                Some((condition, (turn.of(group.first, group.number), Some(turn))))
            }
            _ => None,
        });
        let counted =
            |condition: &u64| matches!(self.roles.get(condition), None | Some(Role::Taken(_)));
        let mut signals: BTreeMap<u64, u64> = BTreeMap::new();
        for section in &group.sections {
            if let Some(condition) = section.signals.filter(counted) {
                *signals.entry(condition).or_default() += section.number;
            }
        }
        let signals = signals.into_iter();
        let signals = signals.map(|(condition, number)| (condition, (number, None)));
        done.chain(signals).filter(|made| made.1.0 > 0).collect()
    }

    fn number(&mut self, condition: u64) -> u32 {
        let queues = &mut self.queues;
        let known = queues.iter().position(|queue| queue.condition == condition);
        let number = known.unwrap_or_else(|| {
            queues.push(Queue { condition, ..Queue::default() });
            queues.len() - 1
        });
        index(number)
    }

    /// The strands before which so many of the sections take their lock, or give it back, with how
    /// many sections each stands for: those of a turn, as far as it is known which ones they are.
    /// Sections may have been gathered, and then there are fewer strands. `None` if there is none.
    fn places(
        &self,
        strands: &Strands,
        group: &Group<'_>,
        how: LockUse,
        (number, turn): (u64, Option<Turn>),
    ) -> Option<Vec<(u32, u32)>> {
        let all = group.strands(strands, how);
        if let Some(turn) = turn
            && all.len() as u64 == group.number
        {
            let own = all.into_iter().zip(group.first..);
            let own = own.filter(|&(_, number)| turn.of(number, 1) == 1);
            return Some(own.map(|(strand, _)| (strand, 1)).collect());
        }
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let free = |strand: &&u32| !self.counts.contains_key(*strand);
        let mut free: Vec<u32> = all.iter().filter(free).copied().collect();
        free.truncate(number);
        if free.is_empty() {
            free.extend(all.last());
        }
        let strands = free.len().max(1);
        let (each, rest) = (number / strands, number % strands);
        let each = |at| index(each + usize::from(at < rest));
        let places = free.into_iter().enumerate();
        let places: Vec<_> = places.map(|(at, strand)| (strand, each(at))).collect();
        (!places.is_empty()).then_some(places)
    }

    /// Counts so much more at a strand. `None` if that strand is for something else.
    fn add(&mut self, strand: u32, (queue, number): (u32, u32)) -> Option<()> {
        let counted =
            self.counts.entry(strand).or_insert(Counted { queue, number: 0, wait: NO_WAIT });
        counted.number = counted.number.saturating_add(number);
        (counted.queue == queue).then_some(())
    }

    /// Puts the queues into the strands.
    fn put(mut self, strands: &mut Strands) {
        let mut late: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        for strand in self.former {
            let wait = strands.all[strand as usize].wait;
            if let Some(wait) = strands.waits.get_mut(wait as usize) {
                late.entry(wait.object).or_default().push(wait.latency_ns);
                (wait.ordered_ns, wait.latency_ns) = (NEVER, 0);
            }
        }
        late.values_mut().for_each(|of| of.sort_unstable());
        for (strand, queue, taken, mut wait) in self.waits {
            let maker = self.queues[queue as usize].maker(signed(taken));
            wait.ended_by = maker.map(|at| (strands.task_of(at), 0));
            wait.latency_ns = late.get(&wait.object).map_or(0, |late| late[late.len() / USUAL]);
            let number = strands.add_wait(wait);
            if let Some(counted) = self.counts.get_mut(&strand) {
                counted.wait = number;
            }
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

/// The condition that each context waits for with a lock. Who found something whenever it looked
/// waits for what others wait for that signal the same. `None` if a context waits for several
/// conditions, or a section signals several.
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
    let mut needed_strands: Option<Vec<u32>> = None;
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
        if takers.len() < 2 || !takers.values().all(|all| all.is_sorted()) {
            continue;
        }
        let needed = needed_strands.get_or_insert_with(|| needed(strands));
        // What a context does after it has taken something for the last time is no job.
        let next = |taken: &[u32]| (taken[0], taken[0]..taken[1]);
        let jobs: FxHashMap<u32, Range<u32>> =
            takers.values().flat_map(|all| all.windows(2).map(next)).collect();
        let is_free = |strand: u32| {
            let own = &strands.all[strand as usize];
            let order = strands.waits.get(own.wait as usize).map_or(NEVER, |wait| wait.ordered_ns);
            let first = order != NEVER && !strands.needs_of(strand as usize).is_empty();
            !first && needed.binary_search(&strand).is_err()
        };
        if !jobs.values().cloned().flatten().all(is_free) {
            continue;
        }
        let mut in_order: Vec<Range<u32>> = Vec::new();
        for strand in &queue.takers {
            in_order.extend(jobs.get(strand).filter(|job| in_order.last() != Some(job)).cloned());
        }
        for all in takers.values() {
            let (first, last) = (all[0], all[all.len() - 1]);
            strands.pools.insert(first, Pool { queue: index(number), last });
        }
        strands.queues[number].jobs = in_order;
    }
}

/// The strands that others wait for, in order.
fn needed(strands: &Strands) -> Vec<u32> {
    let mut needed: Vec<u32> = Vec::new();
    for (at, strand) in strands.all.iter().enumerate() {
        let wait = strands.waits.get(strand.wait as usize);
        if wait.is_none_or(|wait| wait.ordered_ns != NEVER) {
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

//! Locks with which contexts wait for what others make: queues between stages, pools of jobs.
//!
//! The recorded order of such a lock's sections is more than the program asks for. Of two contexts that take jobs, any
//! may be first, and a context that only adds a job waits for nobody. What the program asks for is a count: the tenth
//! job cannot be taken before ten were made, and the tenth place in a queue for eight is free when two were taken. So
//! where each section of a lock either makes something that others wait for with that lock, or takes it, and as many
//! are made as taken, the section that takes the next one comes after the one that makes it. How far the count of
//! takers may be ahead of that of makers (the room of the queue) is the most that the recorded run shows.
//!
//! Locks whose sections tell anything else, such as barriers of a counter and a condition, keep the recorded order.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::TaskId;

use super::locks::LockUse;
use super::sections::Section;
use super::strands::{NO_WAIT, Needs, Strand, Strands, Waits, end};
use super::wait::{Kind, Wait};

/// The makers may have made one thing in so many more or less than what was taken, beside one for each context.
const UNEVEN: u64 = 64;

/// What a strand comes after instead of what the recording says.
#[derive(Debug)]
struct Gate {
    strand: u32,
    wait: Wait,
    /// The context and the strand that make what the strand takes; nothing if it was there from the beginning.
    made: Option<(u32, u32)>,
    /// The strand is a wait for a condition. Otherwise it takes the lock.
    waits: bool,
}

/// What is made and taken with a condition.
#[derive(Debug, Default)]
struct Queue {
    /// The strands that made something, in order, with how many were made then.
    made: Vec<(u64, u32)>,
    taken: u64,
    /// The least by which what was made was more than what was taken.
    lead: Option<i64>,
}

impl Queue {
    fn all_made(&self) -> u64 {
        self.made.last().map_or(0, |last| last.0)
    }

    /// The strand that makes what the `taken`-th take needs; nothing if that was there from the beginning.
    fn maker(&self, taken: u64) -> Option<u32> {
        let wanted = signed(taken) + self.lead.unwrap_or(0);
        let at = self
            .made
            .partition_point(|&(made, _)| signed(made) < wanted);
        let by = self.made.get(at).filter(|_| wanted > 0);
        by.map(|&(_, last)| last)
    }
}

/// Lets the contexts at queues go on as soon as there is something for them. Returns the locks of such queues.
pub(super) fn relax(strands: &mut Strands) -> FxHashSet<u64> {
    let mut by_lock: FxHashMap<u64, Vec<Section>> = FxHashMap::default();
    for section in std::mem::take(&mut strands.sections) {
        if strands.known.is_ordered(section.lock) {
            by_lock.entry(section.lock).or_default().push(section);
        }
    }
    let mut gates = Vec::new();
    let mut relaxed = FxHashSet::default();
    for (lock, mut sections) in by_lock {
        sections.sort_by_key(|section| (section.at_ns, section.first));
        if let Some(own) = gates_of(strands, &sections) {
            gates.extend(own);
            relaxed.insert(lock);
        }
    }
    if !gates.is_empty() {
        // Of several sections that begin at a strand, the last one waits for all that the others wait for.
        gates.sort_by_key(|gate| (gate.strand, Reverse(gate.made.map(|made| made.1))));
        gates.dedup_by_key(|gate| gate.strand);
        insert(strands, &gates);
    }
    relaxed
}

/// What the sections of a lock, in order, come after. `None` if they have to keep the recorded order.
fn gates_of(strands: &Strands, sections: &[Section]) -> Option<Vec<Gate>> {
    let context = |section: &Section| strands.context_of(section.first as usize);
    let mut awaits: FxHashMap<u32, u64> = FxHashMap::default();
    for section in sections {
        if section.mixed {
            return None;
        }
        if let Some((condition, _)) = section.waited
            && *awaits.entry(context(section)).or_insert(condition) != condition
        {
            return None;
        }
    }
    let mut queues: FxHashMap<u64, Queue> = FxHashMap::default();
    let mut takes = Vec::new();
    for section in sections {
        let awaited = awaits.get(&context(section)).copied();
        // Who neither waits nor wakes may count something, and the order of that is not known.
        if awaited.is_none() && section.signals.is_none() || awaited == section.signals {
            return None;
        }
        if let Some(condition) = awaited {
            let queue = queues.entry(condition).or_default();
            queue.taken += section.number;
            let lead = signed(queue.all_made()) - signed(queue.taken);
            queue.lead = Some(queue.lead.map_or(lead, |least| least.min(lead)));
            takes.push((*section, condition, queue.taken));
        }
        if let Some(condition) = section.signals {
            let queue = queues.entry(condition).or_default();
            let all = queue.all_made() + section.number;
            queue.made.push((all, section.last));
        }
    }
    let contexts = strands.contexts.len() as u64;
    let even = |queue: &Queue| {
        let made = queue.all_made();
        made.abs_diff(queue.taken) <= contexts + made / UNEVEN
    };
    if !queues.values().filter(|queue| queue.taken > 0).all(even) {
        return None;
    }
    let gates = takes.into_iter().map(|(section, condition, taken)| {
        let made = queues.get(&condition).and_then(|queue| queue.maker(taken));
        let made = made.map(|last| (strands.context_of(last as usize), last));
        let task = |strand: u32| {
            let context = strands.context_of(strand as usize);
            TaskId::new(
                strands.ids[context as usize],
                strands.all[strand as usize].first,
            )
        };
        let gate = |strand, waits| Gate {
            strand,
            wait: Wait {
                kind: Kind::Word,
                object: condition,
                task: task(strand),
                ended_by: made.map(|(_, last)| (task(last), section.at_ns)),
            },
            made,
            waits,
        };
        let waited = section.waited.filter(|&(_, strand)| {
            let wait = strands.wait_of(strand as usize);
            wait.is_some_and(|waits| waits.wait.object == condition)
        });
        match waited {
            Some((_, strand)) => Some(gate(strand, true)),
            None => {
                made?;
                Some(gate(taken_at(strands, &section)?, false))
            }
        }
    });
    Some(gates.flatten().collect())
}

/// The strand before which the first of the sections takes the lock.
fn taken_at(strands: &Strands, section: &Section) -> Option<u32> {
    (section.first..=section.last).find(|&strand| {
        let lock = strands
            .locks
            .get(strands.all[strand as usize].lock as usize);
        lock.is_some_and(|&(lock, how)| lock == section.lock && how == LockUse::Take)
    })
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Puts the gates into the strands. A wait for a condition gets other needs; before a strand that takes a lock, a strand
/// without duration is put that has them.
fn insert(strands: &mut Strands, gates: &[Gate]) {
    let old = std::mem::take(&mut strands.all);
    let needs = std::mem::take(&mut strands.needs);
    // Where each strand is now.
    let mut moved = Vec::with_capacity(old.len());
    let mut next = gates.iter().filter(|gate| !gate.waits).peekable();
    let mut more = 0;
    for at in 0..end(&old) {
        more += u32::from(next.next_if(|gate| gate.strand == at).is_some());
        moved.push(at + more);
    }
    let firsts = strands.contexts.clone();
    for first in &mut strands.contexts {
        *first = first
            .checked_sub(1)
            .map_or(0, |last| moved[last as usize] + 1);
    }
    let contexts = &strands.contexts;
    let of =
        |context: u32, strand: u32| (context, moved[strand as usize] - contexts[context as usize]);
    let mut gates = gates.iter().peekable();
    let mut from = 0;
    for (at, mut strand) in (0..).zip(old) {
        let recorded = from..strand.needs_end as usize;
        from = recorded.end;
        let gate = gates.next_if(|gate| gate.strand == at);
        let made = gate.and_then(|gate| gate.made);
        let made = made.map(|(context, last)| of(context, last));
        if let (Some(gate), Some(made)) = (gate.filter(|gate| !gate.waits), made) {
            strands.needs.push(made);
            let begin = Strand {
                ns: 0,
                needs_end: end(&strands.needs),
                wait: end(&strands.waits),
                sleeps: false,
                lock: NO_WAIT,
                ..strand
            };
            strands.waits.push(Waits {
                wait: gate.wait,
                latency_ns: 0,
                needs: Needs::Recorded,
            });
            strands.all.push(begin);
            strand.inside = true;
        }
        match gate.filter(|gate| gate.waits) {
            Some(_) => strands.needs.extend(made),
            None => {
                let now = |&(context, strand): &(u32, u32)| {
                    of(context, firsts[context as usize] + strand)
                };
                strands.needs.extend(needs[recorded].iter().map(now));
            }
        }
        strand.needs_end = end(&strands.needs);
        strands.all.push(strand);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_was_made_before_and_what_is_made_has_room() {
        // One is made before each take: the third take needs the third one made.
        let mut jobs = Queue {
            made: vec![(1, 10), (3, 11), (4, 12)],
            taken: 4,
            lead: Some(0),
        };
        assert_eq!(
            [1, 2, 3, 4].map(|n| jobs.maker(n)),
            [10, 11, 11, 12].map(Some)
        );
        // There was room for two from the beginning: the third needs the first one that others gave back.
        jobs.lead = Some(-2);
        let makers = [1, 2, 3, 4].map(|n| jobs.maker(n));
        assert_eq!(makers, [None, None, Some(10), Some(11)]);
    }
}

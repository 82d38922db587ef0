//! Tickets give the order in which each synchronisation object was really acquired and released.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_interpose::arch::fetch_add_here;

use crate::bias::{Bias, Entry, Me};
use crate::stripes::{PLACES, hash};

/// Number of counters. Objects whose addresses hash alike share one, which only makes their tickets
/// sparse.
const COUNTERS: usize = 4096;

#[repr(align(64))]
#[derive(Debug)]
struct Counter {
    count: AtomicUsize,
    bias: Bias,
}

/// Counters by object, each in a cache line of its own. Only the users of a counter's objects touch
/// it, so tickets cost no more than the object itself. A thread that owns a counter draws without a
/// locked instruction.
#[derive(Debug)]
pub struct Tickets([Counter; COUNTERS]);

impl Tickets {
    /// All counters at zero.
    #[must_use]
    #[allow(unsafe_code, reason = "zero is a value")]
    pub const fn new() -> Self {
        // SAFETY: it is made of atomics, which may be zero.
        unsafe { std::mem::zeroed() }
    }

    /// The place of a counter in lines.
    #[inline]
    fn place(index: usize) -> u64 {
        PLACES + index as u64
    }

    /// The next ticket of the object at this address. Relaxed suffices, because the object's own
    /// ordering puts one draw before the next, and draws of one counter are totally ordered anyway.
    #[inline(always)]
    pub fn next(&self, me: &Me, object: usize) -> u64 {
        let index = hash(object >> 3);
        let (counter, place) = (&self.0[index], Self::place(index));
        if me.number != 0 && counter.bias.names(me) && me.enter_alone(place) {
            let drawn = counter.bias.names(me).then(|| fetch_add_here(&counter.count, 1));
            me.leave();
            if let Some(drawn) = drawn {
                return drawn as u64 + 1;
            }
        }
        self.next_slowly(me, object)
    }

    #[inline(never)]
    fn next_slowly(&self, me: &Me, object: usize) -> u64 {
        let index = hash(object >> 3);
        let (counter, place) = (&self.0[index], Self::place(index));
        let entry = me.enter(place);
        let uses = || counter.count.load(Relaxed) as u64;
        let drawn = if counter.bias.is_own(me, place, entry, uses) {
            fetch_add_here(&counter.count, 1)
        } else {
            counter.count.fetch_add(1, Relaxed)
        };
        if entry == Entry::New {
            me.leave();
        }
        drawn as u64 + 1
    }

    /// The last ticket drawn for the object, 0 for none.
    #[inline]
    pub fn last(&self, object: usize) -> u64 {
        self.0[hash(object >> 3)].count.load(Relaxed) as u64
    }

    /// Lets no thread own a counter from now on.
    pub fn share(&self, me: &Me) {
        for (counter, index) in self.0.iter().zip(0..) {
            counter.bias.share(me, Self::place(index));
        }
    }

    /// Forgets who owns what, in a forked child.
    pub fn free_all(&self) {
        self.0.iter().for_each(|counter| counter.bias.free());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owners::Owners;

    #[test]
    fn tickets_of_one_object_ascend_from_every_thread() {
        static TICKETS: Tickets = Tickets::new();
        static OWNERS: Owners = Owners::new();
        OWNERS.set_fenced(contech_interpose::kernel::prepare_barriers());
        let draw = |n| move || (0..1000).map(move |_| TICKETS.next(&OWNERS.thread(n), 0x1000));
        let drawn: Vec<Vec<u64>> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..4).map(|n| s.spawn(move || draw(n)().collect())).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(drawn.iter().all(|d| d.is_sorted()));
        let mut all: Vec<u64> = drawn.concat();
        all.sort_unstable();
        assert_eq!(all, (1..=4000).collect::<Vec<u64>>());
        assert_eq!(TICKETS.last(0x1000), 4000);
    }
}

//! The order of atomic operations: addresses of equal hash share one stripe (`stripe`).

use std::ops::Index;
use std::sync::atomic::Ordering::Relaxed;

use crate::bias::Me;
use crate::stripe::{LOCKED, Stripe};

const STRIPES: usize = 4096;

/// 12 bits of a number: multiplicative hashing by the golden ratio, which mixes the top bits best.
#[inline]
pub(crate) fn hash(number: usize) -> usize {
    let hash = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 12);
    #[allow(clippy::cast_possible_truncation, reason = "12 bits")]
    let hash = hash as usize;
    hash
}

/// The first place in lines that is not a stripe's.
pub(crate) const PLACES: u64 = STRIPES as u64 + 1;

#[derive(Debug)]
pub struct Stripes([Stripe; STRIPES]);

impl Index<usize> for Stripes {
    type Output = Stripe;

    #[inline]
    fn index(&self, stripe: usize) -> &Stripe {
        &self.0[stripe % STRIPES]
    }
}

impl Stripes {
    /// No thread operates, and no tickets were drawn.
    #[must_use]
    #[allow(unsafe_code, reason = "zero is a value")]
    pub const fn new() -> Self {
        // SAFETY: it is made of atomics, which may be zero.
        unsafe { std::mem::zeroed() }
    }

    /// The stripe of an address. All addresses within an aligned 16 bytes, the widest operation
    /// there is, share one, so that overlapping operations of different widths do.
    #[inline]
    #[must_use]
    pub fn of(address: usize) -> usize {
        hash(address >> 4)
    }

    /// The place of a stripe in lines.
    #[inline]
    #[must_use]
    pub fn place(stripe: usize) -> u64 {
        (stripe % STRIPES) as u64 + 1
    }

    /// The stripe that has this place in lines, if one has it.
    #[must_use]
    pub fn at(place: u64) -> Option<usize> {
        let stripe = usize::try_from(place).ok()?.checked_sub(1)?;
        (stripe < STRIPES).then_some(stripe)
    }

    /// How often a stripe was taken over. That many operations may stand in a wrong order.
    pub fn taken_over(&self) -> u64 {
        let times = |s: &Stripe| s.taken_over.load(Relaxed) + s.bias.given_up.load(Relaxed);
        self.0.iter().map(times).sum()
    }

    /// Lets no thread own a stripe from now on.
    pub fn share(&self, me: &Me) {
        for (stripe, at) in self.0.iter().zip(0..) {
            stripe.bias.share(me, Self::place(at));
        }
    }

    /// Frees all stripes in a forked child, where their holders do not exist.
    pub fn free_all(&self) {
        for stripe in &self.0 {
            stripe.word.fetch_and(!LOCKED, Relaxed);
            stripe.bias.free();
            // No thread of a scope exists here, either.
            stripe.counters.iter().for_each(|c| c.store(0, Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bias::Entry;
    use crate::owners::Owners;
    use crate::stripe::COUNTERS;

    /// Threads that may own stripes, or may not.
    fn owners(may: bool) -> Owners {
        let owners = Owners::new();
        owners.set_fenced(may && contech_interpose::kernel::prepare_barriers());
        owners
    }

    #[test]
    fn a_load_waits_for_the_thread_that_operates_and_not_for_itself() {
        let (stripes, owners) = (Stripes::new(), Owners::new());
        let me = |n| owners.thread(n);
        stripes[5].take(&me(1), 6);
        assert_eq!(stripes[5].draw(true), 2);
        assert_eq!(stripes[5].look(&me(1), 6, || 8), (3, 8));
        assert_eq!(stripes[5].look(&me(2), 6, || 9), (3, 9));
        assert_eq!(stripes.taken_over(), 1);
    }

    #[test]
    fn a_handler_draws_within_the_operation_it_interrupted() {
        for owned in [false, true] {
            let (stripes, owners) = (Stripes::new(), owners(owned));
            let me = owners.thread(1);
            let taken = stripes[5].take(&me, 6);
            assert_eq!(taken, Entry::New);
            // A handler that comes before the ticket of a load is drawn, and one that comes after
            // it.
            let handler = stripes[5].take(&me, 6);
            assert_eq!(handler, Entry::Before);
            assert_eq!(stripes[5].draw(true), 2);
            stripes[5].give(&me, handler);
            assert!(stripes[5].is_held_by(1));
            assert_eq!(stripes[5].draw(false), 3);
            assert_eq!(stripes[5].draw(true), 4);
            stripes[5].give(&me, taken);
            assert!(!stripes[5].is_held_by(1));
            let other = owners.thread(2);
            let taken = stripes[5].take(&other, 6);
            assert_eq!(stripes[5].draw(false), 5, "no write was forgotten");
            stripes[5].give(&other, taken);
            assert_eq!((me.place(), other.place()), (None, None));
        }
    }

    #[test]
    fn handlers_use_other_stripes_however_deep_they_are() {
        let owners = owners(true);
        let (stripes, me) = (Stripes::new(), owners.thread(1));
        let mut taken = Vec::new();
        for at in 0..6 {
            taken.push(stripes[at].take(&me, Stripes::place(at)));
            assert!(stripes[at].is_held_by(1));
        }
        // There is room for one in a line. The others are shared, so that nobody looks for them
        // there.
        assert_eq!(me.place().and_then(Stripes::at), Some(0));
        assert_eq!(taken[1..], [Entry::None; 5]);
        assert_eq!(stripes[1].bias.owner(), 0);
        for at in (0..6).rev() {
            stripes[at].give(&me, taken[at]);
            assert!(!stripes[at].is_held_by(1));
        }
        assert_eq!(me.place(), None);
    }

    #[test]
    fn a_handler_takes_back_what_was_revoked_from_the_code_it_interrupted() {
        let owners = owners(true);
        let (stripes, me) = (Stripes::new(), owners.thread(1));
        let taken = stripes[5].take(&me, 6);
        stripes[5].give(&me, taken);
        // The interrupted code has entered and not looked yet.
        assert_eq!(me.enter(6), Entry::New);
        std::thread::scope(|s| {
            let other = s.spawn(|| {
                let taken = stripes[5].take(&owners.thread(2), 6);
                let ticket = stripes[5].draw(true);
                stripes[5].give(&owners.thread(2), taken);
                ticket
            });
            while !stripes[5].bias.is_revoked() {
                std::thread::yield_now();
            }
            let handler = stripes[5].take(&me, 6);
            assert_eq!(handler, Entry::Within);
            assert_eq!(stripes[5].draw(true), 2);
            stripes[5].give(&me, handler);
            me.leave();
            assert_eq!(other.join().unwrap(), 4);
        });
        assert_eq!(stripes.taken_over(), 0);
    }

    #[test]
    fn what_changes_its_owner_often_is_shared() {
        let owners = owners(true);
        let stripes = Stripes::new();
        let mut owned = 0;
        for n in 0..100u64 {
            let me = owners.thread(1 + n % 2);
            let taken = stripes[5].take(&me, 6);
            owned += u32::from(stripes[5].bias.owner() == me.number);
            assert!(stripes[5].is_held_by(me.number));
            assert_eq!(stripes[5].draw(true), 2 * (n + 1));
            stripes[5].give(&me, taken);
        }
        assert!((2..50).contains(&owned), "{owned}");
        assert_eq!(stripes.taken_over(), 0);
    }

    #[test]
    fn nobody_owns_what_the_kernel_cannot_revoke_or_what_is_to_be_shared() {
        let owners = Owners::new();
        let (stripes, me) = (Stripes::new(), owners.thread(1));
        let taken = stripes[5].take(&me, 6);
        assert_eq!(stripes[5].bias.owner(), 0);
        stripes[5].give(&me, taken);
        owners.set_fenced(contech_interpose::kernel::prepare_barriers());
        let taken = stripes[6].take(&me, 7);
        assert_eq!(stripes[6].bias.owner(), 1);
        stripes[6].give(&me, taken);
        stripes.share(&owners.thread(2));
        assert!((0..STRIPES).all(|at| stripes[at].bias.owner() == 0));
        stripes.free_all();
        let taken = stripes[6].take(&me, 7);
        assert_eq!(stripes[6].bias.owner(), 1, "a forked child begins anew");
        stripes[6].give(&me, taken);
    }

    #[test]
    fn a_thread_knows_whether_it_holds_a_stripe_whatever_the_ticket() {
        let (stripes, owners) = (Stripes::new(), Owners::new());
        for round in 0..1000 {
            let me = owners.thread(1 + round % 7 * 2340);
            let n = me.number;
            assert!(!stripes[5].is_held_by(n), "given back, or never taken");
            let taken = stripes[5].take(&me, 6);
            assert!(stripes[5].is_held_by(n) && !stripes[5].is_held_by(n + 1));
            assert_eq!(stripes[5].draw(true), 2 * (round + 1));
            stripes[5].give(&me, taken);
        }
        let nobody = owners.thread(0);
        let taken = stripes[5].take(&nobody, 6);
        assert!(!stripes[5].is_held_by(0), "0 is nobody's number");
        stripes[5].give(&nobody, taken);
        assert!(stripes[5].try_take(1), "a thread without a number gives back, too");
    }

    #[test]
    fn a_stripe_whose_holder_is_gone_is_taken_over() {
        for owned in [false, true] {
            let (stripes, owners) = (Stripes::new(), owners(owned));
            let (one, two) = (owners.thread(1), owners.thread(2));
            let taken = stripes[5].take(&one, 6);
            let later = stripes[5].take(&two, 6);
            assert!(stripes.taken_over() > 0);
            assert!(stripes[5].is_held_by(2) && !stripes[5].is_held_by(1));
            stripes[5].give(&one, taken);
            assert!(stripes[5].is_held_by(2), "a holder that comes back late gives nothing back");
            stripes[5].give(&two, later);
            assert!(stripes[5].try_take(1));
        }
    }

    #[test]
    fn only_the_holder_that_was_seen_is_taken_over() {
        let stripes = Stripes::new();
        assert!(stripes[5].try_take(1));
        let seen = stripes[5].word.load(Relaxed);
        stripes[5].give_lock(1);
        assert!(stripes[5].try_take(1), "it comes again, and drew no ticket");
        assert!(!stripes[5].take_over(2, seen));
        let seen = stripes[5].word.load(Relaxed);
        assert!(stripes[5].take_over(2, seen));
    }

    #[test]
    fn counters_of_threads_are_known_by_address_until_they_are_0() {
        let stripes = Stripes::new();
        let same = |i: &usize| Stripes::of(*i) == Stripes::of(16);
        let addresses: Vec<_> = (16..).step_by(16).filter(same).take(COUNTERS + 1).collect();
        let (last, first) = (addresses[COUNTERS], addresses[0]);
        for address in &addresses {
            stripes[Stripes::of(16)].set_counts(*address, true);
            stripes[Stripes::of(16)].set_counts(*address, true);
        }
        let counts = |address| stripes[Stripes::of(16)].counts(address);
        assert!(counts(first) && !counts(last) && !counts(first + 8));
        stripes[Stripes::of(16)].set_counts(first, false);
        stripes[Stripes::of(16)].set_counts(last, true);
        assert!(!counts(first) && counts(last));
    }

    #[test]
    fn overlapping_addresses_share_a_stripe() {
        for offset in 0..16 {
            assert_eq!(Stripes::of(0x7000 + offset), Stripes::of(0x7000));
        }
        assert!((0..64).any(|i| Stripes::of(0x7000 + 16 * i) != Stripes::of(0x7000)));
    }
}

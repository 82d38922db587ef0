//! The order of atomic operations: each value must be the one that its ticket says.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::model;
use crate::stripe::{COUNTERS, STEP, Stripe};

crate::tests! {
    tickets_of_writes_are_the_order_of_their_values
    a_load_without_the_lock_finds_the_value_of_its_ticket
    a_load_that_takes_the_lock_finds_the_value_of_its_ticket
    a_holder_that_comes_back_late_leaves_the_lock_to_the_one_that_took_it_over
}

/// A variable with its stripe.
struct Ordered {
    stripe: Stripe,
    variable: AtomicU64,
}

impl Ordered {
    fn new() -> Arc<Self> {
        let stripe = Stripe {
            word: AtomicU64::new(0),
            taken_over: AtomicU64::new(0),
            counters: std::array::from_fn::<_, COUNTERS, _>(|_| AtomicUsize::new(0)),
        };
        let variable = AtomicU64::new(0);
        Arc::new(Ordered { stripe, variable })
    }

    /// Counts one up, as instrumented code does, in the weakest order there is.
    fn write(&self, owner: u64) {
        self.stripe.take(owner);
        let before = self.variable.fetch_add(1, Relaxed);
        let ticket = self.stripe.draw(true);
        self.stripe.give(owner);
        assert_eq!(ticket, STEP * (before + 1));
    }

    /// Reads by [`Stripe::look`].
    fn look(&self, owner: u64) {
        let read = || self.variable.load(Relaxed);
        let (ticket, found) = self.stripe.look(owner, read, |_| ());
        assert_eq!(ticket, STEP * found + 1);
    }

    /// Reads as a load that gave up looking.
    fn read(&self, owner: u64) {
        self.stripe.take(owner);
        let found = self.variable.load(Relaxed);
        let ticket = self.stripe.draw(false);
        self.stripe.give(owner);
        assert_eq!(ticket, STEP * found + 1);
    }
}

/// One thread writes twice, while this one does `here`. With no bound of preemptions these take a minute, and pass, too.
fn beside_writes(here: fn(&Ordered)) {
    model(Some(3), move || {
        let ordered = Ordered::new();
        let writer = {
            let ordered = Arc::clone(&ordered);
            thread::spawn(move || (0..2).for_each(|_| ordered.write(1)))
        };
        here(&ordered);
        writer.join().unwrap();
        assert!(ordered.variable.load(Relaxed) >= 2);
    });
}

fn tickets_of_writes_are_the_order_of_their_values() {
    beside_writes(|ordered| (0..2).for_each(|_| ordered.write(2)));
}

fn a_load_without_the_lock_finds_the_value_of_its_ticket() {
    beside_writes(|ordered| (0..2).for_each(|_| ordered.look(2)));
}

fn a_load_that_takes_the_lock_finds_the_value_of_its_ticket() {
    beside_writes(|ordered| (0..2).for_each(|_| ordered.read(2)));
}

fn a_holder_that_comes_back_late_leaves_the_lock_to_the_one_that_took_it_over() {
    model(None, || {
        let ordered = Ordered::new();
        ordered.stripe.take(1);
        let seen = ordered.stripe.word.load(Relaxed);
        assert!(ordered.stripe.take_over(2, seen));
        let late = {
            let ordered = Arc::clone(&ordered);
            thread::spawn(move || ordered.stripe.give(1))
        };
        let third = {
            let ordered = Arc::clone(&ordered);
            thread::spawn(move || assert!(!ordered.stripe.try_take(3)))
        };
        assert!(ordered.stripe.is_held_by(2));
        late.join().unwrap();
        third.join().unwrap();
        assert!(ordered.stripe.is_held_by(2));
        ordered.stripe.give(2);
        assert!(ordered.stripe.try_take(3));
    });
}

//! The order of atomic operations: each value must be the one that its ticket says. The stripe may
//! be owned by one of the threads, or shared.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::bias::{Entry, Line, Me};
use crate::primitive::PLANTED;
use crate::stripe::{STEP, Stripe};
use crate::{beside, model};

crate::tests! {
    tickets_of_writes_are_the_order_of_their_values
    a_load_without_the_lock_finds_the_value_of_its_ticket
    a_load_that_takes_the_lock_finds_the_value_of_its_ticket
    a_holder_that_comes_back_late_leaves_the_lock_to_the_one_that_took_it_over
    two_threads_that_want_what_a_third_one_owns_get_it_in_turn
    a_handler_operates_while_its_thread_is_asked_to_give_up_what_it_owns
    what_a_thread_owned_is_the_next_ones_that_gets_its_number
    an_owner_that_makes_no_fence_is_found_out
    a_thread_that_takes_without_a_fence_is_found_out
}

/// The place of the stripe in lines.
const PLACE: u64 = 1;

/// A variable with its stripe, and four threads.
struct Ordered {
    stripe: Stripe,
    variable: AtomicU64,
    lines: [Line; 4],
    allowed: AtomicU64,
}

impl Ordered {
    fn new(owned: bool) -> Arc<Self> {
        Arc::new(Ordered {
            stripe: Stripe::default(),
            variable: AtomicU64::new(0),
            lines: std::array::from_fn(|_| Line(AtomicU64::new(0))),
            allowed: AtomicU64::new(if owned { 100 } else { 0 }),
        })
    }

    fn me(&self, number: u64) -> Me<'_> {
        Me {
            number,
            line: &self.lines[usize::try_from(number).unwrap()],
            lines: &self.lines,
            allowed: &self.allowed,
        }
    }

    /// Counts one up, as instrumented code does, in the weakest order there is. Others can come in
    /// between.
    fn count(&self) -> u64 {
        self.variable.fetch_add(1, Relaxed)
    }

    fn write(&self, number: u64) {
        let me = self.me(number);
        let taken = if self.stripe.take_own(&me, PLACE) {
            Entry::New
        } else {
            self.stripe.take(&me, PLACE)
        };
        let before = self.count();
        let ticket = self.stripe.draw(true);
        self.stripe.give(&me, taken);
        assert_eq!(ticket, STEP * (before + 1));
    }

    /// Reads by [`Stripe::look`].
    fn look(&self, number: u64) {
        let read = || self.variable.load(Relaxed);
        let (ticket, found) = self.stripe.look(&self.me(number), PLACE, read);
        assert_eq!(ticket, STEP * found + 1);
    }

    /// Reads as a load that gave up looking.
    fn read(&self, number: u64) {
        let me = self.me(number);
        let taken = self.stripe.take(&me, PLACE);
        let found = self.variable.load(Relaxed);
        let ticket = self.stripe.draw(false);
        self.stripe.give(&me, taken);
        assert_eq!(ticket, STEP * found + 1);
    }

    /// No operation goes on, and none was cut short.
    fn is_at_rest(&self, writes: u64) {
        assert_eq!(self.variable.load(Relaxed), writes);
        assert!(self.lines.iter().all(|line| line.0.load(Relaxed) == 0));
        assert!((1..4).all(|n| !self.stripe.is_held_by(n)));
        assert_eq!(self.stripe.bias.given_up.load(Relaxed), 0);
    }
}

/// One thread writes twice, while this one does `here` twice. The bounds of preemptions
/// keep these short. The thread that writes owns the stripe, or nobody does.
fn beside_writes(here: fn(&Ordered), writes: u64) {
    for owned in [false, true] {
        model(Some(if owned { 2 } else { 3 }), move || {
            let ordered = Ordered::new(owned);
            ordered.write(1);
            let writer = beside(&ordered, |ordered| (0..2).for_each(|_| ordered.write(1)));
            (0..2).for_each(|_| here(&ordered));
            writer.join().unwrap();
            ordered.is_at_rest(3 + writes);
        });
    }
}

fn tickets_of_writes_are_the_order_of_their_values() {
    beside_writes(|ordered| ordered.write(2), 2);
}

fn a_load_without_the_lock_finds_the_value_of_its_ticket() {
    beside_writes(|ordered| ordered.look(2), 0);
}

fn a_load_that_takes_the_lock_finds_the_value_of_its_ticket() {
    beside_writes(|ordered| ordered.read(2), 0);
}

fn a_holder_that_comes_back_late_leaves_the_lock_to_the_one_that_took_it_over() {
    model(None, || {
        let ordered = Ordered::new(false);
        let taken = ordered.stripe.take(&ordered.me(1), PLACE);
        let seen = ordered.stripe.word.load(Relaxed);
        assert!(ordered.stripe.take_over(2, seen));
        let late = beside(&ordered, move |ordered| ordered.stripe.give(&ordered.me(1), taken));
        let third = beside(&ordered, |ordered| assert!(!ordered.stripe.try_take(3)));
        assert!(ordered.stripe.is_held_by(2));
        late.join().unwrap();
        third.join().unwrap();
        assert!(ordered.stripe.is_held_by(2));
        ordered.stripe.give(&ordered.me(2), Entry::Within);
        assert!(ordered.stripe.try_take(3));
    });
}

fn two_threads_that_want_what_a_third_one_owns_get_it_in_turn() {
    model(Some(2), || {
        let ordered = Ordered::new(true);
        ordered.write(1);
        let threads = [2, 3].map(|n| beside(&ordered, move |ordered| ordered.write(n)));
        threads.into_iter().for_each(|t| t.join().unwrap());
        ordered.is_at_rest(3);
    });
}

/// Where a handler comes in.
#[derive(Clone, Copy)]
enum At {
    Entered,
    Taken,
    Done,
    Drawn,
    Given,
}

/// A thread that owns the stripe writes, and a handler that comes in between writes, too.
fn interrupted(ordered: &Ordered, at: At) {
    let (me, handler) = (ordered.me(1), || ordered.write_within(1));
    let entry = me.enter(PLACE);
    assert_eq!(entry, Entry::New);
    if matches!(at, At::Entered) {
        handler();
    }
    me.leave();
    let taken = ordered.stripe.take(&me, PLACE);
    if matches!(at, At::Taken) {
        handler();
    }
    let before = ordered.count();
    if matches!(at, At::Done) {
        // What the handler writes comes after, and takes the next ticket: the event of this
        // operation is drawn again.
        ordered.count();
        ordered.stripe.draw(true);
    }
    let ticket = ordered.stripe.draw(true);
    let handlers = u64::from(matches!(at, At::Done));
    assert_eq!(ticket, STEP * (before + 1 + handlers));
    if matches!(at, At::Drawn) {
        handler();
    }
    ordered.stripe.give_lock(1);
    if matches!(at, At::Given) {
        handler();
    }
    assert!(matches!(taken, Entry::New));
    me.leave();
}

impl Ordered {
    /// Writes as a handler does that interrupted a use of the same stripe.
    fn write_within(&self, number: u64) {
        let me = self.me(number);
        let taken = self.stripe.take(&me, PLACE);
        assert!(taken != Entry::New);
        let before = self.count();
        let ticket = self.stripe.draw(true);
        self.stripe.give(&me, taken);
        assert_eq!(ticket, STEP * (before + 1));
    }
}

fn a_handler_operates_while_its_thread_is_asked_to_give_up_what_it_owns() {
    for at in [At::Entered, At::Taken, At::Done, At::Drawn, At::Given] {
        model(Some(3), move || {
            let ordered = Ordered::new(true);
            ordered.write(1);
            let other = beside(&ordered, |ordered| ordered.write(2));
            interrupted(&ordered, at);
            other.join().unwrap();
            ordered.is_at_rest(4);
        });
    }
}

fn what_a_thread_owned_is_the_next_ones_that_gets_its_number() {
    model(Some(2), || {
        let ordered = Ordered::new(true);
        let numbers = Arc::new(AtomicBool::new(true));
        let free = Arc::clone(&numbers);
        let first = beside(&ordered, move |ordered| {
            ordered.write(1);
            free.store(false, loom::sync::atomic::Ordering::Release);
        });
        let next = beside(&ordered, move |ordered| {
            let in_use = numbers.load(loom::sync::atomic::Ordering::Acquire);
            ordered.write(if in_use { 2 } else { 1 });
        });
        first.join().unwrap();
        next.join().unwrap();
        ordered.is_at_rest(2);
    });
}

/// The model finds a protocol without one of its fences.
fn is_found_out(what: u8) {
    PLANTED.store(what, SeqCst);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let passed = catch_unwind(AssertUnwindSafe(tickets_of_writes_are_the_order_of_their_values));
    std::panic::set_hook(hook);
    PLANTED.store(0, SeqCst);
    let found = passed.expect_err("nothing was found");
    let found = found.downcast_ref::<String>().expect("a message");
    assert!(found.contains("left == right"), "{found}");
}

fn an_owner_that_makes_no_fence_is_found_out() {
    is_found_out(1);
}

fn a_thread_that_takes_without_a_fence_is_found_out() {
    is_found_out(2);
}

//! A thread that records numbers, and the writer that reads them: they use the desk as `flush`,
//! `switch`, `finish` and `recorder` of the runtime do.

use contech_trace::event::{EndReason, Event, raw};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Release};

use crate::desk::{Desk, Ends, HandOff, Party, Standing};
use crate::inner::{Inner, Status};
use crate::lane::Lane;
use crate::pool::Pool;
use crate::primitive::Mutex;
use crate::queue::{Message, Place, Queue, Records};
use crate::sync::lock;
use crate::turns::Turns;

/// A small buffer is enough: how many records fill one is up to the test.
const BYTES: usize = 64 << 10;
/// What a turn of a wait records.
const TURN: u8 = 200;
/// What a thread records that is not to be kept.
pub(crate) const LEFT_OUT: u8 = 201;
/// The only context there is.
const CONTEXT: u32 = 1;
/// Bytes of the event that ends a context.
const END: usize = 11;

pub(crate) fn desk() -> Arc<Desk> {
    let pool = Pool::new(BYTES, 2);
    Arc::new(Desk::new(true, pool, Queue::new(1 << 30), false))
}

pub(crate) fn ends() -> Ends {
    let reason = EndReason::Finished;
    [Some(Event::ContextEnd { reason, at: 0 }), None, None]
}

pub(crate) struct Thread {
    inner: Mutex<Inner>,
    cursor: AtomicPtr<u8>,
    /// Records it has made that are to be kept.
    pub(crate) made: AtomicUsize,
    turns: Turns,
}

impl Party for Thread {
    fn context(&self) -> u32 {
        CONTEXT
    }

    fn inner(&self) -> &Mutex<Inner> {
        &self.inner
    }

    fn cursor(&self, lane: Lane) -> *mut u8 {
        match lane {
            Lane::Stream => self.cursor.load(Acquire),
            Lane::Check => std::ptr::null_mut(),
        }
    }

    fn turns(&self) -> Option<&Turns> {
        Some(&self.turns)
    }

    fn ends(&self, _: u64) -> Ends {
        ends()
    }
}

impl Thread {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Thread {
            inner: Mutex::new(Inner::default()),
            cursor: AtomicPtr::new(std::ptr::null_mut()),
            made: AtomicUsize::new(0),
            turns: Turns::default(),
        })
    }

    /// Gets a buffer, after giving the one it has; `false` where nothing is to be recorded.
    pub(crate) fn flush(&self, desk: &Desk) -> bool {
        let mut inner = lock(&self.inner);
        match desk.standing(&inner) {
            Standing::Records => {
                let place = (0, Lane::Stream);
                let cursor = self.cursor(Lane::Stream);
                assert!(desk.turn(CONTEXT, &mut inner, place, (cursor, 0)));
                let buffer = desk.pool.take().unwrap();
                let (at, _) = inner.tape(0, Lane::Stream).begin(buffer, 0);
                inner.status = Status::Live;
                self.cursor.store(at, Release);
                true
            }
            Standing::Ends => {
                self.end_own(desk, &mut inner);
                self.forget_cursor();
                false
            }
            Standing::Out => {
                self.forget_cursor();
                false
            }
        }
    }

    /// It records into nothing from here on.
    fn forget_cursor(&self) {
        self.cursor.store(std::ptr::null_mut(), Release);
    }

    fn end_own(&self, desk: &Desk, inner: &mut Inner) {
        self.turns.close(&self.cursor);
        let cursors = |lane| self.cursor(lane);
        assert!(desk.end_own(CONTEXT, inner, cursors, (0, &ends())));
    }

    /// Records the next number.
    pub(crate) fn record(&self) {
        let at = self.cursor(Lane::Stream);
        let n = self.made.load(Acquire);
        // SAFETY: a buffer has room for the few records of a test.
        unsafe { at.write(u8::try_from(n).unwrap()) };
        self.cursor.store(at.wrapping_add(1), Release);
        self.made.store(n + 1, Release);
    }

    /// Records something that is not to be kept, and then the next number, which is.
    pub(crate) fn record_gated(&self) {
        let at = self.cursor(Lane::Stream);
        // SAFETY: a buffer has room for the few records of a test.
        unsafe { at.write(LEFT_OUT) };
        self.cursor.store(at.wrapping_add(1), Release);
        self.turns.drop_back(&self.cursor);
        self.record();
        self.turns.kept.store(self.cursor(Lane::Stream), Release);
    }

    /// Records a turn of a wait, which begins at `mark`; where the next one begins.
    pub(crate) fn turn(&self, mark: *mut u8) -> *mut u8 {
        let at = self.cursor(Lane::Stream);
        // SAFETY: a buffer has room for the few records of a test.
        unsafe { at.write(TURN) };
        self.cursor.store(at.wrapping_add(1), Release);
        let next = self.turns.end_turn(mark, &self.cursor);
        self.made.fetch_add(1, Release);
        next
    }

    /// Hands over what it has so far, as a task that may go on elsewhere does.
    pub(crate) fn publish(&self, desk: &Desk) {
        let mut inner = lock(&self.inner);
        let end = (self.cursor(Lane::Stream), 0);
        let place = (0, Lane::Stream);
        assert!(desk.part_of(CONTEXT, &mut inner, place, end, HandOff::Lend));
    }

    /// Ends.
    pub(crate) fn end(&self, desk: &Desk) {
        let mut inner = lock(&self.inner);
        self.end_own(desk, &mut inner);
        desk.let_go(&mut inner);
        // The state is used again, for nothing that lives.
        *inner = Inner::default();
        inner.status = Status::Ended;
    }
}

/// What arrived.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    pub(crate) records: Vec<u8>,
    /// How often the context's end arrived.
    pub(crate) ends: usize,
}

/// Writes all there is now.
pub(crate) fn write(desk: &Desk, arrived: &mut Arrived) {
    while let Some(message) = desk.queue.take() {
        match message {
            Message::Stream(Place { context: CONTEXT, .. }, Records::Part(part)) => {
                arrived.records.extend_from_slice(part.bytes());
                desk.pool.put(part);
            }
            Message::Stream(_, Records::Few(end)) if end.len() == END => arrived.ends += 1,
            other => unreachable!("only records are sent here, not {other:?}"),
        }
        desk.queue.done();
    }
}

/// The first so many numbers.
pub(crate) fn numbers(n: usize) -> Vec<u8> {
    (0..n).map(|n| u8::try_from(n).unwrap()).collect()
}

/// How many turns these records tell of. The last four bytes of an event are its number.
pub(crate) fn turns(mut records: &[u8]) -> usize {
    let mut turns = 0;
    while let Some((first, rest)) = records.split_first() {
        if *first == TURN {
            (turns, records) = (turns + 1, rest);
            continue;
        }
        let (event, rest) = records.split_at(size_of::<raw::Again>());
        let (fields, id) = event.split_at(event.len() - 4);
        let id = u32::from_le_bytes(id.try_into().unwrap());
        let Ok(Event::Again { bytes: 1, count }) = Event::decode(id, fields) else {
            panic!("{records:?}");
        };
        (turns, records) = (turns + usize::try_from(count).unwrap(), rest);
    }
    turns
}

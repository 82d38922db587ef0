//! Hands messages over from the program's threads to the writer.
//!
//! The queue is a lock around a list, and not a channel, for three reasons. The bytes that wait are
//! bounded, the program sleeps until the writer has dealt with what was sent, and the queue closes
//! and opens again; so the count and the messages must change together, and a channel of crossbeam
//! inside would be a second lock. Such a channel would also use the program's thread-locals to
//! sleep. And loom, which tries every interleaving of this file (`tests/model`), cannot look into
//! it. A message is usually a whole buffer, so the lock is taken some thousand times a second.

use std::collections::VecDeque;
use std::time::Duration;

use contech_interpose::clock::Instant;
use contech_trace::file::{ChunkKind, Totals};

use crate::buffer::Part;
use crate::primitive::{Condvar, Mutex};
use crate::sync::{lock, wait, wait_for};

/// If the program has not been replaced this long after the end of the trace, it will not be.
const CORKED: Duration = Duration::from_secs(1);
/// Number of messages that there is room for from the start.
const ROOM: usize = 256;
/// A message of so many bytes is small, and so many bytes of small messages are written at once.
pub(crate) const SMALL: usize = 4 << 10;
const BATCH: u64 = 64 << 10;
/// The writer waits this long for more if all that it has is small.
const LINGER: Duration = Duration::from_millis(5);

/// Records on their way to the writer.
#[derive(Debug)]
pub(crate) enum Records {
    /// Records in a buffer, of which the message is a holder.
    Part(Part),
    /// A few bytes.
    Few(Vec<u8>),
}

impl Records {
    /// The bytes of the records.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Records::Part(part) => part.bytes(),
            Records::Few(bytes) => bytes,
        }
    }
}

/// The fields of a chunk's header that do not follow from the payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub kind: ChunkKind,
    pub context: u32,
    /// The level of the thread, see [`crate::buffer::Piece::level`].
    pub level: u8,
    /// Number of this chunk in the context's stream.
    pub seq: u64,
    /// Ticks when the chunk was begun.
    pub first: u64,
    /// Ticks when the chunk was handed over.
    pub last: u64,
}

/// A message to the writer.
#[derive(Debug)]
pub(crate) enum Message {
    /// Records of a context.
    Stream(Place, Records),
    /// A chunk that is in no context, and its payload. An end of the recording may be none: it goes
    /// on if an exec fails.
    Chunk(ChunkKind, Vec<u8>),
}

/// How long to wait for the writer.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The longest time without any progress.
    pub stall: Duration,
    /// The longest time in all.
    pub total: Duration,
}

impl Message {
    /// Bytes of memory that the message holds.
    fn keeps(&self) -> u64 {
        let records = match self {
            Message::Stream(_, Records::Part(part)) => part.keeps(),
            Message::Chunk(_, bytes) | Message::Stream(_, Records::Few(bytes)) => bytes.len(),
        };
        (size_of::<Message>() + records) as u64
    }

    /// Bytes of the recording in the message.
    fn recorded(&self) -> u64 {
        match self {
            Message::Stream(place, records) if place.kind == ChunkKind::Stream => {
                records.bytes().len() as u64
            }
            _ => 0,
        }
    }

    /// Whether the message is small and may wait a little for others.
    fn is_small(&self) -> bool {
        matches!(self, Message::Stream(_, records) if records.bytes().len() < SMALL)
    }

    /// Bytes that it counts as while it waits to be taken.
    fn weight(&self) -> u64 {
        if self.is_small() { self.keeps() } else { BATCH }
    }

    /// Ticks when the message's records were handed over.
    fn handed_over(&self) -> Option<u64> {
        match self {
            Message::Stream(place, _) => Some(place.last),
            Message::Chunk(..) => None,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Message>,
    /// Number of messages sent, and of those the number that the writer has dealt with.
    sent: u64,
    done: u64,
    /// Bytes of memory of the messages that are not dealt with, and of the one that the writer is
    /// dealing with.
    keeps: u64,
    in_hand: u64,
    in_hand_since: Option<u64>,
    /// Number of messages that the writer is dealing with.
    taken: u64,
    /// What waits to be taken, as bytes of small messages. Every other message counts as [`BATCH`].
    waiting: u64,
    /// While the writer sleeps: how much must wait for it to be woken. And the number of threads
    /// that wait for the writer.
    wakes_at: Option<u64>,
    waiters: u64,
    closed: bool,
    /// Messages from this number on are not to be written yet, because the trace has ended and the
    /// program is about to be replaced.
    cork: Option<u64>,
    /// Bytes of the recording in all messages so far.
    bytes: u64,
}

impl State {
    /// Whether there is a message to be written.
    fn has_work(&self) -> bool {
        let next = self.sent - self.messages.len() as u64;
        next < self.cork.unwrap_or(self.sent)
    }

    fn send(&mut self, message: Message) {
        self.sent += 1;
        self.keeps += message.keeps();
        self.bytes += message.recorded();
        self.waiting += message.weight();
        self.messages.push_back(message);
    }

    /// Whether the writer must be woken for what was sent.
    fn wakes(&mut self) -> bool {
        let waiting = self.waiting;
        self.wakes_at.take_if(|at| waiting >= *at).is_some()
    }

    fn take(&mut self) -> Option<Message> {
        if !self.has_work() {
            return None;
        }
        let message = self.messages.pop_front()?;
        self.taken += 1;
        self.waiting -= message.weight();
        self.in_hand += message.keeps();
        self.in_hand_since = self.in_hand_since.or(message.handed_over());
        Some(message)
    }

    /// When the oldest message that is not dealt with was handed over.
    fn oldest(&self) -> Option<u64> {
        let waiting = || self.messages.front()?.handed_over();
        self.in_hand_since.or_else(waiting)
    }
}

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    work: Condvar,
    idle: Condvar,
    limit: u64,
}

impl Queue {
    /// A queue that holds `limit` bytes before [`Queue::is_full`].
    pub(crate) fn new(limit: u64) -> Self {
        Queue {
            state: Mutex::new(State {
                messages: VecDeque::with_capacity(ROOM),
                ..State::default()
            }),
            work: Condvar::new(),
            idle: Condvar::new(),
            limit: limit.max(1),
        }
    }

    pub(crate) fn send(&self, message: Message) {
        let mut state = lock(&self.state);
        state.send(message);
        let wakes = state.wakes();
        drop(state);
        if wakes {
            self.work.notify_one();
        }
    }

    /// Hands over the end of the trace, which says how many bytes of records came before it.
    /// Returns the number of messages sent so far. With `cork`, messages after it are held back for
    /// a while, because the program is about to be replaced. If it is not replaced, nothing is
    /// lost.
    pub(crate) fn send_end(&self, mut totals: Totals, cork: bool) -> u64 {
        let mut state = lock(&self.state);
        totals.bytes = state.bytes;
        state.send(Message::Chunk(ChunkKind::End, totals.to_bytes()));
        let sent = state.sent;
        state.cork = cork.then_some(sent);
        drop(state);
        self.work.notify_one();
        sent
    }

    /// Lets the held-back messages go, because the program was not replaced.
    pub(crate) fn uncork(&self) {
        lock(&self.state).cork = None;
        self.work.notify_one();
    }

    /// Bytes of the recording in all messages so far.
    pub(crate) fn bytes(&self) -> u64 {
        lock(&self.state).bytes
    }

    /// Counts bytes of the recording that nobody wants.
    pub(crate) fn count(&self, bytes: usize) {
        lock(&self.state).bytes += bytes as u64;
    }

    /// Whether so many bytes wait that the program must pause.
    pub(crate) fn is_full(&self) -> bool {
        lock(&self.state).keeps >= self.limit
    }

    /// Whether a few more messages neither fill the queue nor make it allocate memory.
    pub(crate) fn has_room(&self) -> bool {
        let state = lock(&self.state);
        state.keeps < self.limit && state.messages.len() < ROOM / 2
    }

    /// Ticks when the oldest records that are not dealt with were handed over.
    pub(crate) fn oldest(&self) -> Option<u64> {
        lock(&self.state).oldest()
    }

    /// Number of messages that the writer has dealt with so far.
    pub(crate) fn progress(&self) -> u64 {
        lock(&self.state).done
    }

    /// Waits for a message. Returns `false` if the queue was closed and is empty. Meanwhile this
    /// calls `due` each time that its last result has passed.
    pub(crate) fn wait(&self, mut due: impl FnMut() -> Option<Duration>) -> bool {
        let mut until_due = due();
        let mut state = lock(&self.state);
        let (mut waited, mut lingered) = (Duration::ZERO, false);
        loop {
            let for_time = if state.has_work() {
                if lingered || state.waiting >= BATCH || state.closed || state.waiters > 0 {
                    break;
                }
                state.wakes_at = Some(BATCH);
                Some(LINGER)
            } else if state.cork.is_none() && state.closed {
                return false;
            } else {
                state.wakes_at = Some(0);
                state.cork.map(|_| CORKED)
            };
            let rest = for_time.map(|time| time.saturating_sub(waited));
            let Some(time) = rest.into_iter().chain(until_due).min() else {
                state = wait(&self.work, state);
                continue;
            };
            let over;
            (state, over) = wait_for(&self.work, state, time);
            waited = if over { waited + time } else { Duration::ZERO };
            lingered = over && rest == Some(time);
            if lingered && !state.has_work() {
                state.cork = None;
            }
            if over && until_due.is_some() {
                drop(state);
                until_due = due();
                state = lock(&self.state);
            }
        }
        state.wakes_at = None;
        true
    }

    /// The next message, if there is one. The thread that takes it must hold the lock on the
    /// writer, and call [`Queue::done`] once it has dealt with all that it took. So messages are
    /// written in the order in which they were sent.
    pub(crate) fn take(&self) -> Option<Message> {
        lock(&self.state).take()
    }

    /// The next message, if it is small and what was taken is no batch yet.
    pub(crate) fn take_small(&self) -> Option<Message> {
        let mut state = lock(&self.state);
        let small = state.messages.front().is_some_and(Message::is_small);
        if small && state.in_hand < BATCH { state.take() } else { None }
    }

    /// Notes that the writer has dealt with what it took.
    pub(crate) fn done(&self) {
        let mut state = lock(&self.state);
        state.done += std::mem::take(&mut state.taken);
        state.keeps -= std::mem::take(&mut state.in_hand);
        state.in_hand_since = None;
        let waiters = state.waiters;
        drop(state);
        if waiters > 0 {
            self.idle.notify_all();
        }
    }

    /// Closes the queue: [`Queue::wait`] returns `false` from now on, once everything is taken.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.cork = None;
        drop(state);
        self.work.notify_all();
    }

    /// Makes a closed queue usable again.
    pub(crate) fn reopen(&self) {
        lock(&self.state).closed = false;
    }

    /// Waits until everything sent so far is dealt with. Returns `false` if patience ran out first.
    pub(crate) fn drain(&self, patience: Option<Patience>) -> bool {
        let target = lock(&self.state).sent;
        self.drain_to(target, patience)
    }

    /// Waits until the first `sent` messages are dealt with. Returns `false` if patience ran out
    /// first.
    pub(crate) fn drain_to(&self, sent: u64, patience: Option<Patience>) -> bool {
        self.wait_until(patience, |state| state.done >= sent)
    }

    /// Waits until all records that were handed over before `ticks` are dealt with. Returns `false`
    /// if patience ran out first.
    pub(crate) fn drain_before(&self, ticks: u64, patience: Patience) -> bool {
        self.wait_until(Some(patience), |state| state.oldest().is_none_or(|at| at >= ticks))
    }

    fn wait_until(&self, patience: Option<Patience>, reached: impl Fn(&State) -> bool) -> bool {
        let mut state = lock(&self.state);
        state.waiters += 1;
        state.wakes_at = None;
        self.work.notify_one();
        let started = Instant::now();
        let (mut seen, mut seen_at) = (state.done, started);
        let mut in_time = true;
        while in_time && !reached(&state) {
            let Some(patience) = patience else {
                state = wait(&self.idle, state);
                continue;
            };
            if state.done != seen {
                (seen, seen_at) = (state.done, Instant::now());
            }
            let stall = patience.stall.saturating_sub(seen_at.elapsed());
            let left = stall.min(patience.total.saturating_sub(started.elapsed()));
            in_time = !left.is_zero();
            if in_time {
                state = wait_for(&self.idle, state, left).0;
            }
        }
        state.waiters -= 1;
        in_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(n: u8) -> Message {
        Message::Chunk(ChunkKind::Module, vec![n])
    }

    fn stream(seq: u64, last: u64) -> Message {
        let place = Place { kind: ChunkKind::Stream, context: 0, level: 0, seq, first: 0, last };
        Message::Stream(place, Records::Few(vec![0]))
    }

    const NONE: Patience = Patience { stall: Duration::ZERO, total: Duration::ZERO };

    #[test]
    fn small_messages_are_taken_together_up_to_a_batch_and_none_with_them() {
        let queue = Queue::new(1);
        let batch = BATCH.div_ceil(stream(0, 0).keeps());
        (0..batch + 5).for_each(|seq| queue.send(stream(seq, 0)));
        queue.send(message(1));
        let taken = || 1 + (0..).take_while(|_| queue.take_small().is_some()).count() as u64;
        for expected in [batch, 5, 1] {
            assert!(!queue.drain(Some(NONE)));
            assert!(queue.wait(|| None) && queue.take().is_some());
            assert_eq!(taken(), expected);
            queue.done();
        }
        assert!(queue.drain(Some(NONE)) && queue.take().is_none());
    }

    #[test]
    fn the_oldest_records_are_in_hand_or_else_wait_longest() {
        let queue = Queue::new(1);
        (0..3).for_each(|seq| queue.send(stream(seq, 3 + seq)));
        assert_eq!(queue.oldest(), Some(3));
        assert!(queue.take().is_some() && queue.take().is_some());
        assert_eq!(queue.oldest(), Some(3));
        assert!(queue.drain_before(3, NONE) && !queue.drain_before(4, NONE));
        queue.done();
        assert_eq!(queue.oldest(), Some(5));
    }

    #[test]
    fn a_queue_is_full_at_its_limit_and_not_after_draining() {
        let queue = Queue::new(2 * message(0).keeps());
        queue.send(message(0));
        assert!(!queue.is_full());
        queue.send(message(1));
        assert!(queue.is_full());
        assert!(!queue.drain(Some(NONE)), "nobody takes anything");
        while queue.take().is_some() {
            queue.done();
        }
        assert!(!queue.is_full());
        assert!(queue.drain(Some(NONE)));
    }
}

//! Hand-over from the program's threads to the writer.
//!
//! A lock around a list, and no channel: what waits is bounded by its bytes, the program sleeps until the writer has
//! dealt with what was sent, and the queue closes and opens again, so that the count and the messages must
//! change together. A channel of crossbeam's inside would be a second lock; to sleep on, it would use the program's
//! thread-locals; and loom, which tries every interleaving of this file (`tests/model`), cannot look into it. A message
//! is a whole buffer as a rule, so that the lock is taken some thousand times a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use contech_trace::file::Totals;

use crate::buffer::Part;
use crate::lane::Lane;
use crate::primitive::{Condvar, Mutex};
use crate::sync::{lock, wait};

/// Most bytes of records that travel inside a message.
pub const INLINE: usize = 48;
/// Messages there is room for from the start.
const ROOM: usize = 256;

/// Records on their way to the writer.
#[derive(Debug)]
pub enum Records {
    /// In a buffer, of which the message is a holder.
    Part(Part),
    /// A few bytes.
    Inline([u8; INLINE], usize),
}

impl Records {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Records::Part(part) => part.bytes(),
            Records::Inline(b, n) => &b[..*n],
        }
    }
}

/// What the writer is told.
#[derive(Debug)]
pub enum Message {
    /// Records of a context.
    Stream {
        /// Which of its streams.
        lane: Lane,
        /// The context.
        context: u32,
        /// Level of its thread, see [`crate::buffer::Piece::level`].
        level: u8,
        /// Number of this chunk in the context.
        seq: u64,
        /// Ticks when it was begun.
        first: u64,
        /// Ticks when it was handed over.
        last: u64,
        /// Its bytes.
        records: Records,
    },
    /// A module was registered: the encoded `ModuleLoad`.
    Module(Vec<u8>),
    /// The process is an MPI rank: the encoded `RankInfo`.
    Rank(Vec<u8>),
    /// Recording ends here (perhaps not for good, if an exec fails).
    End(Box<Totals>),
}

/// How long to wait for the writer.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Without any progress.
    pub stall: Duration,
    /// In all.
    pub total: Duration,
}

impl Message {
    /// Bytes of memory it holds.
    fn keeps(&self) -> u64 {
        let records = match self {
            Message::Stream { records, .. } => match records {
                Records::Part(part) => part.keeps(),
                Records::Inline(..) => 0,
            },
            Message::Module(bytes) | Message::Rank(bytes) => bytes.len(),
            Message::End(_) => 0,
        };
        (size_of::<Message>() + records) as u64
    }
}

#[derive(Debug)]
struct State {
    messages: VecDeque<Message>,
    /// Messages sent, and of those the ones dealt with.
    sent: u64,
    done: u64,
    /// Bytes of those that are not dealt with, and of the one that the writer deals with.
    keeps: u64,
    in_hand: u64,
    closed: bool,
}

impl State {
    fn take(&mut self) -> Option<Message> {
        let message = self.messages.pop_front()?;
        self.in_hand = message.keeps();
        Some(message)
    }
}

/// The queue of one trace.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    work: Condvar,
    idle: Condvar,
    limit: u64,
}

impl Queue {
    /// A queue that holds `limit` bytes before [`Queue::is_full`].
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Queue {
            state: Mutex::new(State {
                messages: VecDeque::with_capacity(ROOM),
                sent: 0,
                done: 0,
                keeps: 0,
                in_hand: 0,
                closed: false,
            }),
            work: Condvar::new(),
            idle: Condvar::new(),
            limit: limit.max(1),
        }
    }

    /// Hands a message over.
    pub fn send(&self, message: Message) {
        let mut state = lock(&self.state);
        state.sent += 1;
        state.keeps += message.keeps();
        state.messages.push_back(message);
        drop(state);
        self.work.notify_one();
    }

    /// Whether so much is waiting that the program must pause.
    pub fn is_full(&self) -> bool {
        lock(&self.state).keeps >= self.limit
    }

    /// Messages dealt with so far.
    pub fn progress(&self) -> u64 {
        lock(&self.state).done
    }

    /// Waits for a message; `false` when the queue was closed and is empty.
    pub fn wait(&self) -> bool {
        let mut state = lock(&self.state);
        while state.messages.is_empty() {
            if state.closed {
                return false;
            }
            state = wait(&self.work, state);
        }
        true
    }

    /// The next message, if there is one. Whoever takes it holds the writer meanwhile and says [`Queue::done`] before
    /// it takes another: so messages are written in the order in which they were sent.
    pub fn take(&self) -> Option<Message> {
        lock(&self.state).take()
    }

    /// The writer has dealt with the message it took.
    pub fn done(&self) {
        let mut state = lock(&self.state);
        state.done += 1;
        state.keeps -= std::mem::take(&mut state.in_hand);
        drop(state);
        self.idle.notify_all();
    }

    /// [`Queue::wait`] returns `false` from now on, once everything is taken.
    pub fn close(&self) {
        lock(&self.state).closed = true;
        self.work.notify_all();
    }

    /// A closed queue may be used again.
    pub fn reopen(&self) {
        lock(&self.state).closed = false;
    }

    /// Waits until everything sent so far is dealt with; `false` when patience ran out first.
    pub fn drain(&self, patience: Option<Patience>) -> bool {
        let mut state = lock(&self.state);
        let target = state.sent;
        let started = Instant::now();
        let (mut seen, mut seen_at) = (state.done, started);
        while state.done < target {
            let Some(patience) = patience else {
                state = wait(&self.idle, state);
                continue;
            };
            if state.done != seen {
                (seen, seen_at) = (state.done, Instant::now());
            }
            let stall = patience.stall.saturating_sub(seen_at.elapsed());
            let left = stall.min(patience.total.saturating_sub(started.elapsed()));
            if left.is_zero() {
                return false;
            }
            state = match self.idle.wait_timeout(state, left) {
                Ok((guard, _)) => guard,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(n: u8) -> Message {
        Message::Module(vec![n])
    }

    fn number(m: &Message) -> u8 {
        match m {
            Message::Module(b) => b[0],
            other => unreachable!("only modules are sent here, not {other:?}"),
        }
    }

    const NONE: Patience = Patience {
        stall: Duration::ZERO,
        total: Duration::ZERO,
    };

    #[test]
    fn messages_arrive_once_and_in_order_and_drain_waits_for_them() {
        let queue = Queue::new(4);
        let got = std::thread::scope(|s| {
            let writer = s.spawn(|| {
                let mut got = Vec::new();
                while queue.wait() {
                    got.push(number(&queue.take().unwrap()));
                    queue.done();
                }
                got
            });
            for n in 0..200 {
                queue.send(message(n));
            }
            assert!(queue.drain(None));
            queue.close();
            writer.join().unwrap()
        });
        assert_eq!(got, (0..200).collect::<Vec<u8>>());
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

//! Hand-over from the program's threads to the writer: a crossbeam channel for the messages, and a
//! count of what was sent and written to sleep on.

use std::time::Duration;
#[cfg(not(feature = "loom"))]
use std::time::Instant;

use contech_trace::file::Totals;

use crate::buffer::Buffer;
use crate::sync::{Channel, Condvar, Mutex, lock, wait};
use crate::tls::Lane;

/// Most bytes of records that travel inside a message.
pub const INLINE: usize = 48;

/// Records on their way to the writer.
#[derive(Debug)]
pub enum Records {
    /// A whole buffer; goes back to the pool when written.
    Buffer(Buffer),
    /// Part of a buffer that its thread still uses beyond these bytes; it is never recycled before
    /// a later message, so the bytes stay as they are.
    Borrowed(&'static [u8]),
    /// A few bytes.
    Inline([u8; INLINE], usize),
}

impl Records {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Records::Buffer(b) => b.records(),
            Records::Borrowed(b) => b,
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

#[derive(Debug, Default)]
struct Progress {
    sent: u64,
    done: u64,
    closed: bool,
}

/// The queue of one trace.
#[allow(
    missing_debug_implementations,
    reason = "loom's types have none, and its state is of no use in text"
)]
pub struct Queue {
    channel: Channel<Message>,
    progress: Mutex<Progress>,
    work: Condvar,
    idle: Condvar,
    limit: u64,
}

impl Queue {
    /// A queue that holds `limit` messages before [`Queue::is_full`].
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Queue {
            channel: Channel::new(),
            progress: Mutex::new(Progress::default()),
            work: Condvar::new(),
            idle: Condvar::new(),
            limit: limit.max(1) as u64,
        }
    }

    /// Hands a message over.
    pub fn send(&self, message: Message) {
        let mut progress = lock(&self.progress);
        // Sent and counted under one lock, so that a message counted is always there to be taken.
        self.channel.send(message);
        progress.sent += 1;
        drop(progress);
        self.work.notify_one();
    }

    /// Whether so much is waiting that the program must pause.
    pub fn is_full(&self) -> bool {
        let p = lock(&self.progress);
        p.sent.saturating_sub(p.done) >= self.limit
    }

    /// The next message, without waiting.
    pub fn try_next(&self) -> Option<Message> {
        self.channel.try_recv()
    }

    /// The next message; waits for one. `None` when the queue was closed and is empty.
    pub fn next(&self) -> Option<Message> {
        let mut progress = lock(&self.progress);
        loop {
            if let Some(message) = self.channel.try_recv() {
                return Some(message);
            }
            if progress.closed {
                return None;
            }
            progress = wait(&self.work, progress);
        }
    }

    /// The writer has dealt with one message.
    pub fn done(&self) {
        let mut progress = lock(&self.progress);
        progress.done += 1;
        drop(progress);
        self.idle.notify_all();
    }

    /// [`Queue::next`] returns `None` from now on, once everything is taken.
    pub fn close(&self) {
        lock(&self.progress).closed = true;
        self.work.notify_all();
    }

    /// A closed queue may be used again.
    pub fn reopen(&self) {
        lock(&self.progress).closed = false;
    }

    /// Waits until everything sent so far is dealt with; `false` when patience ran out first.
    #[cfg(not(feature = "loom"))]
    pub fn drain(&self, patience: Option<Patience>) -> bool {
        let mut progress = lock(&self.progress);
        let target = progress.sent;
        let started = Instant::now();
        let (mut seen, mut seen_at) = (progress.done, started);
        while progress.done < target {
            let Some(patience) = patience else {
                progress = wait(&self.idle, progress);
                continue;
            };
            if progress.done != seen {
                (seen, seen_at) = (progress.done, Instant::now());
            }
            let stall = patience.stall.saturating_sub(seen_at.elapsed());
            let left = stall.min(patience.total.saturating_sub(started.elapsed()));
            if left.is_zero() {
                return false;
            }
            progress = match self.idle.wait_timeout(progress, left) {
                Ok((guard, _)) => guard,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        true
    }

    /// Waits until everything sent so far is dealt with (loom has no time).
    #[cfg(feature = "loom")]
    pub fn drain(&self, _patience: Option<Patience>) -> bool {
        let mut progress = lock(&self.progress);
        let target = progress.sent;
        while progress.done < target {
            progress = wait(&self.idle, progress);
        }
        true
    }
}

#[cfg(all(test, not(feature = "loom")))]
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
                while let Some(m) = queue.next() {
                    got.push(number(&m));
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
        let queue = Queue::new(2);
        queue.send(message(0));
        assert!(!queue.is_full());
        queue.send(message(1));
        assert!(queue.is_full());
        assert!(!queue.drain(Some(NONE)), "nobody takes anything");
        while queue.try_next().is_some() {
            queue.done();
        }
        assert!(!queue.is_full());
        assert!(queue.drain(Some(NONE)));
    }
}

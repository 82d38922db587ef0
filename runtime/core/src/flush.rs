//! The slow path of a thread: its buffer is full, or it has none yet, or handlers' records are due.

use std::sync::atomic::Ordering::Relaxed;

use contech_trace::event::Event;

use crate::append::encode_at;
use crate::buffer::Buffer;
use crate::level::{Level, MOST, StackRange};
use crate::mask::Blocked;
use crate::memory::{self, Errno};
use crate::queue::{Message, Records};
use crate::recorder::Recorder;
use crate::registry;
use crate::scratch;
use crate::thread::{Inner, Status, Thread};
use crate::tls::{self, TlsBlock};

/// What a signal handler must give back when it returns.
#[derive(Debug)]
pub enum Entered {
    /// The thread does not record: nothing was changed.
    Not,
    /// Its records go to a level of their own, with this number.
    Level(usize),
    /// Too many handlers on top of each other: not recorded; cursor and limit before.
    TooDeep(*mut u8, *mut u8),
}

impl Recorder {
    /// Hands over what the thread recorded up to `cursor` and returns a cursor with room. The
    /// thread-local block then holds the same cursor and its limit.
    pub fn flush(&'static self, tls: &TlsBlock, cursor: *mut u8) -> *mut u8 {
        if tls.is_quiet() || tls.role() != tls::PROGRAM {
            return scratch::last_resort(tls);
        }
        let _errno = Errno::save();
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        let Some(thread) = self.thread(tls) else {
            self.stop("no memory for another thread; recording stops here, the program goes on");
            return scratch::last_resort(tls);
        };
        let mut inner = thread.lock();
        if self.is_recording() && inner.status != Status::Ended {
            self.turn(thread, &mut inner, tls, cursor)
        } else {
            own_scratch(&mut inner, tls)
        }
    }

    fn turn(
        &'static self,
        thread: &Thread,
        inner: &mut Inner,
        tls: &TlsBlock,
        cursor: *mut u8,
    ) -> *mut u8 {
        let depth = inner.depth;
        let now = self.clock.now();
        let (buffer, whole) = inner.levels[depth].take(cursor, now);
        if let Some(buffer) = buffer {
            self.deliver(thread, inner, depth, buffer);
        }
        self.deliver_deeper(thread, inner, depth);
        let delay = if depth == 0 {
            self.pause_if_full()
        } else {
            None
        };
        let Some(buffer) = self.buffer() else {
            self.stop("no memory for a buffer; recording stops here, the program goes on");
            return own_scratch(inner, tls);
        };
        let (start, limit) = inner.levels[depth].begin(buffer, self.clock.now());
        let mut at = start;
        if inner.status == Status::Fresh {
            inner.status = Status::Live;
            self.counters.contexts.fetch_add(1, Relaxed);
            at = encode_at(at, &self.context_start(thread));
        }
        if !whole {
            self.counters.losses.fetch_add(1, Relaxed);
            at = encode_at(at, &Event::Lost { bytes: 0 });
        }
        if let Some(delay) = delay {
            at = encode_at(at, &delay);
        }
        tls.set(at, limit);
        at
    }

    fn context_start(&self, thread: &Thread) -> Event {
        Event::ContextStart {
            context: thread.context(),
            creator: thread.creator.load(Relaxed),
            announced: thread.announced.load(Relaxed),
            tid: memory::thread_id(),
            at: self.clock.now(),
        }
    }

    /// A filled buffer of a level: the program's goes to the writer, a handler's waits its turn.
    fn deliver(&'static self, thread: &Thread, inner: &mut Inner, depth: usize, buffer: Buffer) {
        if buffer.piece().len == 0 {
            self.pool.put(buffer);
        } else if depth == 0 {
            self.hand_over(thread, inner, buffer);
        } else {
            inner.levels[depth].out.push(buffer);
        }
    }

    /// The buffers of handlers that interrupted a level are due.
    pub(crate) fn deliver_deeper(&'static self, thread: &Thread, inner: &mut Inner, depth: usize) {
        while let Some(buffer) = inner.levels[depth].deeper.pop() {
            self.deliver(thread, inner, depth, buffer);
        }
    }

    /// Gives a buffer to the writer, or back to the pool where nobody wants its bytes.
    pub(crate) fn hand_over(&'static self, thread: &Thread, inner: &mut Inner, buffer: Buffer) {
        let piece = buffer.piece();
        self.counters.bytes.fetch_add(piece.len as u64, Relaxed);
        if self.counting_only {
            self.pool.put(buffer);
            return;
        }
        self.send(Message::Stream {
            context: thread.context(),
            seq: inner.next_seq(),
            first: piece.first,
            last: piece.last,
            records: Records::Buffer(buffer),
        });
        self.serve();
    }

    /// Waits for the writer when the queue has reached its limit.
    fn pause_if_full(&'static self) -> Option<Event> {
        if !self.queue.is_full() {
            return None;
        }
        let before = self.clock.now();
        self.drain(None);
        self.counters.pauses.fetch_add(1, Relaxed);
        Some(Event::Delay {
            before,
            duration: self.clock.now().saturating_sub(before),
        })
    }

    /// A signal handler begins in this thread; `mark` is an address in its stack frame, `stack` its
    /// alternate stack if it has one. Give the result to [`Recorder::leave_handler`].
    pub fn enter_handler(&self, tls: &TlsBlock, mark: usize, stack: Option<StackRange>) -> Entered {
        let Some(thread) = registry::current(tls) else {
            return Entered::Not;
        };
        if tls.is_quiet() || tls.role() != tls::PROGRAM || !self.is_recording() {
            return Entered::Not;
        }
        let _blocked = Blocked::new();
        let mut inner = thread.lock();
        let saved = (tls.cursor(), tls.limit());
        if inner.depth == MOST {
            self.counters.losses.fetch_add(1, Relaxed);
            scratch::last_resort(tls);
            return Entered::TooDeep(saved.0, saved.1);
        }
        let depth = inner.depth;
        inner.levels[depth].saved = saved;
        inner.depth = depth + 1;
        tls.set_handlers(depth + 1);
        inner.levels[depth + 1].mark = mark;
        inner.levels[depth + 1].stack = stack;
        tls.set(std::ptr::null_mut(), std::ptr::null_mut());
        Entered::Level(depth + 1)
    }

    /// A signal handler returns.
    pub fn leave_handler(&'static self, tls: &TlsBlock, entered: &Entered) {
        match *entered {
            Entered::Not => {}
            Entered::TooDeep(cursor, limit) => tls.set(cursor, limit),
            Entered::Level(level) => {
                let Some(thread) = registry::current(tls) else {
                    return;
                };
                let _blocked = Blocked::new();
                let mut inner = thread.lock();
                if inner.depth >= level {
                    self.leave_to(&mut inner, tls, level - 1);
                }
            }
        }
    }

    /// A jump is about to leave the handlers entered below the stack pointer `target`. Records that
    /// interrupted code held in registers are lost, and an event says so.
    pub fn jump(&'static self, tls: &TlsBlock, target: usize) {
        if tls.handlers() == 0 {
            return;
        }
        let Some(thread) = registry::current(tls) else {
            return;
        };
        {
            let _blocked = Blocked::new();
            let mut inner = thread.lock();
            let left = |level: &Level| match level.stack {
                Some((low, high)) => target < low || target >= high || target > level.mark,
                None => target > level.mark,
            };
            let mut depth = inner.depth;
            while depth > 0 && left(&inner.levels[depth]) {
                depth -= 1;
            }
            if depth == inner.depth {
                return;
            }
            self.leave_to(&mut inner, tls, depth);
            self.counters.losses.fetch_add(1, Relaxed);
        }
        self.put(tls, &Event::Lost { bytes: 0 });
    }

    fn leave_to(&'static self, inner: &mut Inner, tls: &TlsBlock, depth: usize) {
        let now = self.clock.now();
        while inner.depth > depth {
            let d = inner.depth;
            let cursor = tls.cursor();
            let level = &mut inner.levels[d];
            let (buffer, _) = level.take(cursor, now);
            let mut done = std::mem::take(&mut level.out);
            if let Some(buffer) = buffer {
                if buffer.piece().len == 0 {
                    self.pool.put(buffer);
                } else {
                    done.push(buffer);
                }
            }
            done.append(std::mem::take(&mut level.deeper));
            inner.depth = d - 1;
            tls.set_handlers(d - 1);
            let below = &mut inner.levels[d - 1];
            below.deeper.append(done);
            let (cursor, limit) = below.saved;
            // A null limit makes the next check or event of the interrupted code take the slow path.
            let due = !below.deeper.is_empty();
            tls.set(cursor, if due { std::ptr::null_mut() } else { limit });
        }
    }
}

/// Points the thread at scratch memory of its own, mapped at first use.
pub(crate) fn own_scratch(inner: &mut Inner, tls: &TlsBlock) -> *mut u8 {
    if inner.scratch.is_none() {
        inner.scratch = Buffer::map(scratch::BYTES);
    }
    match &inner.scratch {
        Some(buffer) => {
            tls.set(buffer.data(), buffer.limit());
            buffer.data()
        }
        None => scratch::last_resort(tls),
    }
}

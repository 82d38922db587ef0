#![allow(unsafe_code, reason = "copies what another thread has recorded")]
//! The way of every record from a thread's buffer to the writer's queue: how threads hand over what
//! they have recorded, and which may still do so. `tests/model` tries every interleaving of it.
//!
//! A thread's recording ends once, under the lock on the thread's state. The thread itself ends it,
//! at its own end or at its next flush after the trace began to close, or the thread that closes
//! the trace does, whichever comes first. The one that finds the recording live hands over
//! everything and marks the recording as ended. So nothing is handed over twice, and nothing is
//! forgotten because each thought that the other one did it.

use std::collections::VecDeque;

use contech_trace::event::{Event, MAX_EVENT};
use contech_trace::file::ChunkKind;

use crate::buffer::{Part, Piece};
use crate::inner::{Inner, Status};
use crate::lane::Lane;
use crate::level;
use crate::pool::Pool;
use crate::primitive::Mutex;
use crate::primitive::atomic::{AtomicU8, Ordering};
use crate::queue::{Message, Place, Queue, Records};
use crate::sync::try_lock;
use crate::turns::{Held, Turns};

/// Threads record, and new threads may begin to record.
const OPEN: u8 = 0;
/// Threads that record go on until their recording is ended; no other thread begins.
const CLOSING: u8 = 1;
/// Nothing is recorded any more.
const CLOSED: u8 = 2;

/// What a thread that needs room is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Go on in a new buffer.
    Records,
    /// Hand over what it has, and end its recording.
    Ends,
    /// Write its records to memory that nobody reads.
    Out,
}

/// How records leave a thread's buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HandOff<'a> {
    /// As a part of the buffer. Its thread goes on behind the part and changes nothing in it.
    Lend,
    /// As a copy. Another thread closes the trace, and the owner may at that moment be counting one
    /// more try of a spin-wait in an event that it wrote before.
    Copy(&'a Held<'a>),
}

/// A thread, as seen by the thread that closes the trace.
pub(crate) trait Party {
    /// Number of its stream.
    fn context(&self) -> u32;

    /// The state of the thread, behind its lock.
    fn inner(&self) -> &Mutex<Inner>;

    /// The thread's cursor in a stream. Call this while the thread's state is locked and live.
    fn cursor(&self, lane: Lane) -> *mut u8;

    /// The turns of a spin-wait that the thread may be taking back.
    fn turns(&self) -> Option<&Turns>;

    /// The events that end what the thread runs, at the time `at` in ticks. Ask for them before the
    /// cursors.
    fn ends(&self, at: u64) -> Ends;
}

/// The events at the end of a thread's stream.
pub(crate) type Ends = [Option<Event>; 3];

/// The place where the threads of one trace hand over their records.
#[derive(Debug)]
pub(crate) struct Desk {
    mode: AtomicU8,
    pub(crate) pool: Pool,
    pub(crate) queue: Queue,
    /// Nobody wants the bytes, so the threads count them and throw them away.
    pub(crate) counting_only: bool,
}

impl Desk {
    pub(crate) fn new(open: bool, pool: Pool, queue: Queue, counting_only: bool) -> Self {
        Desk { mode: AtomicU8::new(if open { OPEN } else { CLOSED }), pool, queue, counting_only }
    }

    /// Whether anything is still recorded.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.mode.load(Ordering::Relaxed) != CLOSED
    }

    /// Makes sure that no thread begins to record from now on. Returns whether any could before.
    pub(crate) fn begin_closing(&self) -> bool {
        let was = self.mode.compare_exchange(OPEN, CLOSING, Ordering::SeqCst, Ordering::SeqCst);
        was.is_ok()
    }

    /// Makes sure that nothing is recorded from now on. Returns whether anything was recorded
    /// before.
    pub(crate) fn close(&self) -> bool {
        self.mode.swap(CLOSED, Ordering::SeqCst) != CLOSED
    }

    /// What the thread with this state is to do.
    pub(crate) fn standing(&self, inner: &Inner) -> Standing {
        let open = self.mode.load(Ordering::SeqCst) == OPEN;
        match inner.status {
            Status::Fresh | Status::Live if open => Standing::Records,
            Status::Live => Standing::Ends,
            Status::Fresh | Status::Ended => Standing::Out,
        }
    }

    /// Takes away a level's full buffer and the buffers of the handlers that interrupted it. The
    /// program's buffers go to the writer; a handler's wait for the level that it interrupted.
    /// Returns `false` if the cursor lies outside the buffer, so that records are lost.
    pub(crate) fn turn(
        &self,
        context: u32,
        inner: &mut Inner,
        (depth, lane): (usize, Lane),
        (cursor, now): (*mut u8, u64),
    ) -> bool {
        let (part, whole) = inner.tape(depth, lane).take(depth, cursor, now);
        if let Some(part) = part {
            self.deliver(context, inner, (depth, lane), part);
        }
        let whole = self.gather(inner, (depth, lane), now) && whole;
        while let Some(part) = inner.tape(depth, lane).deeper.pop_front() {
            self.deliver(context, inner, (depth, lane), part);
        }
        whole
    }

    /// Puts the buffer that returned handlers left on top of a level at the end of the buffers due
    /// at its next flush. Returns `false` as [`Desk::turn`] does.
    pub(crate) fn gather(&self, inner: &mut Inner, (depth, lane): (usize, Lane), now: u64) -> bool {
        if depth == level::MOST || inner.tape(depth + 1, lane).buffer.is_none() {
            return true;
        }
        let tape = inner.tape(depth + 1, lane);
        let (part, whole) = tape.take(depth + 1, tape.saved.0, now);
        self.keep(&mut inner.tape(depth, lane).deeper, part);
        whole
    }

    /// Puts a part behind others, if anything is in it.
    pub(crate) fn keep(&self, list: &mut VecDeque<Part>, part: Option<Part>) {
        match part {
            Some(part) if part.piece().len > 0 => list.push_back(part),
            Some(part) => self.pool.put(part),
            None => {}
        }
    }

    /// Hands over what the program recorded up to its cursor and what handlers recorded since. The
    /// last handler's records may begin in a full buffer and end in the one on top, so the two
    /// leave together. Returns `false` as [`Desk::turn`] does.
    pub(crate) fn pass_on(
        &self,
        context: u32,
        inner: &mut Inner,
        lane: Lane,
        at: (*mut u8, u64),
    ) -> bool {
        let whole = self.part_of(context, inner, (0, lane), at, HandOff::Lend);
        let whole = self.gather(inner, (0, lane), at.1) && whole;
        while let Some(part) = inner.tape(0, lane).deeper.pop_front() {
            self.hand_over(context, inner, lane, part);
        }
        whole
    }

    fn deliver(&self, context: u32, inner: &mut Inner, (depth, lane): (usize, Lane), part: Part) {
        if depth == 0 {
            self.hand_over(context, inner, lane, part);
        } else {
            self.keep(&mut inner.tape(depth - 1, lane).deeper, Some(part));
        }
    }

    /// Gives a part of a buffer to the writer, or back to the pool if nobody wants its bytes. An
    /// empty part only lets go of the buffer.
    fn hand_over(&self, context: u32, inner: &mut Inner, lane: Lane, part: Part) {
        let piece = part.piece();
        if self.counts(lane, piece.len) {
            self.send(context, inner, lane, piece, Records::Part(part));
        } else {
            self.pool.put(part);
        }
    }

    /// Whether anybody wants these bytes. If nobody does, this counts them.
    fn counts(&self, lane: Lane, bytes: usize) -> bool {
        if self.counting_only && lane == Lane::Stream {
            self.queue.count(bytes);
        }
        bytes > 0 && !self.counting_only
    }

    fn send(&self, context: u32, inner: &mut Inner, lane: Lane, piece: Piece, records: Records) {
        let Piece { level, first, last, .. } = piece;
        let kind = match lane {
            Lane::Stream => ChunkKind::Stream,
            Lane::Check => ChunkKind::Check,
        };
        let place = Place { kind, context, level, seq: inner.next_seq(lane), first, last };
        self.queue.send(Message::Stream(place, records));
    }

    /// Hands over what a level has recorded up to its cursor, and leaves the level its buffer.
    /// Returns `false` as [`Desk::turn`] does.
    pub(crate) fn part_of(
        &self,
        context: u32,
        inner: &mut Inner,
        (depth, lane): (usize, Lane),
        (cursor, now): (*mut u8, u64),
        way: HandOff<'_>,
    ) -> bool {
        let tape = inner.tape(depth, lane);
        let Some((start, piece)) = tape.advance(depth, cursor, now) else {
            return tape.buffer.is_none();
        };
        let Some(buffer) = &tape.buffer else {
            return false;
        };
        let copy = match way {
            HandOff::Copy(held) if piece.len > 0 => self.pool.take().map(|copy| (copy, held)),
            HandOff::Copy(_) | HandOff::Lend => None,
        };
        let part = match copy {
            Some((copy, held)) => {
                // SAFETY: the bytes are within the thread's buffer, which has the size of the copy.
                // The thread wrote them before its cursor, and no other thread changes any of them.
                unsafe { std::ptr::copy_nonoverlapping(start, copy.data(), piece.len) };
                held.complete(start, piece.len, copy.data());
                copy.into_part(Piece { start: 0, ..piece })
            }
            None => buffer.part(piece),
        };
        self.hand_over(context, inner, lane, part);
        true
    }

    /// Ends the recording of the calling thread, if it has not ended yet. Returns `false` if
    /// records are lost.
    pub(crate) fn end_own(
        &self,
        context: u32,
        inner: &mut Inner,
        cursors: impl Fn(Lane) -> *mut u8,
        end: (u64, &Ends),
    ) -> bool {
        let status = std::mem::replace(&mut inner.status, Status::Ended);
        status != Status::Live || self.end(context, inner, cursors, end, HandOff::Lend)
    }

    /// Gives back the buffers of the calling thread, which ends and has no more use for them.
    pub(crate) fn let_go(&self, inner: &mut Inner) {
        for tape in inner.levels.iter_mut().flat_map(|level| &mut level.tapes) {
            if let Some(buffer) = tape.buffer.take() {
                self.pool.put(buffer);
            }
        }
    }

    /// Hands over all that a thread holds, and `ends` behind it. Returns `false` if records are
    /// lost. The thread keeps its buffers, because code that a handler interrupted, or that holds
    /// the cursor of the other stream in a register, goes on in them.
    fn end(
        &self,
        context: u32,
        inner: &mut Inner,
        cursors: impl Fn(Lane) -> *mut u8,
        (now, ends): (u64, &Ends),
        way: HandOff<'_>,
    ) -> bool {
        let mut whole = true;
        // The level above may hold the buffer of handlers that returned.
        for depth in 0..=(inner.depth + 1).min(level::MOST) {
            for lane in Lane::ALL {
                let cursor = inner.end_of(depth, lane, cursors(lane));
                whole &= self.part_of(context, inner, (depth, lane), (cursor, now), way);
                while let Some(part) = inner.tape(depth, lane).deeper.pop_front() {
                    self.hand_over(context, inner, lane, part);
                }
            }
        }
        self.events(context, inner, now, ends);
        whole
    }

    /// Hands over the events that end a stream.
    fn events(&self, context: u32, inner: &mut Inner, now: u64, events: &Ends) {
        let mut bytes = Vec::new();
        for event in events.iter().flatten() {
            let mut encoded = [0; MAX_EVENT];
            let n = event.encode(&mut encoded);
            bytes.extend_from_slice(&encoded[..n]);
        }
        let piece = Piece { first: now, last: now, level: level::number(0), ..Piece::default() };
        if self.counts(Lane::Stream, bytes.len()) {
            self.send(context, inner, Lane::Stream, piece, Records::Few(bytes));
        }
    }

    /// Closes the recordings of all these threads; `own` is the calling one. A thread whose state
    /// is locked is in its slow path, or it changes what it recorded; this tries it again while
    /// `wait` returns true. Returns the number of threads that lost records, and of those whose
    /// state stayed locked.
    pub(crate) fn end_all<P: Party>(
        &self,
        mut parties: Vec<&P>,
        own: Option<&P>,
        now: impl Fn() -> u64,
        resume: bool,
        mut wait: impl FnMut() -> bool,
    ) -> (usize, usize) {
        let mut losses = 0;
        loop {
            parties.retain(|party| {
                let Some(mut inner) = try_lock(party.inner()) else {
                    return true;
                };
                if inner.status == Status::Live {
                    let is_own = own.is_some_and(|own| std::ptr::eq(own, *party));
                    let turns = party.turns().filter(|_| !is_own);
                    let held = turns.map(Turns::hold);
                    let way = match &held {
                        None => HandOff::Lend,
                        Some(Some(held)) => HandOff::Copy(held),
                        Some(None) => return true,
                    };
                    let cursors = |lane| party.cursor(lane);
                    let (context, at) = (party.context(), now());
                    let ends = party.ends(at);
                    let whole = self.end(context, &mut inner, cursors, (at, &ends), way);
                    losses += usize::from(!whole);
                    if !resume {
                        inner.status = Status::Ended;
                    }
                }
                false
            });
            if parties.is_empty() || !wait() {
                return (losses, parties.len());
            }
        }
    }
}

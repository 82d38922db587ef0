#![allow(unsafe_code, reason = "reads the cursors and buffers of threads that still run")]
//! Ends threads and the trace: writes every live buffer up to its thread's cursor.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::time::Duration;

use contech_interpose::clock::Instant;
use contech_interpose::kernel::sleep;
use contech_interpose::whole;
use contech_trace::event::{EndReason, Event, TEAM_STREAMS};
use contech_trace::file::Totals;

use crate::append::encode_at;
use crate::desk::{Ends, Party};
use crate::inner::{Inner, Status};
use crate::lane::Lane;
use crate::losses::Loss;
use crate::mask::{Blocked, Uncancellable};
use crate::memory::{self, Errno};
use crate::notice;
use crate::primitive::Mutex;
use crate::queue::Patience;
use crate::recorder::Recorder;
use crate::registry;
use crate::stats;
use crate::sync::lock;
use crate::thread::{NO_CONTEXT, Thread};
use crate::tls::{self, TlsBlock};
use crate::turns::Turns;
use contech_interpose::arch::Registers;

/// How long a thread may hold the lock on its own state (in its slow path) before the trace is
/// finished without the thread's last records.
const THREAD_PATIENCE: Duration = Duration::from_secs(10);

/// Why and how the trace is finished.
#[derive(Debug, Clone)]
pub struct Finish {
    /// Why the contexts that still run end.
    pub reason: EndReason,
    /// How long to wait for the writer. `None` waits for ever, because the program has all the time
    /// it wants.
    pub patience: Option<Patience>,
    /// What the user should know of this end. It does not make the trace incomplete.
    pub note: Option<String>,
    /// In a signal handler, the registers of the code that it interrupted.
    pub registers: Option<Registers>,
}

impl Finish {
    /// An end for this reason, which has all the time it wants.
    #[must_use]
    pub fn by(reason: EndReason) -> Self {
        Finish { reason, patience: None, note: None, registers: None }
    }
}

impl Recorder {
    /// Notes whether the calling thread may be ended at any instruction: the program lets it be
    /// cancelled asynchronously, and it is not leaving by itself. See
    /// [`Recorder::check_cancelled`].
    pub fn set_unsafe_end(&self, tls: &TlsBlock, may: bool) {
        if let Some(thread) = registry::current(tls) {
            thread.unsafe_end.store(may, Relaxed);
        }
    }

    /// Records a loss if the calling thread, which ends, was cancelled asynchronously. Its cursor
    /// may then have been in a register that unwinding has not kept, and what was recorded since
    /// the last call is lost.
    pub fn check_cancelled(&'static self, tls: &TlsBlock) {
        let Some(thread) = registry::current(tls) else {
            return;
        };
        let cancelled = thread.unsafe_end.swap(false, Relaxed);
        let live = thread.lock(&Blocked::new()).status == Status::Live;
        if cancelled && live && self.is_recording() {
            self.counters.losses.note(Loss::Cancellation);
            self.put(tls, &Event::Lost { bytes: 0 });
        }
    }

    /// Ends the calling thread. Returns true if it is the last thread of the program. In that case
    /// it goes on recording, because exit handlers will run in it.
    pub fn end_thread(&'static self, tls: &TlsBlock) -> bool {
        let Some(thread) = registry::current(tls) else {
            return false;
        };
        if thread.counted.load(Relaxed) && self.live.fetch_sub(1, SeqCst) == 1 {
            let _uncancellable = Uncancellable::new();
            let _blocked = Blocked::new();
            let _quiet = tls.quiet();
            self.stop_writer();
            return true;
        }
        if self.is_recording() {
            self.last_gap(tls);
        }
        let blocked = Blocked::new();
        let quiet = tls.quiet();
        {
            let mut inner = thread.lock(&blocked);
            let reason = self.is_recording().then_some(EndReason::Finished);
            self.end_recording(thread, &mut inner, tls, reason);
            self.desk.let_go(&mut inner);
        }
        tls.reset();
        tls.set_role(tls::ENDED);
        self.release(thread);
        // `reset` cleared the count that the guard would decrement.
        std::mem::forget(quiet);
        // A handler that ran in this thread now would not be recorded, so another thread is to run
        // it.
        blocked.keep();
        false
    }

    /// Ends the recording of the calling thread, if it is live. The thread's context ends too if
    /// there is a reason.
    pub(crate) fn end_recording(
        &'static self,
        thread: &Thread,
        inner: &mut Inner,
        tls: &TlsBlock,
        reason: Option<EndReason>,
    ) {
        tls.forget_spin();
        let now = self.clock.now();
        if inner.status == Status::Live {
            self.tell(thread);
        }
        let ends = reason.map_or_else(Ends::default, |reason| thread.ends(reason, now));
        let cursors = |lane| tls.at(lane).0;
        let whole = self.desk.end_own(thread.context(), inner, cursors, (now, &ends));
        if !whole {
            self.counters.losses.note(Loss::Cursor);
        }
        self.hand_on();
    }

    /// Ends the recording of the calling thread, which is about to lose the right to nearly all
    /// system calls. If it is the only thread, the trace and the writer's thread end too, because
    /// the end of the program's only thread must end the process. They also end if `all` threads
    /// lose that right.
    pub fn seal(&'static self, tls: &TlsBlock, all: bool) {
        const WHY: &str = "seccomp leaves a thread no way to record; its recording ends here, the program goes on";
        if !self.is_own_process() || !self.is_recording() {
            return;
        }
        let _errno = Errno::save();
        let _uncancellable = Uncancellable::new();
        let blocked = Blocked::new();
        let _quiet = tls.quiet();
        lock(&self.notes).push(WHY.to_owned());
        let reason = EndReason::ProcessExit;
        if all || self.live.load(SeqCst) <= 1 {
            self.finish(tls, &Finish::by(reason));
            self.stop_writer();
        } else if let Some(thread) = registry::current(tls) {
            self.end_recording(thread, &mut thread.lock(&blocked), tls, Some(reason));
        }
    }

    /// Finishes the trace: afterwards nothing is recorded. Another thread that calls this meanwhile
    /// waits for the end. Nothing happens in a process that only shares the memory (vfork).
    pub fn finish(&'static self, tls: &TlsBlock, how: &Finish) {
        if !self.is_own_process() {
            return;
        }
        let _errno = Errno::save();
        let _uncancellable = Uncancellable::new();
        let blocked = Blocked::new();
        let _quiet = tls.quiet();
        if self.finishing.swap(true, SeqCst) {
            let started = Instant::now();
            while !self.ended.load(SeqCst) && started.elapsed() < THREAD_PATIENCE {
                sleep(Duration::from_millis(1));
            }
            return;
        }
        let recorded = self.is_recording();
        if recorded {
            self.reason.store(how.reason as u8, SeqCst);
        }
        self.desk.queue.uncork();
        self.desk.begin_closing();
        self.catch_up(tls, how.registers.as_ref(), &blocked);
        if recorded && how.registers.is_none() {
            self.last_gap(tls);
        }
        let reason = self.is_recording().then_some(how.reason);
        self.close_all(tls, reason, false);
        self.desk.close();
        self.end(how, recorded, false);
        self.ended.store(true, SeqCst);
    }

    /// Writes out everything and an end, and goes on recording, because the program may be about to
    /// be replaced. What other threads of the program record until then is not written, because it
    /// would belong to no trace.
    pub fn checkpoint(&'static self, tls: &TlsBlock, how: &Finish) {
        if !self.is_own_process() || !self.is_recording() {
            return;
        }
        let _errno = Errno::save();
        let _uncancellable = Uncancellable::new();
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        let _ending = lock(&self.checkpoint);
        self.replacing.store(memory::thread_id(), SeqCst);
        self.desk.queue.uncork();
        let reason = self.is_recording().then_some(how.reason);
        self.close_all(tls, reason, true);
        let others = *lock(&self.service);
        self.end(how, true, others);
    }

    /// Adds what the thread has counted to the totals. Look at the thread's cursor only afterwards:
    /// then the trace holds what the totals claim, whatever the thread does meanwhile.
    fn tell(&self, thread: &Thread) {
        let c = &self.counters;
        for (count, told, total) in [
            (&thread.syncs, &thread.told.0, &c.syncs),
            (&thread.begun, &thread.told.1, &c.contexts),
        ] {
            let now = count.load(Acquire);
            total.fetch_add(now - told.swap(now, Relaxed), Relaxed);
        }
    }

    /// Moves the calling thread's cursor to where its interrupted code really was, if the registers
    /// show that.
    fn catch_up(&self, tls: &TlsBlock, registers: Option<&Registers>, blocked: &Blocked) {
        if let (Some(thread), Some(registers)) = (registers.and(registry::current(tls)), registers)
        {
            let inner = thread.lock(blocked);
            let buffer = &inner.levels[inner.depth].tapes[Lane::Stream as usize].buffer;
            let ahead = buffer
                .as_ref()
                .and_then(|buffer| self.cursor_ahead(buffer, tls.at(Lane::Stream), registers));
            if let Some(cursor) = ahead {
                tls.set_cursor(cursor);
            }
        }
    }

    /// Hands over what all threads have recorded. Contexts end if there is a `reason`; recordings
    /// end unless they are to `resume`. Returns true if nothing is lost.
    pub(crate) fn close_all(
        &'static self,
        tls: &TlsBlock,
        reason: Option<EndReason>,
        resume: bool,
    ) -> bool {
        tls.forget_spin();
        let party = |thread: &'static Thread| Closed { recorder: self, thread, reason };
        let threads: Vec<Closed> = self.registry.all().into_iter().map(party).collect();
        let own = threads
            .iter()
            .find(|t| registry::current(tls).is_some_and(|own| std::ptr::eq(own, t.thread)));
        // While the writer makes progress, a thread that waits for it will come out of its slow
        // path.
        let (mut seen, mut since) = (self.desk.queue.progress(), Instant::now());
        let wait = || {
            let now = self.desk.queue.progress();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
            sleep(Duration::from_micros(100));
            since.elapsed() < THREAD_PATIENCE
        };
        let parties = threads.iter().collect();
        let now = || self.clock.now();
        let (lost, stuck) = self.desk.end_all(parties, own, now, resume, wait);
        self.counters.losses.add(Loss::Cursor, lost);
        self.counters.losses.add(Loss::Thread, stuck);
        lost + stuck == 0
    }

    /// Hands over what every thread has recorded, up to its thread-local cursor, because ids are
    /// about to change their meaning, and threads go on. A thread records beyond that cursor only
    /// until its next call. Returns false if this is impossible, because a thread does not let go
    /// of its state, or because another thread is in a context that is not its own, which the
    /// thread's next chunk would have to begin with.
    pub(crate) fn hand_over_so_far(&'static self, tls: &TlsBlock) -> bool {
        let own = registry::current(tls);
        let is_own = |thread: &Thread| own.is_some_and(|own| std::ptr::eq(own, thread));
        let apart = || {
            let mut others = self.registry.all().into_iter().filter(|thread| !is_own(thread));
            others.all(|thread| thread.entered.load(Relaxed) == NO_CONTEXT)
        };
        let before = apart();
        let whole = self.close_all(tls, None, true);
        self.serve();
        if let Some(stay) = own.and_then(|own| own.stay(self.clock.now()))
            && !tls.cursor().is_null()
        {
            if tls.handlers() > 0 {
                return false;
            }
            // The slack has room for the event, wherever the cursor is.
            tls.set_cursor(encode_at(tls.cursor(), &stay));
        }
        before && whole && apart()
    }

    /// Writes the end of the file, and the statistics.
    fn end(&'static self, how: &Finish, recorded: bool, cork: bool) {
        let totals = self.totals(how, recorded);
        let stats = stats::json(&totals, self.counters.put_off.load(Relaxed));
        if !self.desk.counting_only {
            let sent = self.desk.queue.send_end(totals, cork);
            self.hand_on();
            if !self.desk.queue.drain_to(sent, how.patience) {
                notice::say(&format!(
                    "{} takes no more bytes; the end of the trace is lost",
                    self.place
                ));
                return;
            }
        }
        let Some(path) = &self.options.stats else {
            return;
        };
        if let Err(e) = whole::replace(path, stats.as_bytes()) {
            notice::say(&format!(
                "cannot write the statistics to {}: {e}; set CONTECH_STATS to a path that can be written",
                path.display()
            ));
        }
    }

    fn totals(&self, how: &Finish, recorded: bool) -> Totals {
        let c = &self.counters;
        let mut notes = lock(&self.notes).clone();
        notes.extend(c.losses.sentences());
        let complete = recorded && notes.is_empty();
        let losses = notes.len() as u64;
        notes.extend(lock(&self.remarks).iter().cloned());
        let mut libraries = lock(&self.libraries).clone();
        libraries.retain(|(_, threads)| *threads > 0);
        notes.extend(self.host.remarks());
        notes.extend(how.note.clone());
        Totals {
            complete,
            clock_hz: self.clock.measured_hz(),
            end: self.clock.now(),
            contexts: c.contexts.load(Relaxed),
            unannounced: c.unannounced.load(Relaxed),
            bytes: self.desk.queue.bytes(),
            lost_bytes: 0,
            syncs: c.syncs.load(Relaxed),
            pauses: c.pauses.load(Relaxed),
            notes,
            losses,
            libraries,
        }
    }
}

/// A thread whose recording ends with the trace. Its context ends too if there is a reason.
struct Closed {
    recorder: &'static Recorder,
    thread: &'static Thread,
    reason: Option<EndReason>,
}

impl Party for Closed {
    fn context(&self) -> u32 {
        self.thread.context()
    }

    fn inner(&self) -> &Mutex<Inner> {
        &self.thread.inner
    }

    fn cursor(&self, lane: Lane) -> *mut u8 {
        // SAFETY: the thread's state is locked and live, and the thread cannot end before it gets
        // the lock.
        let tls = unsafe { registry::block(self.thread) };
        tls.map_or(std::ptr::null_mut(), |tls| tls.at(lane).0)
    }

    fn turns(&self) -> Option<&Turns> {
        // SAFETY: as above.
        unsafe { registry::block(self.thread) }.map(|tls| tls.spin().turns())
    }

    fn ends(&self, at: u64) -> Ends {
        self.recorder.tell(self.thread);
        let ends = |reason| self.thread.ends(reason, at);
        self.reason.map_or_else(Ends::default, ends)
    }
}

impl Thread {
    /// The events that end the thread's context, and the context that it has entered, for a reason.
    fn ends(&self, mut reason: EndReason, at: u64) -> Ends {
        if reason == EndReason::ProcessExit && self.left.load(Relaxed) {
            reason = EndReason::Left;
        }
        let end = Event::ContextEnd { reason, at };
        let own = (self.context() < TEAM_STREAMS).then_some(end);
        let entered = self.stays_in(self.task(), at);
        [own, entered, entered.and(Some(end))]
    }
}

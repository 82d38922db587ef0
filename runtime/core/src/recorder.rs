//! One trace: its parts, its life from start to stop, and the modules and threads that join it.

use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst,
};

use contech_interpose::arch::stated_hz;
use contech_trace::abi::MODULE_SYNC;
use contech_trace::event::{EndReason, TEAM_STREAMS};
use contech_trace::file::{ChunkKind, FileHeader, RankInfo};

use crate::buffer::Buffer;
use crate::callers::Callers;
use crate::clock::Clock;
use crate::desk::Desk;
use crate::gate::Gate;
use crate::host::Host;
use crate::losses::Losses;
use crate::mask::Blocked;
use crate::modules::{Added, FoundModule, Modules};
use crate::numbers::Numbers;
use crate::opening::{open, run_info};
use crate::options::Options;
use crate::output::Descriptor;
use crate::pace::Pace;
use crate::pool::{KEPT, Pool};
use crate::primitive::Mutex;
use crate::queue::{Message, Queue};
use crate::registry::{self, Registry};
use crate::sync::lock;
use crate::target::Target;
use crate::thread::{NO_CONTEXT, Thread};
use crate::tls::TlsBlock;
use crate::writer::Writer;
use crate::{memory, notice};

/// Stands for no [`EndReason`].
const NO_REASON: u8 = u8::MAX;

/// What a trace starts from.
#[derive(Debug)]
pub struct Start {
    pub options: Options,
    /// The options in effect as `NAME=value`.
    pub effective: Vec<String>,
    /// The process whose forked child this is; 0 for none.
    pub parent: u32,
    /// Modules that are loaded already (those of the parent).
    pub modules: Vec<FoundModule>,
}

/// Numbers for the totals.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) contexts: AtomicU64,
    pub(crate) unannounced: AtomicU64,
    pub(crate) losses: Losses,
    /// Sync events of recordings that have ended.
    pub(crate) syncs: AtomicU64,
    pub(crate) pauses: AtomicU64,
    pub(crate) put_off: AtomicU64,
}

/// One trace. It lives as long as the process, because threads may be inside it at any time.
#[allow(missing_debug_implementations, reason = "its state is of no use in text")]
pub struct Recorder {
    /// Gives the time in ticks since the start of the trace.
    pub clock: Clock,
    /// The objects whose calls are recorded.
    pub callers: Callers,
    /// The context behind each handle of a thread to be joined.
    pub joins: Numbers,
    /// Number of threads of the program that live, including the first one.
    pub live: AtomicI64,
    /// The place where threads hand over what they record.
    pub(crate) desk: Desk,
    /// Whether accesses are recorded.
    pub(crate) gate: Gate,
    /// Why the contexts that still run when the trace is closed end.
    pub(crate) reason: AtomicU8,
    pub(crate) options: Options,
    pub(crate) process: u32,
    /// The name of the place the trace goes to, for messages.
    pub(crate) place: String,
    pub(crate) registry: Registry,
    pub(crate) modules: Mutex<Modules>,
    pub(crate) writer: Mutex<Writer>,
    pub(crate) pace: Pace,
    /// Whether a flush may start the writer thread.
    pub(crate) starts_late: bool,
    /// Whether the writer thread runs.
    pub(crate) service: Mutex<bool>,
    pub(crate) host: &'static dyn Host,
    pub(crate) counters: Counters,
    pub(crate) notes: Mutex<Vec<String>>,
    /// Notes that do not make the trace incomplete.
    pub(crate) remarks: Mutex<Vec<String>>,
    /// Libraries that made threads, and how many of those threads have recorded something.
    pub(crate) libraries: Mutex<Vec<(String, u64)>>,
    pub(crate) finishing: &'static AtomicBool,
    /// A reason to stop was given. A reason that comes up while the trace is being finished is told
    /// too.
    stopped: AtomicBool,
    pub(crate) ended: AtomicBool,
    /// Kernel id of the thread that has last tried to replace the program, 0 for none.
    pub(crate) replacing: AtomicU32,
    /// Held by the thread that is to replace the program, while it ends the trace.
    pub(crate) checkpoint: Mutex<()>,
    /// Whether operations may leave their time open. Without blocks the time is all that is known
    /// of work.
    pub(crate) may_open: AtomicBool,
    pub(crate) next_context: AtomicU32,
    pub(crate) next_stream: AtomicU32,
    cores: i64,
}

impl Recorder {
    /// Opens the trace and writes its beginning. If that fails, the recorder says so on stderr and
    /// runs untraced.
    pub fn start(start: Start, host: &'static dyn Host) -> &'static Self {
        let clock = Clock::start();
        let options = start.options;
        let mut place = String::new();
        let finishing: &'static AtomicBool = Box::leak(Box::default());
        let output = if options.off {
            Ok(None)
        } else {
            open(&options.target, start.parent != 0, &mut place, finishing)
        };
        let counting_only = options.target == Target::Null;
        let recorder = Box::leak(Box::new(Recorder {
            clock,
            callers: Callers::new(),
            joins: Numbers::default(),
            live: AtomicI64::new(1),
            desk: Desk::new(
                !options.off,
                Pool::new(options.buffer, KEPT),
                Queue::new(options.queue_limit()),
                counting_only,
            ),
            gate: Gate::new(&options),
            reason: AtomicU8::new(NO_REASON),
            process: memory::process_id(),
            place,
            registry: Registry::default(),
            modules: Mutex::default(),
            writer: Mutex::new(Writer::new(None)),
            pace: Pace::default(),
            starts_late: start.parent != 0 || !host.has_own_allocator(),
            service: Mutex::new(false),
            host,
            counters: Counters::default(),
            notes: Mutex::new(Vec::new()),
            remarks: Mutex::new(Vec::new()),
            libraries: Mutex::new(Vec::new()),
            finishing,
            stopped: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            replacing: AtomicU32::new(0),
            checkpoint: Mutex::new(()),
            may_open: AtomicBool::new(false),
            next_context: AtomicU32::new(1),
            next_stream: AtomicU32::new(TEAM_STREAMS),
            cores: std::thread::available_parallelism()
                .ok()
                .and_then(|n| i64::try_from(n.get()).ok())
                .unwrap_or(1),
            options,
        }));
        if recorder.is_recording() {
            recorder.begin(output, start.parent, start.effective);
        }
        recorder.register(&TlsBlock::default(), start.modules);
        recorder
    }

    fn begin(
        &self,
        output: std::io::Result<Option<Descriptor>>,
        parent: u32,
        mut effective: Vec<String>,
    ) {
        let begun = output.and_then(|output| {
            self.gate.set_room(output.as_ref().and_then(Descriptor::free));
            let mut writer = lock(&self.writer);
            *writer = Writer::new(output);
            let header = FileHeader {
                pid: self.process,
                start_ticks: self.clock.start_ticks(),
                start_unix_ns: self.clock.start_unix_ns(),
                clock_hz: stated_hz(),
            };
            // The number takes affinity and the quota of the control group into account.
            effective.push(format!("processors={}", self.cores));
            writer.begin(&header, &run_info(parent, effective))
        });
        if let Err(e) = begun {
            self.desk.close();
            self.stopped.store(true, SeqCst);
            lock(&self.notes).push(e.to_string());
            notice::say(&format!(
                "cannot write the trace to {}: {e}; running untraced (set CONTECH_TRACE to a path that can be written, or CONTECH_OFF=1)",
                self.place
            ));
        }
    }

    /// Whether records are kept.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.desk.is_recording()
    }

    /// Why contexts end that end with the trace; `None` if the trace was stopped, after which they
    /// go on unrecorded.
    pub(crate) fn end_reason(&self) -> Option<EndReason> {
        EndReason::from_u8(self.reason.load(SeqCst))
    }

    /// Whether the first context is the only one so far. What it did comes before all that other
    /// contexts do.
    pub fn is_alone(&self) -> bool {
        self.next_context.load(Relaxed) <= 1
    }

    /// Whether this is still the process that started the trace; false in the child of a vfork,
    /// which shares its memory.
    pub fn is_own_process(&self) -> bool {
        memory::process_id() == self.process
    }

    /// Stops recording for a reason, which goes to stderr and into the trace. The program goes on.
    pub fn stop(&self, reason: &str) {
        let recording = self.desk.close();
        let concerned = recording || self.finishing.load(SeqCst);
        if concerned && !self.stopped.swap(true, SeqCst) {
            let _blocked = Blocked::new();
            notice::say(reason);
            lock(&self.notes).push(reason.to_owned());
        }
    }

    /// Adds a remark on something that makes the recording no less complete, unless it was made
    /// before.
    pub fn remark(&self, text: &str) {
        let _blocked = Blocked::new();
        let mut remarks = lock(&self.remarks);
        if !remarks.iter().any(|r| r == text) {
            remarks.push(text.to_owned());
        }
    }

    /// Notes that the process is a rank of an MPI program.
    pub fn set_rank(&'static self, rank: &RankInfo) {
        let _blocked = Blocked::new();
        if self.is_recording() && !self.desk.counting_only {
            self.desk.queue.send(Message::Chunk(ChunkKind::Rank, rank.to_bytes()));
            // A rank may be killed at any time because another one ended. The file must say by then
            // which rank it is.
            self.drain();
        }
    }

    /// The modules that are loaded now, for the trace of a forked child.
    pub fn loaded_modules(&self) -> Vec<FoundModule> {
        let _blocked = Blocked::new();
        lock(&self.modules).loaded().cloned().collect()
    }

    /// Registers modules; those already known are skipped. A module that cannot be recorded beside
    /// the others stops the recording. What was recorded before it is kept.
    pub fn register(&'static self, tls: &TlsBlock, modules: Vec<FoundModule>) {
        let _blocked = Blocked::new();
        for found in modules {
            let object = found.object.clone();
            if found.descriptor.flags & MODULE_SYNC == 0 {
                self.may_open.store(true, Relaxed);
            }
            let added = lock(&self.modules).add(found);
            if !self.is_recording() || self.desk.counting_only {
                continue;
            }
            let load = match added {
                Ok(Added::Known) => continue,
                Ok(Added::New(load)) => Ok(load),
                Ok(Added::InPlaceOfOthers(load)) if self.hand_over_so_far(tls) => Ok(load),
                Ok(Added::InPlaceOfOthers(_)) => Err(format!(
                    "{object} is loaded where another instrumented library was unloaded, while a thread records whose records cannot be told apart by that"
                )),
                Err(reason) => Err(reason),
            };
            match load {
                Ok(load) => {
                    self.desk.queue.send(Message::Chunk(ChunkKind::Module, load.to_bytes()));
                }
                Err(why) => {
                    self.close_all(tls, None, false);
                    self.stop(&format!("{why}; nothing more is recorded"));
                }
            }
        }
    }

    /// Notes that the module whose descriptor is at this address is unloaded.
    pub fn unregister(&self, address: usize) {
        let _blocked = Blocked::new();
        lock(&self.modules).remove(address);
    }

    /// Address and flags of every loaded module's descriptor.
    pub fn module_addresses(&self) -> Vec<(usize, u64)> {
        let _blocked = Blocked::new();
        let modules = lock(&self.modules);
        let place = |f: &FoundModule| (f.address, f.descriptor.flags);
        modules.loaded().map(place).collect()
    }

    /// Reserves `n` consecutive context numbers, and returns the first. Where there are no more,
    /// nothing more is recorded, and the result says nothing.
    pub fn reserve_contexts(&self, n: u32) -> u32 {
        let end = |at: u32| at.checked_add(n).filter(|end| *end <= TEAM_STREAMS);
        let reserved = self.next_context.fetch_update(Relaxed, Relaxed, end);
        reserved.unwrap_or_else(|last| {
            self.stop("the program has more threads and tasks than a trace can number (2^31); nothing more is recorded");
            last
        })
    }

    /// Counts a try of a spin-wait that was put off in vain.
    pub fn count_put_off(&self) {
        self.counters.put_off.fetch_add(1, Relaxed);
    }

    /// The state of the calling thread, which is made at its first use. `None` when memory has run
    /// out.
    pub(crate) fn thread(&self, tls: &TlsBlock) -> Option<&'static Thread> {
        let thread = match registry::current(tls) {
            Some(thread) => thread,
            None => self.attach(tls)?,
        };
        if thread.context() == NO_CONTEXT && self.is_recording() {
            if memory::thread_id() == self.process {
                thread.context.store(0, Relaxed);
                thread.announced.store(true, Relaxed);
            } else {
                thread.context.store(self.reserve_contexts(1), Relaxed);
                self.counters.unannounced.fetch_add(1, Relaxed);
                self.count_for_library(thread);
            }
            // The creator of the thread is not known, so the first context counts as its creator.
            thread.creator.store(0, Relaxed);
        }
        Some(thread)
    }

    /// Notes that this library, whose calls are not the program's, makes the thread.
    pub fn made_by(&self, child: &Thread, library: &str) {
        let _blocked = Blocked::new();
        let mut libraries = lock(&self.libraries);
        let known = libraries.iter().position(|(name, _)| name == library);
        let place = known.unwrap_or_else(|| {
            libraries.push((library.to_owned(), 0));
            libraries.len() - 1
        });
        child.library.store(place + 1, Relaxed);
    }

    fn count_for_library(&self, thread: &Thread) {
        let Some(place) = thread.library.load(Relaxed).checked_sub(1) else {
            return;
        };
        let _blocked = Blocked::new();
        if let Some((_, threads)) = lock(&self.libraries).get_mut(place) {
            *threads += 1;
        }
    }

    pub(crate) fn attach(&self, tls: &TlsBlock) -> Option<&'static Thread> {
        let thread = self.registry.take()?;
        thread.tls.store(std::ptr::from_ref(tls).cast_mut(), Relaxed);
        tls.set_thread(thread);
        if memory::thread_id() != self.process {
            self.live.fetch_add(1, SeqCst);
        }
        thread.counted.store(true, Relaxed);
        self.host.watch_thread_end();
        Some(thread)
    }

    /// The state for a thread about to be created, which is to run `start(arg)`. If `announced`,
    /// the thread gets its context now, in order of creation. `None` when memory has run out.
    pub fn new_child(
        &self,
        tls: &TlsBlock,
        announced: bool,
        start: usize,
        arg: usize,
    ) -> Option<&'static Thread> {
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        let creator = if announced { self.thread(tls)?.context() } else { NO_CONTEXT };
        let child = self.registry.take()?;
        child.start.0.store(start, Relaxed);
        child.start.1.store(arg, Relaxed);
        child.tls.store(std::ptr::null_mut(), Relaxed);
        child.creator.store(creator, Relaxed);
        let announced = announced && self.is_recording();
        child.announced.store(announced, Relaxed);
        let context = if announced { self.reserve_contexts(1) } else { NO_CONTEXT };
        child.context.store(context, Relaxed);
        child.counted.store(true, Relaxed);
        self.live.fetch_add(1, SeqCst);
        Some(child)
    }

    /// Takes back the state of a thread that could not be created. The next context gets its
    /// number, unless another number was given out in the meantime.
    pub fn drop_child(&self, child: &'static Thread) {
        let _blocked = Blocked::new();
        self.live.fetch_sub(1, SeqCst);
        let context = child.context();
        if context != NO_CONTEXT {
            let _ = self.next_context.compare_exchange(context + 1, context, Relaxed, Relaxed);
        }
        self.release(child);
    }

    /// Gives the new thread its state. This must be its first act.
    pub fn adopt(&'static self, tls: &TlsBlock, child: &'static Thread) {
        child.tls.store(std::ptr::from_ref(tls).cast_mut(), Relaxed);
        tls.set_thread(child);
        if child.context() != NO_CONTEXT {
            self.flush(tls, std::ptr::null_mut());
        }
    }

    pub(crate) fn release(&self, thread: &'static Thread) {
        thread.context.store(NO_CONTEXT, Relaxed);
        thread.entered.store(NO_CONTEXT, Relaxed);
        thread.base.store(0, Relaxed);
        thread.announced.store(false, Relaxed);
        thread.counted.store(false, Relaxed);
        thread.unsafe_end.store(false, Relaxed);
        thread.library.store(0, Relaxed);
        thread.forget_counts();
        self.registry.put(thread);
    }

    /// A buffer; if necessary this waits for the writer to give one back. `None` when memory has
    /// run out.
    pub(crate) fn buffer(&'static self) -> Option<Buffer> {
        self.desk.pool.take().or_else(|| {
            self.drain();
            self.desk.pool.take()
        })
    }

    /// Makes sure that what is queued gets written: by the writer thread, which this starts if
    /// necessary, or else by the caller. To make a thread, the C library calls the program's
    /// allocator, whose lock the program may hold where it flushes. With an allocator of its own,
    /// this is called when it loads modules or makes a thread itself; a forked child calls it from
    /// a flush all the same: its C library keeps the stack of the parent's writer, and takes that.
    /// With the C library's, it is called from the first flush: allocations lie where they lie
    /// natively until then.
    pub(crate) fn serve(&'static self) {
        if self.desk.counting_only {
            return;
        }
        let mut running = lock(&self.service);
        // After the last of the program's threads has ended, it goes on recording. No other thread
        // may then be left beside it, or the process never ends.
        let others = self.live.load(SeqCst) > 0;
        if !*running && others && !self.finishing.load(SeqCst) {
            *running = self.host.start_writer(Box::new(|| self.write_until_closed()));
        }
        drop(running);
        self.hand_on();
    }

    /// Waits while another thread ends the trace of a program that is to be replaced: until then
    /// nothing may be handed over. If the calling thread is the one that was to replace the
    /// program, the exec has failed, and the recording goes on.
    pub(crate) fn after_checkpoint(&self) {
        let replacing = self.replacing.load(SeqCst);
        if replacing != 0 {
            drop(lock(&self.checkpoint));
            if replacing == memory::thread_id() {
                self.replacing.store(0, SeqCst);
                self.desk.queue.uncork();
            }
        }
    }

    /// Writes what is queued, unless a writer thread does.
    pub(crate) fn hand_on(&'static self) {
        let by_caller = !*lock(&self.service);
        if by_caller {
            let mut writer = lock(&self.writer);
            while let Some(message) = self.desk.queue.take() {
                self.write(&mut writer, message);
            }
        }
    }

    /// Starts the writer thread, because modules are loaded, if no flush may do that.
    pub fn expect_flushes(&'static self) {
        if !self.starts_late {
            self.expect_threads();
        }
    }

    /// Starts the writer thread, because the program loads modules or is about to make a thread:
    /// neither a flush nor the first of the program's threads to end must have to start the writer.
    pub fn expect_threads(&'static self) {
        if self.is_recording() {
            let _blocked = Blocked::new();
            self.serve();
        }
    }

    /// Waits for everything queued to be written.
    pub(crate) fn drain(&'static self) {
        self.hand_on();
        self.desk.queue.drain(None);
    }

    /// Writes a message, and the small ones behind it.
    pub(crate) fn write(&self, writer: &mut Writer, message: Message) {
        let now = self.clock.now();
        let written = self.pace.time(|| {
            let mut next = Some(message);
            while let Some(message) = next {
                let (part, written) = writer.put(message, now);
                if let Some(part) = part {
                    self.desk.pool.put(part);
                }
                written?;
                next = self.desk.queue.take_small();
            }
            writer.flush()
        });
        if let Err(e) = written {
            self.stop(&format!(
                "cannot write the trace to {}: {e}; recording stops here, the program goes on and the trace is cut",
                self.place
            ));
        }
        self.gate.set_saved(writer.saved());
        self.desk.queue.done();
    }

    /// Lets the writer thread write what is queued, and ends it. Another one starts when there is
    /// more. This is for the last thread of the program, which must also be the last of the
    /// process.
    pub fn stop_writer(&self) {
        let mut running = lock(&self.service);
        if *running {
            self.desk.queue.close();
            self.host.join_writer();
            self.desk.queue.reopen();
            *running = false;
        }
    }
}

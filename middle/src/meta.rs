//! What a trace says about its run as a whole, and whether it is complete.

use std::collections::BTreeMap;

use contech_trace::file::{FileHeader, RankInfo, RunInfo, Totals};
use taskgraph::{Note, NoteKind, ObjectMeta, RankMeta, RunMeta};

use crate::align::Zero;
use crate::notes::Notes;
use crate::pipeline::Item;
use crate::program::Program;
use crate::tally::Tally;

/// Largest number of notes that are taken over from the runtime.
const MOST_NOTES: usize = 1000;

/// The facts that are collected while the trace is read.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    header: FileHeader,
    /// Which of several traces this is, for remarks.
    label: String,
    run: Option<RunInfo>,
    rank: Option<RankInfo>,
    totals: Option<Totals>,
    /// The last item of the trace was the totals.
    ended: bool,
    skipped: u64,
    trace_bytes: u64,
    complete: bool,
    /// When the file was last written; `last_tick` is the latest tick in it.
    modified_unix_ns: Option<u64>,
    last_tick: u64,
    /// How long the chunk with the last tick waited to be written, in ticks.
    waited: u64,
    tally: Tally,
    /// Places that could not be recorded, by reason.
    unrecorded: BTreeMap<String, u64>,
    objects: Vec<ObjectMeta>,
}

impl Facts {
    pub(crate) fn new(header: FileHeader, modified_unix_ns: Option<u64>, label: String) -> Self {
        Facts { header, label, modified_unix_ns, ..Facts::default() }
    }

    /// Looks at the next item of the trace.
    pub(crate) fn see(&mut self, item: &Item, notes: &mut Notes) {
        match item {
            Item::End(end) => {
                self.trace_bytes = end.bytes;
                self.at_end(notes);
                return;
            }
            // Such an item comes after all chunks.
            Item::Last(_) => return,
            Item::Run(run) => {
                self.run.get_or_insert_with(|| run.clone());
            }
            Item::Rank(rank) => {
                self.rank.get_or_insert_with(|| rank.clone());
            }
            Item::Totals(totals) => self.totals = Some(totals.clone()),
            Item::Check => notes.remark("the naive recording was not compared", String::new),
            Item::Unusable(why) => notes.damage("unusable chunks", || why.clone()),
            Item::Skipped { from, to, error } => {
                self.skipped += to - from;
                notes.damage("damaged parts of the trace were skipped", || {
                    format!("bytes {from} to {to}, {error}")
                });
            }
            Item::Stream(chunk) => {
                if chunk.last >= self.last_tick {
                    (self.last_tick, self.waited) = (chunk.last, chunk.waited);
                }
                self.tally.add(chunk);
            }
            Item::Modules(_) | Item::Broken(_) => {}
        }
        self.ended = matches!(item, Item::Totals(_));
    }

    fn at_end(&mut self, notes: &mut Notes) {
        if self.clock_hz() == 0 {
            self.header.clock_hz = self.estimated_hz();
            let what = if self.header.clock_hz > 0 {
                "the clock's frequency was estimated from when the trace was last written"
            } else {
                "the clock's frequency is not known; ticks are shown as nanoseconds"
            };
            notes.remark(what, || self.label.clone());
        }
        let label = || self.label.clone();
        match &self.totals {
            Some(t) if self.ended => {
                if t.complete
                    && !notes.is_damaged()
                    && let Some(missing) = self.tally.missing(t)
                {
                    notes.damage("the trace claims more than it holds", || missing);
                }
                if t.losses > 0 {
                    notes.told_damage();
                } else if !t.complete {
                    notes.damage("the runtime could not record everything", label);
                }
            }
            Some(_) => notes.damage("the trace goes on after its end", label),
            None => self.at_no_end(notes),
        }
        if self.run.is_none() {
            notes.remark("the trace does not say which program it is of", label);
        }
    }

    /// Notes what is missing from a file that is cut, as far as the chunks tell. They are in the
    /// order in which they were handed over.
    fn at_no_end(&self, notes: &mut Notes) {
        const LATE: f64 = 0.1;
        let of = if self.label.is_empty() { "" } else { " of " };
        let hz = match self.clock_hz() {
            0 => 1_000_000_000,
            hz => hz,
        };
        #[allow(clippy::cast_precision_loss, reason = "milliseconds are shown")]
        let seconds = |ticks: u64| ticks as f64 / hz as f64;
        let since = seconds(self.last_tick);
        notes.damage("the program was killed, or the file was cut", || {
            format!(
                "missing{of}{} is what was recorded after {since:.3} s, and at most one buffer of each thread from before",
                self.label
            )
        });
        let waited = seconds(self.waited);
        if waited > LATE {
            notes.damage("the trace's file did not keep up with the program", || {
                format!("the last records in it{of}{} had waited {waited:.1} s", self.label)
            });
        }
    }

    /// The rank that the trace is of, and what places its clock.
    pub(crate) fn zero(&self) -> (Option<&RankInfo>, Zero) {
        let zero = Zero {
            header: self.header,
            host: self.run.as_ref().map_or_else(String::new, |r| r.host.clone()),
            hz: self.clock_hz(),
        };
        (self.rank.as_ref(), zero)
    }

    /// Estimates the ticks per second, on the assumption that the last chunk was written right
    /// before the file was last changed. Returns 0 if no machine has the resulting frequency.
    fn estimated_hz(&self) -> u64 {
        let hz = self.modified_unix_ns.and_then(|modified| {
            let ns = modified.checked_sub(self.header.start_unix_ns)?;
            let written = self.last_tick.saturating_add(self.waited);
            let hz = u128::from(written) * 1_000_000_000 / u128::from(ns.max(1));
            u64::try_from(hz).ok()
        });
        hz.filter(|hz| (500_000_000..8_000_000_000).contains(hz)).unwrap_or(0)
    }

    /// Looks at the static tables.
    pub(crate) fn see_program(&mut self, program: &Program) {
        for (what, places) in program.info.modules.iter().flat_map(|m| &m.unrecorded) {
            *self.unrecorded.entry(what.clone()).or_default() += places;
        }
        // Its addresses have the number of the process in front, as all addresses of the graph.
        let object = |(path, address, space): &(String, u64, u32)| ObjectMeta {
            path: path.clone(),
            load_address: address | u64::from(*space) << 48,
        };
        self.objects = program.objects.iter().map(object).collect();
    }

    /// Ticks per second; 0 if they are not known.
    pub(crate) fn clock_hz(&self) -> u64 {
        let measured = self.totals.as_ref().map_or(0, |t| t.clock_hz);
        if measured > 0 { measured } else { self.header.clock_hz }
    }

    /// Whether the trace is complete, as far as is known.
    pub(crate) fn is_complete(&mut self, notes: &Notes) -> bool {
        self.complete = self.totals.is_some() && self.ended && !notes.is_damaged();
        self.complete
    }

    /// The metadata of the graph, from all traces in order. The first trace names the run.
    pub(crate) fn all(all: Vec<Facts>, notes: &Notes, lost_in_streams: u64) -> RunMeta {
        let merged = all.len() > 1;
        let mut result: Option<RunMeta> = None;
        for facts in all {
            let (rank, label) = (facts.rank.clone(), facts.label.clone());
            let mut meta = facts.meta(notes, lost_in_streams);
            let ranked = rank.map(|r| RankMeta {
                rank: r.rank,
                size: r.size,
                pid: meta.pid,
                host: meta.host.clone(),
                library: r.library,
            });
            let of_trace = meta.notes.split_off(notes.sentences().len());
            let named = |note: Note| {
                if merged { Note::new(note.kind, format!("{label}: {note}")) } else { note }
            };
            let of_trace = of_trace.into_iter().map(named);
            let Some(whole) = &mut result else {
                meta.ranks = ranked.into_iter().filter(|_| merged).collect();
                meta.notes.extend(of_trace);
                result = Some(meta);
                continue;
            };
            whole.ranks.extend(ranked);
            whole.start_unix_ns = whole.start_unix_ns.min(meta.start_unix_ns);
            whole.complete &= meta.complete;
            whole.thread_libraries.extend(meta.thread_libraries);
            whole.thread_libraries.sort();
            whole.thread_libraries.dedup();
            whole.processors = whole.processors.max(meta.processors);
            whole.trace_bytes += meta.trace_bytes;
            // The losses in the streams of all traces are counted once, in the first.
            whole.lost_bytes += meta.lost_bytes.saturating_sub(lost_in_streams);
            whole.notes.extend(of_trace);
        }
        result.unwrap_or_default()
    }

    fn meta(self, notes: &Notes, lost_in_streams: u64) -> RunMeta {
        let clock_hz = self.clock_hz();
        let run = self.run.unwrap_or_default();
        let totals = self.totals.unwrap_or_default();
        let mut sentences = notes.sentences();
        sentences.extend(unrecorded(self.unrecorded));
        let told = (0..).zip(totals.notes).take(MOST_NOTES);
        sentences.extend(told.map(|(at, text)| {
            let kind = if at < totals.losses { NoteKind::Loss } else { NoteKind::Remark };
            Note::new(kind, text)
        }));
        let unannounced = |(library, threads): &(String, u64)| {
            let what = if *threads == 1 { "thread" } else { "threads" };
            let text = format!("{threads} {what} appeared unannounced in {library}");
            Note::new(NoteKind::Remark, text)
        };
        let libraries = totals.libraries.iter().take(MOST_NOTES);
        sentences.extend(libraries.clone().map(unannounced));
        if totals.pauses > 0 {
            let text = format!(
                "the program was paused {} times until its records were written",
                totals.pauses
            );
            sentences.push(Note::new(NoteKind::Remark, text));
        }
        let option = |wanted: &str| {
            run.options.iter().find_map(|o| {
                let (name, value) = o.split_once('=')?;
                name.eq_ignore_ascii_case(wanted).then(|| value.to_owned())
            })
        };
        let (mode, processors) = (option("mode"), option("processors"));
        RunMeta {
            command: run.command,
            pid: self.header.pid,
            host: run.host,
            start_unix_ns: self.header.start_unix_ns,
            clock_hz,
            contech_version: run.version,
            complete: self.complete && !notes.is_damaged(),
            notes: sentences,
            // The runtime's total includes the losses marked in the streams.
            lost_bytes: self.skipped.saturating_add(lost_in_streams.max(totals.lost_bytes)),
            trace_bytes: self.trace_bytes,
            mode: mode.unwrap_or_else(|| "full".into()),
            processors: processors.and_then(|p| p.parse().ok()).unwrap_or(0),
            objects: self.objects,
            thread_libraries: libraries.map(|(library, _)| library.clone()).collect(),
            ..RunMeta::default()
        }
    }
}

/// Makes one sentence for each reason.
fn unrecorded(places: BTreeMap<String, u64>) -> Vec<Note> {
    let sentence = |(what, n)| format!("not recorded: {what}, {n} places in the program");
    let sentences = places.into_iter().take(MOST_NOTES).map(sentence);
    let limit = |text| Note::new(NoteKind::Limit, text);
    sentences.map(limit).collect()
}

//! The middle layer: from a recorded trace to a task graph (contech.txt, section 4.2).
//!
//! Memory is bounded by [`Options::memory`], not by the length of the trace. There are three
//! passes:
//!
//! 1. Chunks are encoded into frames in parallel, each on its own ([`encode`], [`pipeline`]); in
//!    file order each context's stream is cut into tasks ([`cutter`]). Frames go to the graph at
//!    once, drafts of tasks to a log per context ([`log`]), synchronisation events to an external
//!    sorter ([`sorter`]).
//! 2. Events sorted by object and ticket become edges between *places* ([`rules`]).
//! 3. Places become task ids ([`renumber`]); the breadth-first order is found (`order`); tasks,
//!    edges and order are made ([`assemble`]) while another thread writes them ([`writing`]).
//!
//! Invariant: nothing here depends on how chunks of different contexts are interleaved in the file,
//! nor on the memory budget or the number of threads: the graph is the same but for the places of
//! its frames.
#![forbid(unsafe_code)]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the map above is for those who read the source"
)]

mod align;
mod assemble;
mod board;
mod check;
mod clock;
mod coarsen;
mod contexts;
mod cutter;
mod demangle;
mod draft;
mod dump;
mod edges;
mod encode;
mod equal;
mod error;
mod executors;
mod fences;
mod gaps;
mod gate;
mod implied;
mod input;
mod log;
mod messages;
mod meta;
mod notes;
mod options;
mod order;
mod pipeline;
mod place;
mod program;
mod ranks;
mod regions;
mod renumber;
mod rules;
mod sample;
mod sorter;
mod space;
mod spill;
mod streams;
mod summary;
mod tally;
mod tape;
mod varint;
mod writing;

use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use dump::dump_trace;
pub use equal::{Equal, compare_graph};
pub use error::{Error, Result};
pub use input::Input;
pub use options::{Options, Progress};
pub use summary::{Check, Summary};

use crate::align::Align;
use crate::assemble::Parts;
use crate::check::Kept;
use crate::clock::Clock;
use crate::cutter::Cutter;
use crate::edges::Edges;
use crate::gaps::Gaps;
use crate::meta::Facts;
use crate::notes::Notes;
use crate::pipeline::{Item, Pipeline};
use crate::place::Place;
use crate::program::{Program, ProgramBuilder};
use crate::spill::Spill;
use taskgraph::GraphWriter;
use tracing::debug_span;

/// Converts the trace `input` into the task graph file `output`.
///
/// The graph appears under its name only when it is complete; after an error nothing is left. A
/// damaged or cut trace is not an error: what can be read becomes a graph with
/// [`Summary::complete`] false.
///
/// # Errors
/// The input cannot be read or is no trace of this version, the output cannot be written, or the
/// recorded order of a complete trace contradicts itself.
pub fn convert(input: impl Into<Input>, output: &Path, options: &Options) -> Result<Summary> {
    let input = input.into();
    refuse_same_file(&input, output)?;
    let name = input.name();
    let mut conversion = Conversion::new(&name, output, options)?;
    conversion.read(input, String::new())?;
    conversion.finish_trace()?;
    conversion.order_and_write(Vec::new())
}

/// Converts the traces of the ranks of one MPI run into one task graph. An empty first context
/// creates the ranks, messages and collective operations become edges between them, and addresses
/// get the rank's number in front.
///
/// A missing rank is not an error, and neither is a rank whose trace was cut: the graph of what is
/// there is then marked.
///
/// # Errors
/// Those of [`convert`], and [`Error::Apart`] for traces that are not those of one run.
pub fn merge(inputs: &[PathBuf], output: &Path, options: &Options) -> Result<Summary> {
    for input in inputs {
        refuse_same_file(&Input::from(input.clone()), output)?;
    }
    let (ranked, missing) = ranks::in_order(inputs)?;
    let mut conversion = Conversion::new("the merged traces", output, options)?;
    let root = conversion.cutter.root()?;
    if !missing.is_empty() {
        let notes = &mut conversion.cutter.notes;
        notes.damage("traces of MPI ranks are missing", || ranks::list(&missing));
    }
    let mut firsts = Vec::new();
    for (at, one) in (0..).zip(ranked) {
        let rank = mpi_rank(one.rank.rank);
        let name = one.path.display().to_string();
        conversion.cutter.begin_trace(&name, at);
        conversion.cutter.messages.set_rank(rank);
        conversion.read(one.path, format!("rank {}", one.rank.rank))?;
        firsts.push((root, conversion.finish_trace()?));
        conversion.builder.begin_space();
    }
    conversion.order_and_write(firsts)
}

/// The places of those traces that are of ranks of the same MPI run as the first one, which is among
/// them; none if the first one is of no rank.
#[must_use]
pub fn ranks_of_one_run(traces: &[PathBuf]) -> Vec<usize> {
    ranks::like_first(traces)
}

fn mpi_rank(rank: u32) -> u16 {
    contech_trace::mpi::rank16(rank.into())
}

/// The state of a conversion while traces are read.
struct Conversion<'a> {
    name: String,
    output: &'a Path,
    options: &'a Options,
    spill: Arc<Spill>,
    writer: GraphWriter,
    cutter: Cutter,
    facts: Vec<Facts>,
    builder: ProgramBuilder,
    program: Option<Arc<Program>>,
    /// What is to be compared of the trace that was just read.
    kept: Option<Kept>,
    check: Option<Check>,
}

impl<'a> Conversion<'a> {
    fn new(name: &str, output: &'a Path, options: &'a Options) -> Result<Self> {
        let spill = Arc::new(Spill::beside(output));
        Ok(Conversion {
            name: name.to_owned(),
            output,
            options,
            writer: GraphWriter::create(output, Arc::default())?,
            cutter: Cutter::new(name, &spill, options.memory / 8 * 3),
            spill,
            facts: Vec::new(),
            builder: ProgramBuilder::default(),
            program: None,
            kept: None,
            check: None,
        })
    }

    /// Does pass 1 for one trace.
    fn read(&mut self, input: impl Into<Input>, label: String) -> Result<()> {
        let _step = debug_span!("read").entered();
        let input = input.into();
        let (name, options) = (input.name(), self.options);
        if let Input::Path(path) = &input
            && options.sample > 1
        {
            self.cutter.gaps = Gaps::of(path);
        }
        let source = input.open()?;
        let (size, modified_unix_ns) = (source.size, source.modified_unix_ns);
        let builder = take(&mut self.builder);
        let (header, mut pipeline) = Pipeline::start(source, &name, builder, options, &self.spill)?;
        let cutter = &mut self.cutter;
        let mut facts = Facts::new(header, modified_unix_ns, label);
        loop {
            let item = pipeline.next()?;
            facts.see(&item, &mut cutter.notes);
            match item {
                Item::Stream(chunk) => cutter.chunk(*chunk, &mut self.writer)?,
                Item::Last(chunk) => cutter.last(*chunk, &mut self.writer)?,
                Item::Modules(any) => cutter.keep_empty = !any,
                Item::Rank(rank) => cutter.messages.set_rank(mpi_rank(rank.rank)),
                Item::Broken(error) => return Err(error),
                Item::End(end) => {
                    (self.program, self.kept) = (Some(end.program), Some(end.kept));
                    self.builder = end.builder;
                    break;
                }
                _ => {}
            }
            options.report(Progress::Reading { done: pipeline.position(), of: size });
        }
        self.facts.push(facts);
        Ok(())
    }

    /// Finishes a trace that was read. Returns where its first context begins.
    fn finish_trace(&mut self) -> Result<Place> {
        self.options.check_cancelled()?;
        self.cutter.finish()?;
        // The recording is compared with its naive form, if there is one.
        if let (Some(kept), Some(program)) = (self.kept.take(), &self.program)
            && program.has_checked()
        {
            self.options.report(Progress::Comparing);
            let more = check::compare(&kept, program, self.options, &mut self.cutter.notes)?;
            let check = self.check.get_or_insert_default();
            check.compared += more.compared;
            check.mismatches += more.mismatches;
            check.differences.extend(more.differences);
            check.differences.truncate(check::MOST);
        }
        Ok(Place::new(self.cutter.space.first(), 0))
    }

    /// Does passes 2 and 3. The edges in `firsts` are added to those recorded.
    fn order_and_write(mut self, firsts: Vec<(Place, Place)>) -> Result<Summary> {
        // No more modules come, and the tables take memory.
        self.builder = ProgramBuilder::default();
        if let (Some(program), Some(facts)) = (self.program.take(), self.facts.first_mut()) {
            facts.see_program(&program);
            self.writer.set_info(Arc::clone(&program.info))?;
            self.writer.set_paths(&program.paths, |number| program.path(number))?;
        }
        let Conversion {
            name,
            output,
            options,
            spill,
            mut writer,
            mut cutter,
            mut facts,
            check,
            ..
        } = self;
        let step = debug_span!("order").entered();
        let (positions, lost_bytes) = (take(&mut cutter.positions), cutter.lost_bytes);
        let (regions, windows) = (take(&mut cutter.regions), take(&mut cutter.windows));
        let (parts, mut notes) = order(cutter, &facts, firsts, (&name, &spill), options)?;
        drop(step);
        let _step = debug_span!("write").entered();
        options.report(Progress::Writing);
        let mut complete = true;
        for facts in &mut facts {
            complete &= facts.is_complete(&notes);
        }
        let written = parts.write(complete, &mut notes, &mut writer)?;
        options.check_cancelled()?;
        let Parts { contexts: table, frames, executors, clock, align, .. } = parts;
        let contexts = || written.contexts(&table, clock, &align);
        let mut meta = Facts::all(facts, &notes, lost_bytes);
        let run_ns = contexts().map(|c| c.last_ns).max().unwrap_or(0);
        let time = |trace, ticks| clock.ns(align.time(trace, ticks));
        meta.regions = regions.finish(time, run_ns);
        meta.unrecorded = sample::left_out(options.sample);
        if let Some((unrecorded, note)) = windows.finish(time) {
            meta.unrecorded = Some(unrecorded);
            meta.notes.insert(0, note);
        }
        let time = |stream, ticks| time(table.trace_of(stream), ticks);
        let progress = positions.into_iter();
        let progress = progress.filter_map(|one| one.finish(&executors, &frames, time));
        writer.set_progress(progress.collect());
        writer.set_sample(options.sample);
        writer.set_executors(executors.table);
        let totals = writer.finish(contexts(), meta.clone())?;
        let graph_bytes = std::fs::metadata(output).map_or(0, |m| m.len());
        Ok(Summary {
            contexts: totals.contexts,
            tasks: totals.tasks,
            edges: totals.edges,
            blocks: totals.blocks,
            accesses: totals.accesses,
            trace_bytes: meta.trace_bytes,
            graph_bytes,
            complete: meta.complete,
            unrecorded: meta.unrecorded,
            lost_bytes: meta.lost_bytes,
            check,
            duration_ns: totals.duration_ns,
            notes: meta.notes,
        })
    }
}

/// Does pass 2.
fn order<'a>(
    cutter: Cutter,
    facts: &[Facts],
    firsts: Vec<(Place, Place)>,
    (name, spill): (&'a str, &'a Arc<Spill>),
    options: &Options,
) -> Result<(Parts<'a>, Notes)> {
    options.report(Progress::Ordering);
    let memory = options.memory;
    let hz = facts.first().map_or(0, Facts::clock_hz);
    let mut notes = cutter.notes;
    let mut contexts = cutter.contexts.finish();
    let executors = cutter.executors.finish(&contexts);
    let events = cutter.events.finish()?;
    let zeros: Vec<_> = facts.iter().map(|f| f.zero().1).collect();
    let mut align = Align::new(&zeros);
    let alone = !align.is_common();
    if let (true, Some(Some(rank))) = (firsts.is_empty(), facts.first().map(|f| f.zero().0))
        && rank.size > 1
    {
        let (rank, size) = (rank.rank, rank.size);
        notes.remark(
            "one rank of an MPI run; give the traces of all ranks for a graph of the whole run",
            || format!("rank {rank} of {size}"),
        );
    }
    let mut out = Edges::new(spill, memory / 4, &mut contexts, &mut notes);
    rules::apply(&events, spill, &mut out)?;
    drop(events);
    cutter.messages.apply(&mut out, &mut align, alone)?;
    for (root, first) in firsts {
        out.edge(root, first)?;
    }
    options.check_cancelled()?;
    let Edges { edges, aliases, .. } = out;
    let (logs, edges, aliases) = (cutter.logs, edges.finish()?, aliases.finish()?);
    let mut ordered = coarsen::Ordered { logs, edges, aliases };
    if cutter.has_actions && !options.fine {
        let limits = coarsen::Limits::new(hz);
        ordered = coarsen::coarsen(ordered, &mut contexts, limits, spill, memory)?;
    }
    let coarsen::Ordered { logs, edges, aliases } = ordered;
    let aliases = renumber::resolve_aliases(&aliases, spill, memory / 8)?;
    let edges = renumber::resolve_sources(&edges, &aliases, spill, memory / 4)?;
    align.settle(&mut notes);
    options.check_cancelled()?;
    let clock = Clock::new(if align.is_common() { 0 } else { hz });
    let frames = cutter.frames;
    let parts = Parts {
        name,
        contexts,
        logs,
        frames,
        executors,
        edges,
        aliases,
        spill,
        memory,
        clock,
        align,
    };
    Ok((parts, notes))
}

fn refuse_same_file(input: &Input, output: &Path) -> Result<()> {
    if let Input::Path(path) = input {
        let same = path.canonicalize().ok().zip(output.canonicalize().ok());
        if same.is_some_and(|(a, b)| a == b) {
            return Err(Error::SameFile(path.clone()));
        }
    }
    Ok(())
}

//! The middle layer: from a recorded trace to a task graph (contech.txt, section 4.2).
//!
//! Memory is bounded by [`Options::memory`], not by the length of the trace. Three passes:
//!
//! 1. Chunks are encoded into frames in parallel, each on its own ([`encode`], [`pipeline`]); in file order
//!    each context's stream is cut into tasks ([`cutter`]). Frames go to the graph at once, drafts of tasks
//!    to a log per context ([`log`]), synchronisation events to an external sorter ([`sorter`]).
//! 2. Events sorted by object and ticket become edges between *places* ([`rules`]).
//! 3. Places become task ids ([`renumber`]); the breadth-first order is found ([`order`]); tasks, edges and
//!    order are written ([`assemble`]).
//!
//! Invariant: nothing here depends on how chunks of different contexts are interleaved in the file, nor on
//! the memory budget or the number of threads: the graph is the same but for the places of its frames.
#![forbid(unsafe_code)]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the map above is for those who read the source"
)]

mod assemble;
mod board;
mod check;
mod clock;
mod contexts;
mod cutter;
mod demangle;
mod draft;
mod dump;
mod edges;
mod encode;
mod equal;
mod error;
mod fences;
mod gate;
mod input;
mod log;
mod meta;
mod notes;
mod openmp;
mod options;
mod order;
mod paths;
mod pipeline;
mod place;
mod program;
mod queue;
mod regions;
mod renumber;
mod rules;
mod sorter;
mod sparse;
mod spill;
mod streams;
mod summary;
mod tape;
mod varint;

use std::path::Path;
use std::sync::Arc;

pub use dump::dump_trace;
pub use equal::{Equal, compare_graph};
pub use error::{Error, Result};
pub use input::Input;
pub use options::{Options, Progress};
pub use summary::{Check, Summary};

use crate::assemble::Parts;
use crate::check::Kept;
use crate::clock::Clock;
use crate::cutter::Cutter;
use crate::edges::Edges;
use crate::input::Source;
use crate::meta::Facts;
use crate::notes::Notes;
use crate::pipeline::{Item, Pipeline};
use crate::program::Program;
use crate::spill::Spill;
use taskgraph::GraphWriter;

/// Converts the trace `input` into the task graph file `output`.
///
/// The graph appears under its name only when it is whole; on an error nothing is left. A damaged or cut
/// trace is no error: what is whole becomes a graph with [`Summary::complete`] false.
///
/// # Errors
/// The input cannot be read or is no trace of this version, the output cannot be written, or the recorded
/// order of a complete trace contradicts itself.
pub fn convert(input: impl Into<Input>, output: &Path, options: &Options) -> Result<Summary> {
    let input = input.into();
    refuse_same_file(&input, output)?;
    let name = input.name();
    let Source {
        reader,
        size,
        modified_unix_ns,
    } = input.open()?;
    let memory = options.memory;
    let cancel = options.cancel.clone();
    let spill = Arc::new(Spill::beside(output));
    let (header, mut pipeline) =
        Pipeline::start(reader, &name, options.threads, memory / 2, &spill, cancel)?;
    let mut writer = GraphWriter::create(output, Arc::default())?;
    let mut cutter = Cutter::new(&name, &spill, memory / 8 * 3);
    let mut facts = Facts::new(header, modified_unix_ns);
    let (kept, program) = loop {
        let item = pipeline.next()?;
        facts.see(&item, &mut cutter.notes);
        match item {
            Item::Stream(chunk) => cutter.chunk(*chunk, &mut writer)?,
            Item::Modules(any) => cutter.keep_empty = !any,
            Item::Failed(source) => {
                return Err(Error::Input {
                    action: "read",
                    file: name,
                    source,
                    remedy: "check the disk or the program that writes the pipe",
                });
            }
            Item::Broken(error) => return Err(error),
            Item::End(_, program, kept) => {
                facts.see_program(&program);
                writer.set_info(Arc::clone(&program.info))?;
                writer.set_paths(&program.paths, |number| program.path(number))?;
                break (kept, program);
            }
            _ => {}
        }
        options.report(Progress::Reading {
            done: pipeline.position(),
            of: size,
        });
    };
    drop(pipeline);
    options.check_cancelled()?;
    cutter.finish()?;
    facts.check = compare(&kept, &program, &mut cutter.notes, options)?;
    drop((kept, program));
    order_and_write(cutter, facts, &spill, writer, &name, output, options)
}

/// The recording against its naive form, where there is one.
fn compare(
    kept: &Kept,
    program: &Program,
    notes: &mut Notes,
    options: &Options,
) -> Result<Option<Check>> {
    if !program.has_checked() {
        return Ok(None);
    }
    options.report(Progress::Comparing);
    check::compare(kept, program, options, notes).map(Some)
}

/// Passes 2 and 3.
fn order_and_write(
    cutter: Cutter,
    mut facts: Facts,
    spill: &Arc<Spill>,
    mut writer: GraphWriter,
    name: &str,
    output: &Path,
    options: &Options,
) -> Result<Summary> {
    options.report(Progress::Ordering);
    let memory = options.memory;
    let Cutter {
        contexts,
        logs,
        events,
        mut notes,
        lost_bytes,
        has_barriers,
        regions,
        ..
    } = cutter;
    let mut contexts = contexts.finish();
    let events = events.finish();
    let mut out = Edges::new(spill, memory / 4, has_barriers, &mut contexts, &mut notes);
    rules::apply(&events, spill, &mut out)?;
    drop(events);
    options.check_cancelled()?;
    let Edges {
        edges,
        aliases,
        tries,
        ..
    } = out;
    let (places, tries) = (aliases.finish(), tries.finish());
    let aliases = renumber::resolve_aliases(&places, spill, memory / 8)?;
    let mut by_target = edges.finish();
    if has_barriers {
        by_target = renumber::resolve_sources(&by_target, &aliases, spill, memory / 4)?;
    }
    options.check_cancelled()?;
    options.report(Progress::Writing);
    let parts = Parts {
        name,
        contexts: &contexts,
        logs: &logs,
        aliases: &aliases,
        tries: &tries,
        spill,
        memory,
        clock: Clock::new(facts.clock_hz()),
    };
    let complete = facts.is_complete(&notes);
    let contexts = parts.write(&by_target, complete, &mut notes, &mut writer)?;
    options.check_cancelled()?;
    let check = facts.check.take();
    let clock = Clock::new(facts.clock_hz());
    let mut meta = facts.meta(&notes, lost_bytes);
    let run_ns = contexts.iter().map(|c| c.last_ns).max().unwrap_or(0);
    meta.regions = regions.finish(clock, run_ns);
    let totals = writer.finish(contexts, meta.clone())?;
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
        lost_bytes: meta.lost_bytes,
        check,
        duration_ns: totals.duration_ns,
        notes: meta.notes,
    })
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

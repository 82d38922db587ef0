//! A trace for ui.perfetto.dev: a track for each context, its tasks and waits as slices,
//! dependences as flows, and the number of running contexts as a counter.
//!
//! The numbers of fields are those of Perfetto's messages (`perfetto_trace.proto`).

mod message;

use std::io::Write;

use anyhow::Result;
use taskgraph::{BlockCounts, ContextId, TaskId, TaskKind};

use self::message::Message;
use super::folded::program;
use super::lanes::{doing, each_slice, in_lanes, main_block};
use crate::analysis::source::Place;
use crate::analysis::{Graph, Segment, State, Task, sweep};
use crate::tables::{self, Numbered};
use crate::view::units::plural;

/// Names of what slices say of themselves; their numbers are the places in this list, counted
/// from 1.
const SAYS: [&str; 8] =
    ["task", "operation", "object", "blocks", "reads", "writes", "bytes", "context"];

/// What a packet is about: its field.
const EVENT: u64 = 11;
const TRACK: u64 = 60;
/// Kinds of events.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Numbers of the tracks: a process of each rank, the counter, then the lanes.
const COUNTED: u64 = 1 << 32;
const FIRST_LANE: u64 = 1 << 33;

/// Writes the trace.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> Result<()> {
    let lanes = in_lanes(graph);
    let mut writer = Writer {
        out,
        begun: false,
        names: Numbered::default(),
        places: Numbered::default(),
        interned: Message::default(),
    };
    writer.processes(graph, &lanes)?;
    writer.counter(graph)?;
    let mut counts = BlockCounts::new();
    for (at, lane) in (FIRST_LANE..).zip(&lanes) {
        let mut before = None;
        for &context in lane {
            each_slice(graph, context, |slice, waits_before| {
                writer.slice(graph, at, slice, waits_before, &mut before, &mut counts)
            })?;
        }
    }
    Ok(())
}

struct Writer<'o> {
    out: &'o mut dyn Write,
    begun: bool,
    names: Numbered<String>,
    places: Numbered<Place>,
    /// What the next packet must define.
    interned: Message,
}

impl Writer<'_> {
    /// Writes a packet with a message at a time.
    fn packet(&mut self, time_ns: Option<u64>, about: u64, message: Message) -> Result<()> {
        let mut packet = Message::default();
        if let Some(time_ns) = time_ns {
            packet = packet.number(8, time_ns);
        }
        packet = packet.number(10, 1).bytes(about, message);
        let interned = std::mem::take(&mut self.interned);
        if !interned.0.is_empty() {
            packet = packet.bytes(12, interned);
        }
        // The first one begins the sequence; all need what was interned before.
        let flags = if std::mem::replace(&mut self.begun, true) { 2 } else { 3 };
        let trace = Message::default().bytes(1, packet.number(13, flags));
        Ok(self.out.write_all(&trace.0)?)
    }

    /// The tracks of the processes and of the contexts.
    fn processes(&mut self, graph: &Graph, lanes: &[Vec<ContextId>]) -> Result<()> {
        for (iid, name) in (1..).zip(SAYS) {
            self.define(3, Message::default().number(1, iid).text(2, name));
        }
        let meta = graph.meta();
        let program = program(graph);
        let mut processes: Vec<(u64, String)> = vec![(pid(meta.pid), program.clone())];
        if !meta.ranks.is_empty() {
            let of = |(at, rank): (u64, &taskgraph::RankMeta)| {
                let name =
                    format!("{program} rank {} (pid {}, {})", rank.rank, rank.pid, rank.host);
                (at, name)
            };
            processes = (1..).zip(&meta.ranks).map(of).collect();
        }
        for (at, (pid, name)) in (1..).zip(&processes) {
            let mut process = Message::default().number(1, *pid).text(6, name);
            for word in &meta.command {
                process = process.bytes(2, word);
            }
            self.packet(None, TRACK, Message::default().number(1, at).bytes(3, process))?;
        }
        let shared = lanes.iter().any(|lane| lane.len() > 1);
        for (at, lane) in (0..).zip(lanes) {
            let Some(context) = lane.first().and_then(|&id| graph.context(id)) else {
                continue;
            };
            let process = usize::from(context.space).min(processes.len() - 1);
            let thread_name = if shared {
                format!("track {at}: {}", plural(lane.len() as u64, "context"))
            } else if context.name.is_empty() {
                format!("context {}", context.id)
            } else {
                format!("context {} {}", context.id, context.name)
            };
            let thread = Message::default()
                .number(1, processes[process].0)
                .number(2, at + 1)
                .text(5, &thread_name);
            let track = Message::default().number(1, FIRST_LANE + at).bytes(4, thread);
            self.packet(None, TRACK, track.number(5, process as u64 + 1))?;
        }
        Ok(())
    }

    /// How many contexts run, over time.
    fn counter(&mut self, graph: &Graph) -> Result<()> {
        let counter = Message::default().text(6, "contexts");
        let track = Message::default().number(1, COUNTED).text(2, "running contexts");
        self.packet(None, TRACK, track.number(5, 1).bytes(8, counter))?;
        let mut running = 0u64;
        let mut said = None;
        let mut last_ns = 0;
        let event = || Message::default().number(9, COUNTER).number(11, COUNTED);
        let value = |value| event().number(30, value);
        sweep(graph, |change| {
            // Several changes at one time are one.
            if change.at_ns > last_ns && said != Some(running) {
                self.packet(Some(last_ns), EVENT, value(running))?;
                said = Some(running);
            }
            last_ns = change.at_ns;
            running -= u64::from(change.from == Some(State::Running));
            running += u64::from(change.to == Some(State::Running));
            Ok(())
        })?;
        self.packet(Some(last_ns), EVENT, value(running))
    }

    /// A slice; `before` is the last task of the lane that executed blocks.
    fn slice<'g>(
        &mut self,
        graph: &'g Graph,
        track: u64,
        slice: &Segment<'g>,
        waits_before: bool,
        before: &mut Option<Task<'g>>,
        counts: &mut BlockCounts,
    ) -> Result<()> {
        let begins = slice.to_ns > slice.from_ns;
        let kind = if begins { BEGIN } else { INSTANT };
        let [mut event, mut end] =
            [kind, END].map(|kind| Message::default().number(9, kind).number(11, track));
        let task = &slice.task;
        let block = match waits_before {
            true => None,
            false => main_block(task, slice.call, counts)?,
        };
        let mut place = block.map(|block| Place::of_block(graph.info(), block));
        let (category, name) = match slice.state {
            State::Running => (task.kind().name(), doing(task, place.as_ref())),
            State::Waiting(cause) => {
                if place.is_none()
                    && let Some(block) =
                        before.as_ref().map(Task::last_block).transpose()?.flatten()
                {
                    place = Some(Place::of_call_or_block(graph.info(), block).0);
                }
                ("wait", format!("waits: {}", cause.name()))
            }
        };
        event = event.number(10, self.name(&name)).text(22, category);
        if let Some(place) = place.and_then(|place| self.place(place)) {
            event = event.number(34, place);
        }
        let id = task.id();
        if waits_before {
            event = number(event, "context", id.context.get().into());
        } else {
            event = about(event, task);
            for to in task.dependents()? {
                event = event.fixed(47, flow(id, to));
            }
            for &from in task.stored_dependencies() {
                // A dependence that arrives while the task waits ends the wait.
                let late = begins && task.other(from)?.end_ns() > slice.from_ns;
                let at = if late { &mut end } else { &mut event };
                *at = std::mem::take(at).fixed(48, flow(from, id));
            }
            if task.block_count() > 0 {
                *before = Some(task.clone());
            }
        }
        self.packet(Some(slice.from_ns), EVENT, event)?;
        if begins {
            self.packet(Some(slice.to_ns), EVENT, end)?;
        }
        Ok(())
    }

    /// Lets the next packet define a name or a place, in a field of its own kind.
    fn define(&mut self, field: u64, what: Message) {
        self.interned = std::mem::take(&mut self.interned).bytes(field, what);
    }

    /// The number of a slice's name.
    fn name(&mut self, name: &str) -> u64 {
        if let Some(known) = self.names.get_index_of(name) {
            return known as u64 + 1;
        }
        let iid = self.names.insert_full(name.to_owned()).0 as u64 + 1;
        self.define(2, Message::default().number(1, iid).text(2, name));
        iid
    }

    /// The number of a place, if it is known.
    fn place(&mut self, place: Place) -> Option<u64> {
        if place == Place::default() {
            return None;
        }
        let (at, is_new) = self.places.insert_full(place);
        let iid = at as u64 + 1;
        if is_new {
            let Place { function, file, line } = &self.places[at];
            let mut named = Message::default().number(1, iid).text(2, file).text(3, function);
            if *line > 0 {
                named = named.number(4, (*line).into());
            }
            self.define(4, named);
        }
        Some(iid)
    }
}

/// What a task says of itself, in its event.
fn about(mut event: Message, task: &Task<'_>) -> Message {
    event = text(event, "task", &task.id().to_string());
    if task.kind() != TaskKind::Work {
        event = text(event, "operation", task.op().name());
        return text(event, "object", &format!("{:#x}", task.object()));
    }
    event = number(event, "blocks", task.block_count());
    event = number(event, "reads", task.read_count());
    event = number(event, "writes", task.write_count());
    number(event, "bytes", task.bytes_accessed())
}

fn says(name: &str) -> Message {
    let at = SAYS.iter().position(|known| *known == name);
    Message::default().number(1, at.map_or(0, |at| at as u64 + 1))
}

fn number(event: Message, name: &str, value: u64) -> Message {
    event.bytes(4, says(name).number(3, value))
}

fn text(event: Message, name: &str, value: &str) -> Message {
    event.bytes(4, says(name).bytes(6, value))
}

/// The number of an edge: a hash, with which no two of a trace's edges are likely to clash.
fn flow(from: TaskId, to: TaskId) -> u64 {
    let [from, to] = [from, to].map(tables::number);
    let mixed = from.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ to.rotate_left(29);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 29
}

fn pid(pid: u32) -> u64 {
    i32::try_from(pid).unwrap_or(1).max(1).unsigned_abs().into()
}

//! A trace for ui.perfetto.dev: a track for each context, its tasks and waits as slices,
//! dependences as flows, and the number of running contexts as a counter.

mod message;

use std::io::Write;

use anyhow::Result;
use prost::Message;
use rustc_hash::FxHashMap;
use taskgraph::{BlockCounts, ContextId, TaskId, TaskKind};

use self::message::{
    Annotation, BEGIN, COUNTER, Counter, END, INSTANT, InternedData, Name, Process, SourceLocation,
    Thread, Trace, TracePacket, TrackDescriptor, TrackEvent,
};
use super::folded::program;
use super::lanes::{doing, each_slice, in_lanes, main_block};
use crate::analysis::source::Place;
use crate::analysis::{Graph, Segment, State, Task, sweep};
use crate::view::units::plural;

/// Names of what slices say of themselves; their numbers are the places in this list, counted
/// from 1.
const SAYS: [&str; 8] =
    ["task", "operation", "object", "blocks", "reads", "writes", "bytes", "context"];

/// Numbers of the tracks: a process of each rank, the counter, then the lanes.
const COUNTED: u64 = 1 << 32;
const FIRST_LANE: u64 = 1 << 33;

/// Writes the trace.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> Result<()> {
    let lanes = in_lanes(graph);
    let mut writer = Writer {
        out,
        buffer: Vec::new(),
        names: FxHashMap::default(),
        places: FxHashMap::default(),
        interned: InternedData::default(),
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
    buffer: Vec<u8>,
    names: FxHashMap<String, u64>,
    places: FxHashMap<Place, u64>,
    /// What the next packet must define.
    interned: InternedData,
}

impl Writer<'_> {
    fn packet(&mut self, mut packet: TracePacket) -> Result<()> {
        packet.trusted_packet_sequence_id = 1;
        if packet.sequence_flags == 0 {
            packet.sequence_flags = 2; // It needs what was interned before.
        }
        let interned = std::mem::take(&mut self.interned);
        packet.interned_data = (interned != InternedData::default()).then_some(interned);
        let trace = Trace { packet: vec![packet] };
        self.buffer.clear();
        trace.encode(&mut self.buffer)?;
        Ok(self.out.write_all(&self.buffer)?)
    }

    fn event(&mut self, timestamp: u64, event: TrackEvent) -> Result<()> {
        self.packet(TracePacket {
            timestamp: Some(timestamp),
            track_event: Some(event),
            ..TracePacket::default()
        })
    }

    fn track(&mut self, track: TrackDescriptor) -> Result<()> {
        self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })
    }

    /// The tracks of the processes and of the contexts.
    fn processes(&mut self, graph: &Graph, lanes: &[Vec<ContextId>]) -> Result<()> {
        let says = (1..).zip(SAYS).map(|(iid, name)| Name { iid, name: name.to_owned() });
        self.interned.debug_annotation_names = says.collect();
        let meta = graph.meta();
        let program = program(graph);
        let mut processes: Vec<(i32, String)> = vec![(pid(meta.pid), program.clone())];
        if !meta.ranks.is_empty() {
            let of = |(at, rank): (i32, &taskgraph::RankMeta)| {
                let name =
                    format!("{program} rank {} (pid {}, {})", rank.rank, rank.pid, rank.host);
                (at, name)
            };
            processes = (1..).zip(&meta.ranks).map(of).collect();
        }
        for (at, (pid, name)) in (1..).zip(&processes) {
            self.packet(TracePacket {
                sequence_flags: if at == 1 { 3 } else { 2 }, // The first one begins the sequence.
                track_descriptor: Some(TrackDescriptor {
                    uuid: at,
                    process: Some(Process {
                        pid: *pid,
                        cmdline: meta.command.clone(),
                        process_name: name.clone(),
                    }),
                    ..TrackDescriptor::default()
                }),
                ..TracePacket::default()
            })?;
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
            self.track(TrackDescriptor {
                uuid: FIRST_LANE + at,
                parent_uuid: process as u64 + 1,
                thread: Some(Thread {
                    pid: processes[process].0,
                    tid: i32::try_from(at + 1).unwrap_or(i32::MAX),
                    thread_name,
                }),
                ..TrackDescriptor::default()
            })?;
        }
        Ok(())
    }

    /// How many contexts run, over time.
    fn counter(&mut self, graph: &Graph) -> Result<()> {
        self.track(TrackDescriptor {
            uuid: COUNTED,
            name: "running contexts".to_owned(),
            parent_uuid: 1,
            counter: Some(Counter { unit_name: "contexts".to_owned() }),
            ..TrackDescriptor::default()
        })?;
        let mut running = 0i64;
        let mut said = None;
        let mut last_ns = 0;
        let value = |value| TrackEvent {
            kind: COUNTER,
            track_uuid: COUNTED,
            counter_value: Some(value),
            ..TrackEvent::default()
        };
        sweep(graph, |change| {
            // Several changes at one time are one.
            if change.at_ns > last_ns && said != Some(running) {
                self.event(last_ns, value(running))?;
                said = Some(running);
            }
            last_ns = change.at_ns;
            running -= i64::from(change.from == Some(State::Running));
            running += i64::from(change.to == Some(State::Running));
            Ok(())
        })?;
        self.event(last_ns, value(running))?;
        Ok(())
    }

    /// A slice; `before` is the last task of the lane that executed blocks.
    fn slice<'g>(
        &mut self,
        graph: &'g Graph,
        track_uuid: u64,
        slice: &Segment<'g>,
        waits_before: bool,
        before: &mut Option<Task<'g>>,
        counts: &mut BlockCounts,
    ) -> Result<()> {
        let mut event = TrackEvent {
            kind: if slice.to_ns > slice.from_ns { BEGIN } else { INSTANT },
            track_uuid,
            ..TrackEvent::default()
        };
        let mut end = TrackEvent { kind: END, track_uuid, ..TrackEvent::default() };
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
                    let call = Place::of_call(graph.info(), block).map(|call| call.0);
                    place = call.or_else(|| Some(Place::of_block(graph.info(), block)));
                }
                ("wait", format!("waits: {}", cause.name()))
            }
        };
        event.categories = vec![category.to_owned()];
        event.name_iid = Some(self.name(&name));
        event.source_location_iid = place.and_then(|place| self.place(place));
        if waits_before {
            let context = task.id().context.get();
            event.debug_annotations = vec![number("context", context.into())];
        } else {
            event.debug_annotations = about(task);
            flows(slice.from_ns, task, &mut event, &mut end)?;
            if task.block_count() > 0 {
                *before = Some(task.clone());
            }
        }
        let begins = event.kind == BEGIN;
        self.event(slice.from_ns, event)?;
        if begins {
            self.event(slice.to_ns, end)?;
        }
        Ok(())
    }

    /// The number of a slice's name.
    fn name(&mut self, name: &str) -> u64 {
        if let Some(&known) = self.names.get(name) {
            return known;
        }
        let iid = self.names.len() as u64 + 1;
        self.names.insert(name.to_owned(), iid);
        self.interned.event_names.push(Name { iid, name: name.to_owned() });
        iid
    }

    /// The number of a place, if it is known.
    fn place(&mut self, place: Place) -> Option<u64> {
        if place == Place::default() {
            return None;
        }
        if let Some(&known) = self.places.get(&place) {
            return Some(known);
        }
        let iid = self.places.len() as u64 + 1;
        self.interned.source_locations.push(SourceLocation {
            iid,
            file_name: place.file.clone(),
            function_name: place.function.clone(),
            line_number: place.line,
        });
        self.places.insert(place, iid);
        Some(iid)
    }
}

/// The dependences of a task. One that arrives while the task waits ends the wait.
fn flows(
    from_ns: u64,
    task: &Task<'_>,
    event: &mut TrackEvent,
    end: &mut TrackEvent,
) -> Result<()> {
    let id = task.id();
    let to = task.dependents()?.into_iter();
    event.flow_ids.extend(to.map(|to| flow(id, to)));
    for &from in task.stored_dependencies() {
        let late = event.kind == BEGIN && task.other(from)?.end_ns() > from_ns;
        let at = if late { &mut *end } else { &mut *event };
        at.terminating_flow_ids.push(flow(from, id));
    }
    Ok(())
}

/// What a task says of itself.
fn about(task: &Task<'_>) -> Vec<Annotation> {
    let mut said = vec![text("task", task.id().to_string())];
    if task.kind() == TaskKind::Work {
        said.extend([
            number("blocks", task.block_count()),
            number("reads", task.read_count()),
            number("writes", task.write_count()),
            number("bytes", task.bytes_accessed()),
        ]);
    } else {
        said.push(text("operation", task.op().name().to_owned()));
        said.push(text("object", format!("{:#x}", task.object())));
    }
    said
}

fn says(name: &str) -> u64 {
    let at = SAYS.iter().position(|known| *known == name);
    at.map_or(0, |at| at as u64 + 1)
}

fn number(name: &str, value: u64) -> Annotation {
    Annotation { name_iid: says(name), uint_value: Some(value), string_value: None }
}

fn text(name: &str, value: String) -> Annotation {
    Annotation { name_iid: says(name), uint_value: None, string_value: Some(value) }
}

/// The number of an edge: a hash, with which no two of a trace's edges are likely to clash.
fn flow(from: TaskId, to: TaskId) -> u64 {
    let bits = |id: TaskId| u64::from(id.context.get()) << 32 | u64::from(id.seq);
    let mixed = bits(from).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ bits(to).rotate_left(29);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 29
}

fn pid(pid: u32) -> i32 {
    i32::try_from(pid).unwrap_or(1).max(1)
}

//! The format of the Firefox profiler: a lane for each context with samples of what it ran, and markers for its waits.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, MarkerFieldFlags,
    MarkerFieldFormat, MarkerTiming, ProcessHandle, Profile as Document, ReferenceTimestamp,
    SamplingInterval, StaticSchemaMarker, StaticSchemaMarkerField, StringHandle, ThreadHandle,
    Timestamp,
};
use rustc_hash::FxHashMap;
use taskgraph::ContextId;

use super::folded::program;
use super::lanes::{Plan, Slice, What};
use super::profile::{self, Profile};
use crate::analysis::{Graph, State};
use crate::view::units::plural;

/// A wait, or several slices in one.
#[derive(Clone, Debug)]
struct Shown {
    name: StringHandle,
    about: StringHandle,
    category: CategoryHandle,
}

impl StaticSchemaMarker for Shown {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "contech";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.about}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.name} {marker.data.about}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[StaticSchemaMarkerField {
        key: "about",
        label: "About",
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }];

    fn name(&self, _: &mut Document) -> StringHandle {
        self.name
    }

    fn category(&self, _: &mut Document) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, _: u32) -> StringHandle {
        self.about
    }

    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}

/// Writes the profile.
pub(super) fn write(
    out: &mut dyn Write,
    graph: &Graph,
    plan: &Plan,
    profile: &Profile,
) -> Result<()> {
    let meta = graph.meta();
    let start = Duration::from_nanos(meta.start_unix_ns);
    let mut document = Document::new(
        &program(graph),
        ReferenceTimestamp::from_duration_since_unix_epoch(start),
        SamplingInterval::from_nanos(profile.interval_ns),
    );
    document.set_symbolicated(true);
    let process = document.add_process(&meta.command.join(" "), meta.pid, at(0));
    let waiting = document.add_category("Waiting", CategoryColor::Red);
    let merged = document.add_category("Merged", CategoryColor::Gray);
    let threads = threads(&mut document, graph, plan, process);
    for (lane, &thread) in threads.iter().enumerate() {
        for slice in plan.slices(graph, lane) {
            let slice = slice?;
            let (name, about, category) = match said(&slice) {
                Some((name, about, false)) => (name, about, waiting),
                Some((name, about, true)) => (name, about, merged),
                None => continue,
            };
            let marker = Shown {
                name: document.intern_string(&name),
                about: document.intern_string(&about),
                category,
            };
            let timing = MarkerTiming::Interval(at(slice.from_ns), at(slice.to_ns));
            document.add_marker(thread, timing, marker);
        }
    }
    let lanes = plan.lanes.iter().zip(&threads);
    let lane: FxHashMap<ContextId, ThreadHandle> = lanes
        .flat_map(|(lane, &thread)| lane.iter().map(move |&context| (context, thread)))
        .collect();
    let running = document.add_category("Running", CategoryColor::Green);
    let spent = CpuDelta::from_nanos(profile.interval_ns);
    for sample in &profile.samples {
        let Some(&thread) = lane.get(&sample.context) else {
            continue;
        };
        let mut stack = None;
        for (node, _) in profile.stack(sample.node, 0) {
            let function = profile.nodes[node as usize].function;
            let name = document.intern_string(&profile::name(graph.info(), function));
            let frame = FrameInfo {
                frame: Frame::Label(name),
                category_pair: running.into(),
                flags: FrameFlags::empty(),
            };
            let frame = document.intern_frame(thread, frame);
            stack = Some(document.intern_stack(thread, stack, frame));
        }
        document.add_sample(thread, at(sample.at_ns), stack, spent, 1);
    }
    // The profiler shows nothing before the first sample of all threads, and nothing behind the last.
    let first = graph.contexts().map(|context| context.first_ns).min();
    let last = graph.contexts().map(|context| context.last_ns).max();
    if let Some(&thread) = threads.first() {
        for at_ns in first.into_iter().chain(last) {
            document.add_sample(thread, at(at_ns), None, CpuDelta::ZERO, 0);
        }
    }
    serde_json::to_writer(out, &document)?;
    Ok(())
}

fn threads(
    document: &mut Document,
    graph: &Graph,
    plan: &Plan,
    process: ProcessHandle,
) -> Vec<ThreadHandle> {
    let mut threads = Vec::new();
    for (number, lane) in (0u32..).zip(&plan.lanes) {
        let contexts = lane.iter().filter_map(|&id| graph.context(id));
        let (first, last) = contexts.fold((u64::MAX, 0), |(first, last), context| {
            (first.min(context.first_ns), last.max(context.last_ns))
        });
        let thread = document.add_thread(process, number + 1, at(first), number == 0);
        document.set_thread_end_time(thread, at(last));
        document.set_thread_show_markers_in_timeline(thread, true);
        let name = match lane[..] {
            [context] => format!("context {context}"),
            _ => plural(lane.len() as u64, "context"),
        };
        document.set_thread_name(thread, &name);
        threads.push(thread);
    }
    threads
}

/// The name of a slice that is a marker, what there is to say of it, and whether it is merged.
fn said(slice: &Slice<'_>) -> Option<(String, String, bool)> {
    match &slice.what {
        What::Gap { cause, context } => Some((
            format!("waits: {}", cause.name()),
            format!("context {context}"),
            false,
        )),
        What::Task {
            task,
            state: State::Waiting(cause),
            ..
        } => {
            let about = format!(
                "task {} {} {:#x}",
                task.id(),
                task.op().name(),
                task.object()
            );
            Some((format!("waits: {}", cause.name()), about, false))
        }
        What::Task { .. } => None,
        What::Merged {
            tasks,
            running_ns,
            waiting_ns,
        } => {
            let about = format!("{running_ns} ns running, {waiting_ns} ns waiting");
            Some((plural(*tasks, "task"), about, true))
        }
    }
}

fn at(ns: u64) -> Timestamp {
    Timestamp::from_nanos_since_reference(ns)
}

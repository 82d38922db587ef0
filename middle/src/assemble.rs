//! Pass 3 finds the breadth-first order, then writes the tasks with their edges to the graph in
//! (context, seq) order.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taskgraph::{Context, ContextId, FrameRef, GraphWriter, SyncOp, TaskId};

use crate::align::Align;
use crate::clock::Clock;
use crate::contexts::{ContextRecord, ContextTable};
use crate::draft::{Draft, Drafts};
use crate::error::{Error, Result};
use crate::executors::Executors;
use crate::log::Logs;
use crate::notes::Notes;
use crate::order::{ContextTasks, Skeleton, Stuck, breadth_first};
use crate::place::Place;
use crate::renumber::{Named, Renumber, task_bits, task_from_bits};
use crate::sorter::{Lookahead, Sorted, Sorter};
use crate::spill::Spill;
use crate::writing::{Outgoing, beside};

/// What passes 1 and 2 found.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) name: &'a str,
    pub(crate) contexts: ContextTable,
    pub(crate) logs: Logs,
    /// Where the frames are, by the numbers that drafts have for them.
    pub(crate) frames: Vec<FrameRef>,
    /// Who executed them, by the numbers that drafts have.
    pub(crate) executors: Executors,
    /// `[place, task before it]`.
    pub(crate) edges: Sorted<2>,
    /// `[arrival, barrier task]`.
    pub(crate) aliases: Sorted<2>,
    pub(crate) spill: &'a Arc<Spill>,
    pub(crate) memory: usize,
    /// Converts times that [`Parts::align`] has not made nanoseconds.
    pub(crate) clock: Clock,
    pub(crate) align: Align,
}

impl Parts<'_> {
    /// Writes everything except the frames and the contexts.
    pub(crate) fn write(
        &self,
        complete: bool,
        notes: &mut Notes,
        writer: &mut GraphWriter,
    ) -> Result<Written> {
        beside(writer, |out| self.put_all(complete, notes, out))
    }

    fn put_all(
        &self,
        complete: bool,
        notes: &mut Notes,
        outgoing: &mut Outgoing,
    ) -> Result<Written> {
        let mut skeleton = Skeleton::new(self.spill, self.memory / 4);
        let mut out = Output {
            parts: self,
            outgoing,
            dependents: Sorter::new(self.spill, self.memory / 4),
            creators: Vec::new(),
        };
        let mut collect = Collect {
            edges: Lookahead::new(&self.edges)?,
            contexts: &self.contexts,
            arrivals: self.arrivals()?,
            dependencies: Vec::new(),
        };
        self.each_task(|id, place, draft| {
            let dependencies = collect.of(place, draft)?;
            skeleton.push(id, draft.start, dependencies)?;
            // A complete trace loses no edges, so its tasks are final here.
            if complete { out.task(id, draft, dependencies) } else { Ok(()) }
        })?;
        let budget = self.memory / 4;
        let emit = |id| out.outgoing.order(id);
        let dropped = match breadth_first(&skeleton, self.spill, budget, !complete, emit)? {
            Ok(dropped) => dropped,
            Err(stuck) => return Err(self.cycle(stuck)?),
        };
        if !dropped.is_empty() {
            let what = "dependencies that contradict others were dropped";
            notes.damage(what, String::new);
        }
        if !complete {
            // The order is handed over before the tasks that are put now.
            out.outgoing.hand_over()?;
            let mut dropped = Lookahead::new(&dropped)?;
            let mut cursor = skeleton.read_all();
            self.each_task(|id, _, draft| {
                cursor.next(&skeleton, 1 << 16)?;
                dropped.take(task_bits(id), |from| {
                    cursor.dependencies.retain(|d| task_bits(*d) != from);
                })?;
                out.task(id, draft, &cursor.dependencies)
            })?;
        }
        let written = Written { parts: skeleton.into_parts(), creators: out.creators };
        put_dependents(&out.dependents.finish()?, out.outgoing)?;
        Ok(written)
    }

    /// Calls `f` with every task and its place, in the order of (context, seq).
    fn each_task(&self, mut f: impl FnMut(TaskId, Place, &mut Draft) -> Result<()>) -> Result<()> {
        let mut names = Renumber::new(&self.aliases)?;
        let mut draft = Draft::default();
        for (context, _) in self.contexts.iter() {
            let trace = self.contexts.trace_of(context);
            let mut drafts = Drafts::new(self.logs.pages(context)?);
            let mut position = 0;
            while drafts.next(&mut draft)? {
                let place = Place::new(context, position);
                position += 1;
                draft.start = time(&self.align, (context, trace), draft.start);
                draft.end = time(&self.align, (context, trace), draft.end);
                if let Named::Task(id) = names.name(place)? {
                    f(id, place, &mut draft)?;
                }
            }
        }
        Ok(())
    }

    /// Counts, for each context, the places that are names of other contexts' tasks.
    fn arrivals(&self) -> Result<FxHashMap<u32, u32>> {
        let mut arrivals = FxHashMap::default();
        let mut aliases = self.aliases.iter()?;
        while let Some([arrival, _]) = aliases.next()? {
            *arrivals.entry(Place::from_bits(arrival).context()).or_default() += 1;
        }
        Ok(arrivals)
    }

    /// The error for a contradiction. It says where in the trace the waiting event is.
    fn cycle(&self, stuck: Stuck) -> Result<Error> {
        let context = stuck.task.context.get();
        let mut names = Renumber::new(&self.aliases)?;
        let mut drafts = Drafts::new(self.logs.pages(context)?);
        let (mut draft, mut event) = (Draft::default(), 0);
        while drafts.next(&mut draft)? {
            if names.name(Place::new(context, event))? == Named::Task(stuck.task) {
                break;
            }
            event += 1;
        }
        Ok(Error::Cycle {
            file: self.name.to_owned(),
            context,
            task: stuck.task.to_string(),
            event,
            offset: drafts.chunk,
            needed: stuck.needs.to_string(),
        })
    }
}

/// Finds the dependencies of tasks in order.
struct Collect<'a> {
    edges: Lookahead<'a>,
    contexts: &'a ContextTable,
    arrivals: FxHashMap<u32, u32>,
    dependencies: Vec<TaskId>,
}

impl Collect<'_> {
    /// The last task of a context.
    fn last(&self, context: u32) -> Option<TaskId> {
        let arrivals = self.arrivals.get(&context).copied().unwrap_or(0);
        let tasks = self.contexts.get(context)?.places.checked_sub(arrivals)?;
        Some(TaskId::new(ContextId::new(context), tasks.checked_sub(1)?))
    }

    fn of(&mut self, place: Place, draft: &Draft) -> Result<&[TaskId]> {
        let dependencies = &mut self.dependencies;
        dependencies.clear();
        // Edges to an arrival are skipped, because each of them also exists as an edge to the
        // barrier's task.
        self.edges.take(place.bits(), |from| dependencies.push(task_from_bits(from)))?;
        if draft.op == SyncOp::ThreadJoin {
            // The rule knows the child's last place, which may be another name of a barrier's task.
            let child = u32::try_from(draft.object).ok();
            let last = child.and_then(|c| self.last(c));
            self.dependencies.extend(last);
            self.dependencies.sort_unstable();
        }
        // An alias may name a task of this same context, and edges in program order are not stored.
        let dependencies = &mut self.dependencies;
        dependencies.retain(|d| d.context.get() != place.context());
        dependencies.dedup();
        Ok(dependencies)
    }
}

struct Output<'a> {
    parts: &'a Parts<'a>,
    outgoing: &'a mut Outgoing,
    /// `[from, to]`.
    dependents: Sorter<2>,
    /// The tasks that created contexts, by ascending context.
    creators: Vec<(u32, TaskId)>,
}

impl Output<'_> {
    fn task(&mut self, id: TaskId, draft: &mut Draft, dependencies: &[TaskId]) -> Result<()> {
        for d in dependencies {
            self.dependents.push([task_bits(*d), task_bits(id)])?;
        }
        if let (0, Some(creator)) = (id.seq, dependencies.first()) {
            self.creators.push((id.context.get(), *creator));
        }
        for span in &mut draft.spans {
            let number = usize::try_from(span.frame.0).ok();
            let place = number.and_then(|n| self.parts.frames.get(n));
            span.frame = *place
                .filter(|place| **place != FrameRef::default())
                .ok_or_else(|| Error::internal("a frame that did not end"))?;
        }
        let executor = self.parts.executors.of(draft.executor);
        let executor = executor.ok_or_else(|| Error::internal("a task that nobody executed"))?;
        let clock = self.parts.clock;
        self.outgoing.task(dependencies, |record| {
            record.id = id;
            record.executor = executor;
            record.kind = draft.kind;
            record.op = draft.op;
            record.object = draft.object;
            record.start_ns = clock.ns(draft.start);
            record.end_ns = clock.ns(draft.end);
            record.counts = draft.counts;
            std::mem::swap(&mut record.frames, &mut draft.spans);
        })
    }
}

/// Converts a tick of a context to the clock that all contexts share.
fn time(align: &Align, (context, trace): (u32, u16), ticks: u64) -> u64 {
    // The root context of several traces begins before all others.
    if context == 0 && align.is_common() {
        return 0;
    }
    align.time(trace, ticks)
}

/// What is left when all tasks are written.
#[derive(Debug)]
pub(crate) struct Written {
    parts: Vec<ContextTasks>,
    /// The tasks that created contexts, by ascending context.
    creators: Vec<(u32, TaskId)>,
}

impl Written {
    /// The contexts.
    pub(crate) fn contexts<'a>(
        &'a self,
        table: &'a ContextTable,
        clock: Clock,
        align: &'a Align,
    ) -> impl Iterator<Item = Context> + 'a {
        let mut creators = self.creators.iter().peekable();
        let context = move |((context, state), part): ((u32, &ContextRecord), &ContextTasks)| {
            let trace = table.trace_of(context);
            let ns = |ticks| clock.ns(time(align, (context, trace), ticks));
            Context {
                id: ContextId::new(context),
                task_count: part.tasks,
                first_ns: ns(state.first),
                last_ns: ns(state.last.max(state.clock)),
                creator: creators.next_if(|c| c.0 == context).map(|c| c.1),
                name: String::new(),
                flags: flags(state),
                space: trace,
            }
        };
        table.iter().zip(&self.parts).map(context)
    }
}

fn flags(state: &ContextRecord) -> u8 {
    let mut flags = 0;
    if state.announced {
        flags |= Context::ANNOUNCED;
    }
    if state.joined {
        flags |= Context::JOINED;
    }
    if state.rings {
        flags |= Context::RINGS;
    }
    if !state.started || !state.ended {
        flags |= Context::CUT;
    }
    flags
}

fn put_dependents(edges: &Sorted<2>, out: &mut Outgoing) -> Result<()> {
    let mut all = edges.iter()?;
    let mut next = all.next()?;
    let mut to = Vec::new();
    while let Some([from, _]) = next {
        to.clear();
        while let Some([_, target]) = next.filter(|edge| edge[0] == from) {
            to.push(task_from_bits(target));
            next = all.next()?;
        }
        out.dependents(task_from_bits(from), &to)?;
    }
    Ok(())
}

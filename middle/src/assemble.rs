//! Pass 3: the breadth-first order, then tasks in (context, seq) order with their edges, to the graph.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taskgraph::{Context, ContextId, FrameSpan, GraphWriter, SyncOp, TaskId, TaskKind, TaskRecord};

use crate::clock::Clock;
use crate::contexts::Contexts;
use crate::draft::{Draft, Drafts};
use crate::error::{Error, Result};
use crate::log::Logs;
use crate::notes::Notes;
use crate::order::{Outcome, Skeleton, Stuck, breadth_first};
use crate::place::Place;
use crate::renumber::{Named, Renumber, task_bits, task_from_bits};
use crate::sorter::{Merge, Sorted, Sorter};
use crate::spill::Spill;

/// What passes 1 and 2 found.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) name: &'a str,
    pub(crate) contexts: &'a Contexts,
    pub(crate) logs: &'a Logs,
    /// `[arrival, barrier task]`.
    pub(crate) aliases: &'a Sorted<2>,
    /// `[place, operation]`.
    pub(crate) tries: &'a Sorted<2>,
    pub(crate) spill: &'a Arc<Spill>,
    pub(crate) memory: usize,
    pub(crate) clock: Clock,
}

impl Parts<'_> {
    /// Writes everything but the frames; `edges` are `[place, task before it]`. Returns the contexts.
    pub(crate) fn write(
        &self,
        edges: &Sorted<2>,
        complete: bool,
        notes: &mut Notes,
        writer: &mut GraphWriter,
    ) -> Result<Vec<Context>> {
        let skeleton = self.skeleton(edges)?;
        let budget = self.memory / 4;
        let emit = |id| Ok(writer.put_order(id)?);
        let dropped = match breadth_first(&skeleton, self.spill, budget, !complete, emit)? {
            Outcome::Whole(dropped) => dropped,
            Outcome::Contradiction(stuck) => return Err(self.cycle(stuck)?),
        };
        if !dropped.is_empty() {
            notes.damage(
                "dependencies that contradict others were dropped",
                String::new,
            );
        }
        let (contexts, dependents) = self.tasks(&skeleton, &dropped, writer)?;
        put_dependents(&dependents, writer)?;
        Ok(contexts)
    }

    /// Starts and dependencies of all tasks.
    fn skeleton(&self, edges: &Sorted<2>) -> Result<Skeleton> {
        let mut skeleton = Skeleton::new(self.spill, self.memory / 4);
        let mut names = Renumber::new(self.aliases)?;
        let mut edges = Lookahead::new(edges)?;
        let last = self.last_tasks()?;
        let (mut draft, mut dependencies) = (Draft::default(), Vec::new());
        for (context, _) in self.contexts.iter() {
            skeleton.begin(ContextId::new(context));
            let mut drafts = Drafts::new(self.logs.pages(context));
            let mut position = 0;
            while drafts.next(&mut draft)? {
                let place = Place::new(context, position);
                position += 1;
                dependencies.clear();
                // An edge to an arrival is also there as the edge to the barrier's task.
                edges.take(place.bits(), |from| dependencies.push(task_from_bits(from)))?;
                if let Named::Task(_) = names.name(place)? {
                    if draft.kind == TaskKind::Join {
                        // The rule knows the child's last place: perhaps a barrier's task by another name.
                        let child = u32::try_from(draft.object).ok();
                        dependencies.extend(child.and_then(|c| last.get(&c)));
                        dependencies.sort_unstable();
                    }
                    // An alias may stand for a task of this very context: program order.
                    dependencies.retain(|d| d.context.get() != context);
                    dependencies.dedup();
                    skeleton.push(draft.start, &dependencies)?;
                }
            }
        }
        Ok(skeleton)
    }

    /// The last task of each context.
    fn last_tasks(&self) -> Result<FxHashMap<u32, TaskId>> {
        let mut tasks: FxHashMap<u32, u32> = self
            .contexts
            .iter()
            .map(|(c, state)| (c, state.places))
            .collect();
        let mut aliases = self.aliases.iter()?;
        while let Some([arrival, _]) = aliases.next()? {
            let context = Place::from_bits(arrival).context();
            tasks.entry(context).and_modify(|n| *n -= 1);
        }
        let last = tasks
            .into_iter()
            .filter_map(|(c, n)| Some((c, TaskId::new(ContextId::new(c), n.checked_sub(1)?))));
        Ok(last.collect())
    }

    /// Writes the tasks; returns the contexts and the edges by source.
    fn tasks(
        &self,
        skeleton: &Skeleton,
        dropped: &Sorted<2>,
        writer: &mut GraphWriter,
    ) -> Result<(Vec<Context>, Sorted<2>)> {
        let mut names = Renumber::new(self.aliases)?;
        let mut tries = Lookahead::new(self.tries)?;
        let mut dropped = Lookahead::new(dropped)?;
        let mut dependents = Sorter::<2>::new(self.spill, self.memory / 4);
        let mut contexts = Vec::with_capacity(self.contexts.len());
        let (mut draft, mut record) = (Draft::default(), TaskRecord::default());
        for ((context, state), part) in self.contexts.iter().zip(skeleton.parts()) {
            let mut cursor = skeleton.read(part);
            let mut drafts = Drafts::new(self.logs.pages(context));
            let mut position = 0;
            let mut creator = None;
            while drafts.next(&mut draft)? {
                let place = Place::new(context, position);
                position += 1;
                tries.take(place.bits(), |op| {
                    draft.op = SyncOp::from_u8(op.to_le_bytes()[0]).unwrap_or(draft.op);
                })?;
                let Named::Task(id) = names.name(place)? else {
                    continue;
                };
                cursor.next(skeleton, 1 << 16)?;
                let to = task_bits(id);
                dropped.take(to, |from| {
                    cursor.dependencies.retain(|d| task_bits(*d) != from);
                })?;
                for d in &cursor.dependencies {
                    dependents.push([task_bits(*d), to])?;
                }
                if id.seq == 0 {
                    creator = cursor.dependencies.first().copied();
                }
                self.record(id, &mut draft, &mut record);
                writer.put_task(&record, &cursor.dependencies)?;
            }
            contexts.push(Context {
                id: ContextId::new(context),
                task_count: part.tasks,
                first_ns: self.clock.ns(state.first),
                last_ns: self.clock.ns(state.last.max(state.clock)),
                creator,
                name: String::new(),
                flags: flags(state.announced, state.joined, state.started && state.ended),
            });
        }
        Ok((contexts, dependents.finish()))
    }

    fn record(&self, id: TaskId, draft: &mut Draft, record: &mut TaskRecord) {
        record.id = id;
        record.kind = draft.kind;
        record.op = if draft.kind == TaskKind::Work {
            SyncOp::None
        } else {
            draft.op
        };
        record.object = draft.object;
        record.start_ns = self.clock.ns(draft.start);
        record.end_ns = self.clock.ns(draft.end);
        record.blocks = draft.counts.blocks;
        record.reads = draft.counts.reads;
        record.writes = draft.counts.writes;
        record.bytes = draft.counts.bytes;
        std::mem::swap::<Vec<FrameSpan>>(&mut record.frames, &mut draft.spans);
    }

    /// The error for a contradiction: where in the trace the waiting event is.
    fn cycle(&self, stuck: Stuck) -> Result<Error> {
        let context = stuck.task.context.get();
        let mut names = Renumber::new(self.aliases)?;
        let mut drafts = Drafts::new(self.logs.pages(context));
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

fn flags(announced: bool, joined: bool, whole: bool) -> u8 {
    let mut flags = 0;
    if announced {
        flags |= Context::ANNOUNCED;
    }
    if joined {
        flags |= Context::JOINED;
    }
    if !whole {
        flags |= Context::CUT;
    }
    flags
}

fn put_dependents(edges: &Sorted<2>, writer: &mut GraphWriter) -> Result<()> {
    let mut all = edges.iter()?;
    let mut from = None;
    let mut to = Vec::new();
    while let Some([source, target]) = all.next()? {
        if from != Some(source) {
            if let Some(f) = from.replace(source) {
                writer.put_dependents(task_from_bits(f), &to)?;
            }
            to.clear();
        }
        to.push(task_from_bits(target));
    }
    if let Some(f) = from {
        writer.put_dependents(task_from_bits(f), &to)?;
    }
    Ok(())
}

/// Sorted pairs, taken by their first word in ascending order.
struct Lookahead<'a> {
    all: Merge<'a, 2>,
    head: Option<[u64; 2]>,
}

impl<'a> Lookahead<'a> {
    fn new(pairs: &'a Sorted<2>) -> Result<Self> {
        let mut all = pairs.iter()?;
        let head = all.next()?;
        Ok(Lookahead { all, head })
    }

    /// Calls `f` with the second words that stand beside `key`; skips those before.
    fn take(&mut self, key: u64, mut f: impl FnMut(u64)) -> Result<()> {
        while let Some([first, second]) = self.head.filter(|h| h[0] <= key) {
            if first == key {
                f(second);
            }
            self.head = self.all.next()?;
        }
        Ok(())
    }
}

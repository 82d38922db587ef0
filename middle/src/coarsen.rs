//! Between passes 2 and 3: a synchronisation that orders nothing with another context becomes an
//! action of its task.
//!
//! Pass 1 ends a task at each synchronisation, because only the rules of pass 2 know which of them
//! have edges. Here the drafts of each context are read once more, and those between two edges
//! become one. A task therefore ends where order crosses to another context, where a context waited
//! or did not run, and at operations that say what a construct does.
//!
//! The times of joined drafts are forgotten, so what takes long keeps its own ([`Limits`]).
//!
//! Positions of drafts change. An edge keeps its place: what comes after it begins with the draft
//! that it arrived at, and what comes before it ends with the draft that it left.

use std::sync::Arc;

use taskgraph::TaskKind;

use crate::contexts::ContextTable;
use crate::draft::{Draft, DraftWriter, Drafts};
use crate::error::{Error, Result};
use crate::implied::leave_out;
use crate::log::Logs;
use crate::place::Place;
use crate::sorter::{Lookahead, Sorted, Sorter};
use crate::spill::Spill;

/// Drafts and edges, before or after the positions changed.
#[derive(Debug)]
pub(crate) struct Ordered {
    pub(crate) logs: Logs,
    /// `[from, to]`.
    pub(crate) edges: Sorted<2>,
    /// `[arrival, owner]`.
    pub(crate) aliases: Sorted<2>,
}

/// How much time may be forgotten, in ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// A synchronisation that takes so long waited, or its thread did not run: it stays a task.
    /// Between two drafts, the context did not run for so long.
    wait: u64,
    /// Work that takes so long between two operations stays a task: there may be a call that waits
    /// in it.
    work: u64,
    /// What is joined takes less than this.
    joined: u64,
}

impl Limits {
    /// 1 microsecond (an operation that need not wait takes some tens of nanoseconds), 50
    /// microseconds, 1 millisecond.
    pub(crate) fn new(hz: u64) -> Self {
        let per_second = |n: u64| (hz / n).max(1);
        Limits { wait: per_second(1_000_000), work: per_second(20_000), joined: per_second(1000) }
    }
}

/// Makes actions of all synchronisation that orders nothing.
pub(crate) fn coarsen(
    fine: Ordered,
    contexts: &mut ContextTable,
    limits: Limits,
    spill: &Arc<Spill>,
    memory: usize,
) -> Result<Ordered> {
    let (edges, by_target) = leave_out(fine.edges, spill, memory / 8)?;
    let mut joining = Joining {
        logs: Logs::new(spill, memory / 4),
        moved: Sorter::new(spill, memory / 8),
        limits,
    };
    let mut sources = Lookahead::new(&edges)?;
    let mut targets = Lookahead::new(&by_target)?;
    for context in contexts.numbers() {
        let mut drafts = Drafts::new(fine.logs.pages(context)?);
        let mut open = Open::new(context);
        let mut draft = Draft::default();
        let mut position = 0;
        while drafts.next(&mut draft)? {
            let place = Place::new(context, position);
            position += 1;
            let edges = Edges {
                leaves: sources.find(place.bits(), |_| ())?.is_some(),
                arrives: targets.find(place.bits(), |_| ())?.is_some(),
            };
            joining.take(&mut open, place, &mut draft, edges, drafts.chunk)?;
        }
        joining.end(&mut open)?;
        if let Some(record) = contexts.get_mut(context) {
            record.places = open.position;
        }
    }
    let Joining { logs, moved, .. } = joining;
    let moved = moved.finish()?;
    let now = |pairs: &Sorted<2>| moved_and_swapped(pairs, &moved, spill, memory / 8);
    let (edges, aliases) = (now(&now(&edges)?)?, now(&now(&fine.aliases)?)?);
    Ok(Ordered { logs, edges, aliases })
}

/// What is at a place.
#[derive(Clone, Copy)]
struct Edges {
    /// An edge to another context begins here.
    leaves: bool,
    /// An edge from another context ends here.
    arrives: bool,
}

impl Edges {
    fn any(self) -> bool {
        self.leaves || self.arrives
    }
}

/// The task of a context that grows.
struct Open {
    context: u32,
    /// Number of drafts that were written.
    position: u32,
    draft: Option<Draft>,
    /// When the last draft ended.
    end: u64,
    writer: DraftWriter,
    /// Place in the file of the last chunk that was noted.
    chunk: u64,
}

impl Open {
    fn new(context: u32) -> Self {
        Open { context, position: 0, draft: None, end: 0, writer: DraftWriter::default(), chunk: 0 }
    }
}

struct Joining {
    logs: Logs,
    /// `[place, place]`: where what was at a place is now, for places that others name.
    moved: Sorter<2>,
    limits: Limits,
}

impl Joining {
    /// Takes the next draft of a context.
    fn take(
        &mut self,
        open: &mut Open,
        place: Place,
        draft: &mut Draft,
        edges: Edges,
        chunk: u64,
    ) -> Result<()> {
        let is_action = self.is_action(draft, edges);
        let joins = is_action || draft.kind == TaskKind::Work;
        let late = draft.start - open.end >= self.limits.wait;
        // When in the time before it the work really began is not known.
        let alone = late || draft.end - draft.start >= self.limits.work;
        open.end = draft.end;
        let goes_on = open.draft.as_ref();
        let goes_on = goes_on.is_some_and(|joined| {
            draft.end - joined.start < self.limits.joined && draft.executor == joined.executor
        });
        if !joins || !goes_on || alone || edges.arrives {
            self.end(open)?;
        }
        // Other names of a barrier's task may have no edges of their own.
        if edges.any() || draft.kind == TaskKind::Barrier {
            let now = Place::new(open.context, open.position);
            self.moved.push([place.bits(), now.bits()])?;
        }
        if chunk != open.chunk {
            open.chunk = chunk;
            let put = |out: &mut Vec<u8>| DraftWriter::put_chunk(out, chunk);
            self.logs.append(open.context, put)?;
        }
        if !joins {
            let writer = &mut open.writer;
            let put = |out: &mut Vec<u8>| writer.put_sync(out, draft, draft.spans.first());
            self.logs.append(open.context, put)?;
            return next(open);
        }
        match &mut open.draft {
            None => {
                let mut first = std::mem::take(draft);
                (first.kind, first.op, first.object) = Default::default();
                open.draft = Some(first);
            }
            Some(before) => {
                before.end = draft.end;
                before.counts = before.counts.plus(draft.counts);
                for span in draft.spans.drain(..) {
                    if !before.spans.last_mut().is_some_and(|last| last.join(&span)) {
                        before.spans.push(span);
                    }
                }
            }
        }
        // What the log has of a long task need not stay in memory.
        if let Some(Draft { spans, .. }) = &mut open.draft
            && spans.len() > 1
        {
            let last = spans.len() - 1;
            let writer = &mut open.writer;
            self.logs.append(open.context, |out| {
                spans.drain(..last).for_each(|span| writer.put_span(out, &span));
            })?;
        }
        match edges.leaves || alone {
            true => self.end(open),
            false => Ok(()),
        }
    }

    /// Whether a draft is an action of the task that it is in.
    fn is_action(&self, draft: &Draft, edges: Edges) -> bool {
        // Only what may be an action has a record.
        let has_record = draft.kind == TaskKind::Sync && !draft.spans.is_empty();
        has_record && !edges.any() && draft.end - draft.start < self.limits.wait
    }

    /// Ends the task that grows.
    fn end(&mut self, open: &mut Open) -> Result<()> {
        let Some(draft) = open.draft.take() else {
            return Ok(());
        };
        let writer = &mut open.writer;
        let times = Some((draft.start, draft.end));
        self.logs.append(open.context, |out| {
            writer.put_work(out, draft.executor, times, &draft.counts, draft.spans.last());
        })?;
        next(open)
    }
}

fn next(open: &mut Open) -> Result<()> {
    let more = open.position.checked_add(1);
    open.position = more.ok_or_else(|| Error::internal("more tasks than places"))?;
    Ok(())
}

/// The pairs the other way round, with their first words where these are now.
fn moved_and_swapped(
    pairs: &Sorted<2>,
    moved: &Sorted<2>,
    spill: &Arc<Spill>,
    budget: usize,
) -> Result<Sorted<2>> {
    let (mut moved, mut swapped) = (Lookahead::new(moved)?, Sorter::new(spill, budget));
    let mut all = pairs.iter()?;
    while let Some([first, second]) = all.next()? {
        // An edge to a place that is not there orders nothing.
        if let Some(now) = moved.find(first, |_| ())? {
            swapped.push([second, now])?;
        }
    }
    swapped.finish()
}

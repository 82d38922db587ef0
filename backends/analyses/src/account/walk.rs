//! Reads what a context does: its strands, its waits, and its uses of locks.

use std::ops::ControlFlow;

use anyhow::Result;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use taskgraph::{
    Action, BlockId, Context, ContextId, Family, FunctionId, LEFT_OUT, Mmap, SyncOp, TaskId,
    TaskKind, WaitCause, Walk,
};

use super::counted::Share;
use super::locks::{Held, LockUse, Use, sections};
use super::looks::{Looks, waiting};
use super::loops::{self, asking, divide, executed, pieces};
use super::queues::{deal, relax};
use super::sections::Sections;
use super::strands::{LeftOut, MOST, NO_WAIT, Numbers, Strand, Strands, end};
use super::stretches::{Stretches, TOGETHER, others};
use super::wait::{ALWAYS, Kind, NEVER, Wait};
use crate::analysis::{
    Cause, Graph, LongCall, State, TURN_BLOCKS, Task, begin_of, gap_cause, has_failed, long_call,
    state_in, turns,
};
use crate::view::units::{ratio, whole};

/// A context goes on so long after what it waited for, ns, if it has a processor. If it took
/// longer, others had it.
const LATE_NS: u64 = 100_000;
/// An operation that takes less than this, ns, has not waited.
const WAITED_NS: u64 = 1000;
/// A context that ran for less than one part in so many of its wait had nothing to do.
const IDLE: u64 = 10;
/// A task that ran for less than this, ns, is not searched for turns of loops that wait, nor one
/// that took less than so many times as long as its blocks took so far.
const SPUN_NS: u64 = 50_000;
const SLOW: f64 = 4.0;
/// Number of tasks after a wait for the system among which one is searched that receives what ended
/// the wait.
const RECEIVED: u32 = 4;
/// Of a task with more uses of locks, the first ones stand for all.
const SAMPLED: usize = 4096;

/// The strands of a graph. `None` if there are too many.
///
/// # Errors
/// When the graph cannot be read.
pub(super) fn strands_of(graph: &Graph, stretches: &Stretches) -> Result<Option<Strands>> {
    let contexts: Vec<Context> = graph.contexts().filter(|c| c.task_count > 0).collect();
    let turns = turns(graph.info());
    let processors = u64::from(graph.meta().processors.max(1));
    let program = Program {
        graph,
        stretches,
        numbers: contexts.iter().map(|context| context.id).zip(0..).collect(),
        waiting: waiting(graph.info(), &turns),
        turns,
        asking: asking(graph.info()),
        began_ns: begin_of(graph),
        spinning: ratio(processors, stretches.executors().max(processors)) / 2.0,
    };
    let parts: Vec<Strands> = contexts
        .par_chunks(TOGETHER)
        .map(|part| {
            let mut strands = Strands::default();
            let mut tasks = graph.walk_of(ContextId::default());
            for context in part {
                tasks.go_to(context.id);
                let past = SoFar {
                    free_ns: context.first_ns,
                    team: context.creator,
                    unborn_ns: match context.creator {
                        Some(_) => 0,
                        None => context.first_ns.saturating_sub(program.began_ns),
                    },
                    ..SoFar::default()
                };
                let walker = Walker { program: &program, strands: &mut strands, past };
                walker.context(&mut tasks, context)?;
            }
            Ok(strands)
        })
        .collect::<Result<_>>()?;
    if parts.iter().map(|part| part.all.len()).sum::<usize>() > MOST {
        return Ok(None);
    }
    let mut strands = Strands::default();
    for part in parts {
        strands.append(part);
    }
    strands.contexts.push(end(&strands.all));
    strands.numbers = program.numbers;
    let ranks = !graph.meta().ranks.is_empty();
    for context in &contexts {
        let creator = context.creator.map(|task| task.context);
        // The ranks of MPI go on when what started them has ended.
        let rank = |creator: ContextId| ranks && creator == ContextId::new(0);
        strands.leads.push(creator.is_none_or(rank));
        let number = creator.and_then(|creator| strands.numbers.get(&creator).copied());
        strands.creators.push(number);
        strands.ids.push(context.id);
    }
    for at in 0..strands.needs.len() {
        let (context, task) = strands.needs[at];
        let before = &strands.all[strands.of_context(context)];
        let found = before.partition_point(|strand| strand.first <= task);
        strands.needs[at].1 = end(&before[..found]).saturating_sub(1);
    }
    strands.known.settle();
    strands.spin_alone(&contexts);
    relax(&mut strands);
    strands.settle();
    deal(&mut strands);
    loops::deal(&mut strands);
    Ok(Some(strands))
}

/// What is looked up while contexts are read.
struct Program<'a> {
    graph: &'a Graph,
    stretches: &'a Stretches,
    numbers: Numbers,
    /// The blocks that end turns of loops that wait, and the functions that have such loops.
    turns: FxHashSet<BlockId>,
    waiting: FxHashSet<FunctionId>,
    /// The blocks that ask for a piece of a loop.
    asking: FxHashSet<BlockId>,
    /// When the run began.
    began_ns: u64,
    /// The part of a wait for which who spins has a processor, at least: half of the share that
    /// each thread gets if all of them want one. Who sleeps or yields has less.
    spinning: f64,
}

/// Reads a context.
struct Walker<'a> {
    program: &'a Program<'a>,
    strands: &'a mut Strands,
    past: SoFar,
}

/// What a context has done up to the task at hand.
#[derive(Default)]
struct SoFar {
    /// When the task before ended, and its kind.
    free_ns: u64,
    before: Option<TaskKind>,
    /// Whether no task of another context waits for the one before.
    alone: bool,
    /// The context that made this one, the context's last operation, and how many loops it began.
    team: Option<TaskId>,
    last_op: SyncOp,
    loops: u32,
    /// The object of the last operation, if it was a failed try to get it, and the time of the few
    /// blocks since then.
    tried: Option<(u64, Option<WaitCause>)>,
    turn_ns: Option<u64>,
    /// How long the context ran since its last wait.
    ran_ns: u64,
    /// The task that was added to a strand last.
    last: Option<u32>,
    held: Held,
    sections: Sections,
    /// How long nothing was known of a context that nobody is known to have created, and how long a
    /// context lacked a processor before the task at hand.
    unborn_ns: u64,
    starved_ns: u64,
    /// What the task at hand does with a lock.
    lock: Option<(u64, LockUse)>,
    /// What is known of the context's atomic operations.
    looks: Looks,
    /// How long the context worked for how many blocks, ns.
    paced: (f64, f64),
}

impl Walker<'_> {
    fn context(mut self, tasks: &mut Walk<'_, Mmap>, context: &Context) -> Result<()> {
        self.strands.contexts.push(end(&self.strands.all));
        let (mut recording, mut left_out) = (0, 0);
        let mut executor = None;
        while let Some(task) = tasks.next()? {
            if executor.is_none() {
                self.strands.executors.push(task.executor());
            }
            executor = executor.or(Some(task.executor()));
            match (task.op(), task.object()) {
                (SyncOp::Delay, LEFT_OUT) => left_out += task.duration_ns(),
                (SyncOp::Delay, _) => recording += task.duration_ns(),
                _ => {}
            }
            self.task(task)?;
            let past = &mut self.past;
            (past.free_ns, past.before) = (task.end_ns(), Some(task.kind()));
            past.last_op = task.op();
            past.loops += u32::from(task.op() == SyncOp::Loop);
            // What comes after a loop is no part of it.
            past.alone = !task.is_awaited()? && task.op() != SyncOp::WorkEnd;
        }
        self.past.sections.flush(&mut self.strands.sections);
        self.strands.recording = self.strands.recording.max(recording);
        if let Some(executor) = executor {
            let (begin, end) = (context.first_ns, self.past.free_ns);
            self.strands.leave_out(executor, LeftOut { begin, end, ns: left_out });
        }
        Ok(())
    }

    fn task(&mut self, task: &Task<'_>) -> Result<()> {
        let call = long_call(task);
        let state = state_in(task, call);
        self.again(task);
        let begin = self.strands.needs.len();
        let own = task.id().context;
        let before = task.stored_dependencies().iter().filter(|before| before.context != own);
        let numbers = &self.program.numbers;
        let known = |before: &TaskId| Some((*numbers.get(&before.context)?, before.seq));
        self.strands.needs.extend(before.filter_map(known));
        let foreign = self.strands.needs.len() > begin;
        let mut wait = NO_WAIT;
        self.past.lock = self.uses(task);
        let takes = matches!(self.past.lock, Some((_, LockUse::Take | LockUse::Share)));
        // Who only changes a word that others change waits for nobody.
        let passes = foreign && !takes && self.past.looks.passes(task, &self.program.waiting)?;
        self.past.looks.did(task.op(), task.object());
        if passes {
            self.strands.needs.truncate(begin);
        }
        if foreign && !passes || takes || self.past.unborn_ns > 0 {
            match self.waits(task, state)? {
                Some(found) => wait = self.strands.add_wait(found),
                None => self.strands.needs.truncate(begin),
            }
        }
        let (ns, asleep) = match state {
            State::Running => {
                let from_ns = self.past.free_ns.min(task.start_ns());
                let most = self.program.stretches.most_ran(task, from_ns);
                (self.worked(task, task.duration_ns().min(most))?, None)
            }
            State::Waiting(_) if !foreign && is_answered(task)? => {
                self.past.starved_ns += task.duration_ns();
                return Ok(());
            }
            State::Waiting(cause @ Cause::Call) => (task.duration_ns(), Some(cause)),
            // Nobody in the program ends this wait.
            State::Waiting(cause) if !foreign && is_time(cause) => {
                let ns = task.duration_ns();
                (if ns < WAITED_NS { 0 } else { ns }, Some(cause))
            }
            State::Waiting(_) => (0, None),
        };
        if let Some(cause) = asleep.filter(|_| ns > 0) {
            // What it waits for before is a strand of its own.
            if wait != NO_WAIT {
                self.push(task, 0, wait, false);
            }
            wait = self.strands.add_wait(Wait::of(task, cause)?);
            self.past.alone = false;
            self.push(task, ns, wait, true);
            self.past.ran_ns = 0;
            return Ok(());
        }
        if state == State::Running {
            if task.kind() == TaskKind::Create {
                self.strands.making += ns;
            }
            if matches!(call, Some(LongCall::Works(_))) {
                self.strands.outside += ns;
            }
        }
        let past = &mut self.past;
        past.unborn_ns = 0;
        past.starved_ns = match state {
            State::Waiting(Cause::Other) => past.starved_ns + task.duration_ns(),
            _ => 0,
        };
        if task.kind() == TaskKind::Work {
            past.held.works(task.block_count());
        }
        past.ran_ns = if wait == NO_WAIT { past.ran_ns + ns } else { ns };
        if task.kind() == TaskKind::Work && others(task) > 0 && self.uses_locks(task)? {
            self.divided(task, wait, ns)?;
        } else if !self.dealt(task, wait, ns)? {
            self.push(task, ns, wait, false);
        }
        Ok(())
    }

    /// Adds a context's part of a loop whose pieces are dealt out, if a task is one. (It takes no
    /// lock meanwhile.)
    fn dealt(&mut self, task: &Task<'_>, wait: u32, ns: u64) -> Result<bool> {
        let SoFar { team, last_op, lock, loops, free_ns, .. } = self.past;
        let asking = &self.program.asking;
        let begins = last_op == SyncOp::Loop && wait == NO_WAIT && lock.is_none();
        let Some(team) = team.filter(|_| begins && !asking.is_empty()) else {
            return Ok(false);
        };
        let parts = divide(ns, pieces(task, asking)?);
        if parts.is_empty() {
            return Ok(false);
        }
        let first = end(&self.strands.all);
        for part in parts {
            self.past.alone = false;
            self.push(task, part, NO_WAIT, false);
        }
        let strands = first..end(&self.strands.all);
        let at_ns = task.start_ns();
        let lacked_ns = task.end_ns().saturating_sub(free_ns).saturating_sub(ns);
        let share = Share { team, number: loops, at_ns, lacked_ns, strands };
        self.strands.shares.push(share);
        Ok(true)
    }

    /// How long a task works that runs for so long, ns: its turns of loops that wait are no work.
    /// Where it takes many times as long as its blocks took so far, such turns are why.
    fn worked(&mut self, task: &Task<'_>, ns: u64) -> Result<u64> {
        let blocks = task.block_count();
        let works = task.kind() == TaskKind::Work && blocks > 0 && task.has_all_code();
        let turns = &self.program.turns;
        if turns.is_empty() || !works {
            return Ok(ns);
        }
        let paced = &mut self.past.paced;
        let pace = paced.0 / paced.1.max(1.0);
        if pace > 0.0 && ns >= SPUN_NS && ns as f64 > SLOW * pace * blocks as f64 {
            let (turns, _) = executed(task, turns)?;
            if turns > 0 {
                return Ok(ns.min(whole(pace * blocks.saturating_sub(turns) as f64)));
            }
        }
        *paced = (paced.0 + ns as f64, paced.1 + blocks as f64);
        Ok(ns)
    }

    /// Who tries for a lock again and again waits for it: the few blocks in between are no work.
    fn again(&mut self, task: &Task<'_>) {
        let (past, same) = (&mut self.past, (task.object(), task.op().cause()));
        if task.kind() != TaskKind::Work
            && past.tried == Some(same)
            && let Some(last) = self.strands.all.last_mut()
        {
            last.ns = last.ns.saturating_sub(past.turn_ns.unwrap_or(0));
        }
        let turn = task.kind() == TaskKind::Work && task.block_count() <= TURN_BLOCKS;
        past.turn_ns = turn.then(|| task.duration_ns());
        if has_failed(task) {
            past.tried = Some(same);
        } else if !turn {
            past.tried = None;
        }
    }

    /// Adds what a task does to the last strand, if nothing can happen in between: nobody awaits
    /// what is done so far, and the task waits for nothing.
    fn push(&mut self, task: &Task<'_>, ns: u64, wait: u32, sleeps: bool) {
        let (strands, past) = (&mut *self.strands, &mut self.past);
        let last = strands.all.last_mut().filter(|_| past.alone);
        let lock = past.lock.take();
        if wait == NO_WAIT
            && lock.is_none()
            && let Some(last) = last.filter(|last| !last.sleeps || ns == 0)
        {
            last.ns = last.ns.saturating_add(ns);
            past.last = Some(task.id().seq);
            return;
        }
        let first = task.id().seq;
        strands.all.push(Strand {
            ns,
            first,
            inside: past.last.replace(first) == Some(first),
            needs_end: end(&strands.needs),
            wait,
            sleeps,
            lock: lock.map_or(NO_WAIT, |_| end(&strands.locks)),
        });
        strands.locks.extend(lock);
    }

    /// What a task that comes after tasks of other contexts waits for. `None` if it waits for
    /// nobody in a replay: it got what only one context may have at a time without having to wait,
    /// and which of them is first is no order that the program asks for.
    fn waits(&self, task: &Task<'_>, state: State) -> Result<Option<Wait>> {
        let past = &self.past;
        if past.unborn_ns > 0 && past.before.is_none() {
            return Ok(Some(Wait {
                latency_ns: past.unborn_ns,
                ordered_ns: ALWAYS,
                ..Wait::free(Kind::Begin, 0, task.id())
            }));
        }
        // Who had no processor before a wait would have waited if it had had one.
        let gap = task.start_ns().saturating_sub(past.free_ns) + past.starved_ns;
        let (cause, resumed_ns, waited_ns) = match state {
            State::Running | State::Waiting(Cause::Other | Cause::Call | Cause::Delay) => {
                (gap_cause(task, past.before)?, task.start_ns(), gap)
            }
            State::Waiting(cause) => (cause, task.end_ns(), gap + task.duration_ns()),
        };
        let wait = Wait::of(task, cause)?;
        let kind = match wait.kind {
            // Its creator comes first, and what it depends on.
            Kind::Unknown | Kind::Word if past.before.is_none() => Kind::Begin,
            Kind::Unknown | Kind::Outside => Kind::Word,
            Kind::Barrier if past.ran_ns * IDLE < waited_ns && task.op() != SyncOp::AtomicLoad => {
                Kind::Idle
            }
            kind => kind,
        };
        let one_at_a_time = kind == Kind::Lock || task.op() == SyncOp::AtomicRmw;
        let ordered_ns = match one_at_a_time {
            false => ALWAYS,
            true if waited_ns < WAITED_NS => NEVER,
            true => waited_ns,
        };
        if ordered_ns == NEVER && past.lock.is_none() && kind != Kind::Lock {
            return Ok(None);
        }
        let after = wait.ended_by.map_or(resumed_ns, |(_, end)| end);
        let latency = resumed_ns.saturating_sub(after.max(past.free_ns));
        let has_thread = kind != Kind::Begin || begins_thread(task)?;
        let latency_ns =
            if has_thread && waited_ns >= WAITED_NS { latency.min(LATE_NS) } else { 0 };
        let spins = waited_ns >= WAITED_NS && self.spins(task, (past.free_ns, resumed_ns));
        Ok(Some(Wait { kind, latency_ns, ordered_ns, spins, ..wait }))
    }

    /// Whether a context that waited for a word in this time did so on a processor.
    fn spins(&self, task: &Task<'_>, (from_ns, to_ns): (u64, u64)) -> bool {
        let words = matches!(task.op().family(), Some(Family::Atomic | Family::Spin));
        if !words || task.op() == SyncOp::TaskResume {
            return false;
        }
        let Program { stretches, spinning, .. } = self.program;
        let waited = to_ns.saturating_sub(from_ns) as f64;
        stretches.ran_between(task.executor(), (from_ns, to_ns)) >= waited * spinning
    }

    fn uses(&mut self, task: &Task<'_>) -> Option<(u64, LockUse)> {
        let (op, object, strands) = (task.op(), task.object(), &mut *self.strands);
        let used = self.past.held.uses(op, object, &mut strands.known);
        let place = (task.end_ns(), end(&strands.all), false);
        self.past.sections.uses((op, object), used, place, &mut strands.sections);
        used
    }

    /// Whether a task does more with locks, conditions or words that may be locks than to read or
    /// change atomic variables. What it does with these is noted if that is all.
    fn uses_locks(&mut self, task: &Task<'_>) -> Result<bool> {
        use SyncOp::{AtomicLoad, AtomicRmw, AtomicStore, Fence};
        let SoFar { held, looks, .. } = &mut self.past;
        let (before, mut uses) = (looks.changed, false);
        task.for_each_other(|action| {
            if let Action::Sync { op, object } = action {
                let plain = matches!(op, AtomicLoad | AtomicRmw | AtomicStore | Fence);
                if !plain || held.locks.contains(object) {
                    uses = true;
                    return ControlFlow::Break(());
                }
                looks.did(*op, *object);
            }
            ControlFlow::Continue(())
        })?;
        if uses {
            looks.changed = before;
        }
        Ok(uses)
    }

    /// Adds a task that works and synchronises meanwhile. Its time is divided at these operations
    /// in proportion to the instructions in between.
    fn divided(&mut self, task: &Task<'_>, mut wait: u32, ns: u64) -> Result<()> {
        let had = self.past.held.locks.clone();
        let (mut uses, mut all, mut whole_task) = (Vec::new(), 0_u64, true);
        let mut stopped = false;
        let info = self.program.graph.info();
        let place = (task.start_ns(), end(&self.strands.all), true);
        let SoFar { held, sections: within, looks, .. } = &mut self.past;
        let Strands { known, sections: all_sections, .. } = &mut *self.strands;
        task.count_between(|counts, action| {
            if whole_task {
                for (block, times) in counts.iter() {
                    let each = info.block(block).map_or(0, |block| u64::from(block.ir_ops));
                    all = all.saturating_add(each.saturating_mul(times));
                }
            }
            if let Some(&Action::Sync { op, object }) = action {
                looks.did(op, object);
                let lock = held.uses(op, object, known);
                within.uses((op, object), lock, place, all_sections);
                uses.extend(lock.filter(|_| whole_task).map(|lock| (all, lock)));
            }
            whole_task &= action.is_none() || uses.len() < SAMPLED;
            // Of locks with conditions all sections are counted.
            stopped = !whole_task && !within.have_conditions();
            match stopped {
                false => ControlFlow::Continue(()),
                true => ControlFlow::Break(()),
            }
        })?;
        if !whole_task {
            all = uses.last().map_or(all, |&(at, _)| at);
            cut(&had, &mut uses);
        }
        if stopped {
            self.past.held.locks.clone_from(&had);
        }
        if uses.is_empty() && self.dealt(task, wait, ns)? {
            return Ok(());
        }
        let until = |executed: u64| whole(ns as f64 * executed as f64 / all.max(1) as f64);
        let (mut executed, mut from) = (0, 0);
        for (more, lock) in sections(&had, &uses, all) {
            executed += more;
            self.push(task, until(executed).saturating_sub(from), wait, false);
            from = until(executed);
            wait = match lock.1 {
                LockUse::Give => NO_WAIT,
                _ => self.strands.add_wait(Wait::free(Kind::Lock, lock.0, task.id())),
            };
            self.past.lock = Some(lock);
        }
        self.push(task, ns.saturating_sub(from), wait, false);
        let last = end(&self.strands.all).saturating_sub(1);
        self.past.sections.worked(last, &mut self.strands.sections);
        Ok(())
    }
}

/// Leaves out the uses of locks after the last one at which a context has the locks that it had at
/// first.
fn cut(had: &[u64], uses: &mut Vec<Use>) {
    let mut now = had.to_vec();
    let mut last = 0;
    for (number, &(_, (lock, how))) in uses.iter().enumerate() {
        now.retain(|&other| other != lock);
        if how != LockUse::Give {
            now.push(lock);
        }
        if now == had {
            last = number + 1;
        }
    }
    uses.truncate(last);
}

/// Whether a wait that no other context ends takes its time all the same, because something outside
/// of the program or the time itself ends it.
fn is_time(cause: Cause) -> bool {
    !matches!(cause, Cause::Barrier | Cause::Join | Cause::Delay | Cause::Other)
}

/// Whether a message of another context ends a wait for the system, such as one for a signal or in
/// `poll`: it was sent meanwhile, and is received at once.
fn is_answered(task: &Task<'_>) -> Result<bool> {
    let own = task.id();
    if task.op() != SyncOp::Sleep || task.duration_ns() < WAITED_NS {
        return Ok(false);
    }
    let last = task.graph().task_count(own.context).min(own.seq.saturating_add(RECEIVED));
    for seq in own.seq + 1..last {
        let next = task.other(TaskId::new(own.context, seq))?;
        if next.start_ns() > task.end_ns() + LATE_NS {
            return Ok(false);
        }
        for &before in next.stored_dependencies() {
            let sent = before.context != own.context && next.op() == SyncOp::Receive;
            if sent && next.other(before)?.end_ns() > task.start_ns() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a context was made with a thread of its own.
fn begins_thread(first: &Task<'_>) -> Result<bool> {
    for &before in first.stored_dependencies() {
        let op = first.other(before)?.op();
        if matches!(op, SyncOp::ThreadCreate | SyncOp::ParallelBegin) {
            return Ok(true);
        }
    }
    Ok(false)
}

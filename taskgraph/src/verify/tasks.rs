//! Checks the tasks of all contexts: times, kinds, totals, and that every action belongs to exactly
//! one of them.

use std::ops::ControlFlow;

use contech_program::count;

use super::units::Coverage;
use super::{Verified, fault};
use crate::action::{Action, BlockExec};
use crate::error::Result;
use crate::frame::{Counts, Nests, Played};
use crate::graph::TaskGraph;
use crate::id::ContextId;
use crate::meta::Summary;
use crate::path::Nest;
use crate::rules::EdgeSum;
use crate::run::AffineRun;
use crate::task::Task;
use crate::{SyncOp, TaskKind};

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Checks all contexts, their tasks, and the actions of these.
    pub(super) fn check_tasks(
        &self,
        seen: &mut Verified,
        summary: &mut Summary,
        stored: Coverage,
    ) -> Result<EdgeSum> {
        let mut incoming = EdgeSum::default();
        let mut used = Coverage::default();
        let mut before: Option<ContextId> = None;
        for context in self.contexts() {
            let place = format!("context {}", context.id);
            if before.is_some_and(|b| b >= context.id) {
                return Err(fault(place, "the contexts are not sorted"));
            }
            before = Some(context.id);
            seen.contexts += 1;
            if let Some(creator) = context.creator {
                let kind = self
                    .task(creator)
                    .map_err(|e| fault(&place, format!("its creator: {e}")))?
                    .kind();
                if kind != TaskKind::Create {
                    return Err(fault(place, format!("its creator {creator} is a {kind} task")));
                }
            }
            for task in self.tasks_of(context.id) {
                let task = task?;
                self.check_task(&task, &mut used, seen)?;
                for &d in task.stored_dependencies() {
                    incoming.add(d, task.id());
                }
                summary.tasks.add(task.kind());
                summary.add(task.counts(), task.end_ns());
                seen.tasks += 1;
            }
        }
        self.check_task_index(seen.tasks)?;
        if used != stored {
            let detail =
                format!("they hold {} actions, the tasks have {}", stored.actions, used.actions);
            return Err(fault(
                "frames",
                format!("not every action belongs to exactly one task: {detail}"),
            ));
        }
        Ok(incoming)
    }

    fn check_task(
        &self,
        task: &Task<'_, D>,
        used: &mut Coverage,
        seen: &mut Verified,
    ) -> Result<()> {
        let place = format!("task {}", task.id());
        let bad = |detail: String| Err(fault(&place, detail));
        if (task.kind() == TaskKind::Work) != (task.op() == SyncOp::None) {
            return bad(format!("a {} task with operation {}", task.kind(), task.op()));
        }
        let is_work = task.kind() == TaskKind::Work;
        if !is_work && !task.spans().is_empty() && !task.op().may_be_action() {
            return bad(format!("a {} task with actions", task.kind()));
        }
        for span in task.spans() {
            if span.records == 0 {
                return bad("an empty span of actions".into());
            }
            used.add(span.frame.0, u64::from(span.first_record), u64::from(span.records));
        }
        let (counts, foreign) = self.counted(task)?;
        if foreign || !is_work && counts.others > 1 {
            return bad(format!("a {} task with actions of others", task.kind()));
        }
        seen.actions += counts.blocks + counts.others;
        seen.blocks = seen.blocks.wrapping_add(counts.blocks);
        let accesses = counts.reads.wrapping_add(counts.writes);
        seen.accesses = seen.accesses.wrapping_add(accesses);
        let stated = task.counts();
        if *stated != counts {
            return bad(format!("its totals are {stated:?}, its actions give {counts:?}"));
        }
        let mut before = None;
        for &d in task.stored_dependencies() {
            if before.is_some_and(|b| b >= d) {
                return bad(format!("its dependencies are not sorted at {d}"));
            }
            before = Some(d);
            if self.context(d.context).is_none_or(|c| d.seq >= c.task_count) {
                return bad(format!("an edge from {d}, which does not exist"));
            }
        }
        Ok(())
    }

    /// What a task's actions give, and whether a synchronisation has actions that are not its own.
    fn counted(&self, task: &Task<'_, D>) -> Result<(Counts, bool)> {
        let mut counts = Counts::default();
        let info = self.info();
        // The action of a synchronisation task is its own operation.
        let is_own = |action| {
            let (op, object) = (task.op(), task.object());
            action == Action::Sync { op, object }
        };
        let of = |block: &BlockExec<'_>| count(info, block.id(), block.operands());
        let is_work = task.kind() == TaskKind::Work;
        let mut foreign = false;
        task.play_from((0, 0), Nests::Bare, |played, operands| {
            foreign |= !is_work && !matches!(played, Played::Other(action) if is_own(action));
            counts = counts.plus(match played {
                Played::Block(id) => count(info, id, operands),
                Played::Other(_) => Counts { others: 1, ..Counts::default() },
                Played::Nest { shape, cut } => Counts {
                    blocks: Nest::new(info, shape, operands, cut).executions(),
                    ..Counts::default()
                },
                Played::Run { blocks, strides, iterations } => {
                    let run = AffineRun { info, blocks, starts: operands, strides, iterations };
                    let mut sum = Counts::default();
                    if run.has_static_counts() {
                        run.first().for_each(|b| sum = sum.plus(of(&b)));
                        sum = sum.times(iterations);
                    } else {
                        run.for_each_block(|b| sum = sum.plus(of(&b)));
                    }
                    sum
                }
            });
            ControlFlow::Continue(())
        })?;
        Ok((counts, foreign))
    }

    /// Checks that the pages hold the tasks of the contexts and no others, and start where the
    /// index says.
    fn check_task_index(&self, tasks: u64) -> Result<()> {
        let index = self.task_index()?;
        let (mut held, mut last) = (0, None);
        for page in 0..index.len() {
            let decoded = self.task_page(page)?;
            let first = decoded.ids().first().copied();
            if first != index.get(page).map(|(id, _)| id) || last >= first {
                return Err(fault(
                    format!("task page {page}"),
                    "its first task is not the one of the index, or out of order",
                ));
            }
            last = decoded.ids().last().copied();
            held += decoded.ids().len() as u64;
        }
        if held != tasks {
            return Err(fault(
                "task pages",
                format!("they hold {held} tasks, the contexts have {tasks}"),
            ));
        }
        Ok(())
    }
}

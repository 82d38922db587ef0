//! The drawing of a larger graph: one oval for each phase of a context, that is, for its Work and Sync tasks between
//! two Create, Join or Barrier tasks. Edges between phases (locks, signals) are merged, so arrows may go both ways.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use taskgraph::{TaskId, TaskKind};

use super::dot::{Arrow, Drawing, Node, Shape, tip};
use crate::analysis::{Graph, Task};
use crate::view::units::{count, time};

/// Tasks of one phase.
struct Phase {
    first: TaskId,
    last: TaskId,
    tasks: u64,
    work_ns: u64,
}

/// Draws phases as nodes.
pub(super) fn draw(graph: &Graph, most: usize) -> Result<Drawing> {
    let mut drawing = Drawing::default();
    // The first tasks of the nodes in order, to find the node of a task.
    let mut starts: BTreeMap<TaskId, ()> = BTreeMap::new();
    for context in graph.contexts() {
        let mut open: Option<Phase> = None;
        for task in graph.tasks_of(context.id) {
            let task = task?;
            let id = task.id();
            if leaves_barrier(graph, &task)? {
                drawing.nodes.extend(open.take().map(Phase::node));
            }
            if matches!(task.kind(), TaskKind::Work | TaskKind::Sync) {
                let phase = open.get_or_insert_with(|| {
                    starts.insert(id, ());
                    Phase {
                        first: id,
                        last: id,
                        tasks: 0,
                        work_ns: 0,
                    }
                });
                (phase.last, phase.tasks) = (id, phase.tasks + 1);
                if task.kind() == TaskKind::Work {
                    phase.work_ns += task.duration_ns();
                }
            } else {
                drawing.nodes.extend(open.take().map(Phase::node));
                starts.insert(id, ());
                drawing.nodes.push(Node {
                    id,
                    shape: Shape::of(task.kind()),
                    label: id.to_string(),
                    tip: tip(&task),
                });
            }
            if starts.len() > most {
                bail!("the graph has more than --max {most} phases: a picture of it says nothing");
            }
        }
        drawing.nodes.extend(open.take().map(Phase::node));
    }
    let node = |id: TaskId| {
        starts
            .range(..=id)
            .next_back()
            .map_or(id, |(&start, ())| start)
    };
    let mut arrows: BTreeMap<(TaskId, TaskId), u64> = BTreeMap::new();
    for task in graph.tasks() {
        let task = task?;
        let to = node(task.id());
        for from in task
            .predecessors()?
            .into_iter()
            .map(node)
            .filter(|from| *from != to)
        {
            *arrows.entry((from, to)).or_default() += 1;
        }
    }
    drawing.arrows = arrows
        .into_iter()
        .map(|((from, to), edges)| Arrow { from, to, edges })
        .collect();
    Ok(drawing)
}

/// Whether the task is the first after a barrier that another context owns.
fn leaves_barrier(graph: &Graph, task: &Task<'_>) -> Result<bool> {
    for &before in task.stored_dependencies() {
        if graph.task(before)?.kind() == TaskKind::Barrier {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Phase {
    fn node(self) -> Node {
        let label = if self.tasks == 1 {
            self.first.to_string()
        } else {
            format!(
                "{} .. {}\n{} tasks",
                self.first,
                self.last,
                count(self.tasks)
            )
        };
        let tip = format!(
            "{} tasks, {} of work",
            count(self.tasks),
            time(self.work_ns)
        );
        Node {
            id: self.first,
            shape: Shape::Oval,
            label,
            tip,
        }
    }
}

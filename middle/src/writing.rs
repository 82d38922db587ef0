//! Tasks, successors and order on their way into the graph: handed over in batches to a thread that packs and writes
//! pages while the next ones are being made.

use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use taskgraph::{GraphWriter, TaskId, TaskRecord};

use crate::error::{Error, Result};

/// Batches on their way.
const BATCHES: usize = 3;
/// A batch is full with so many tasks, or so many numbers of tasks.
const TASKS: usize = 1024;
const NUMBERS: usize = 1 << 14;

/// Entries for the graph, in order.
#[derive(Debug, Default)]
struct Batch {
    /// The first of these, each with the end of its predecessors in `numbers`; the others are memory for later ones.
    tasks: Vec<(TaskRecord, usize)>,
    used: usize,
    /// Tasks, each with the end of its successors in `numbers`.
    sources: Vec<(TaskId, usize)>,
    numbers: Vec<TaskId>,
    order: Vec<TaskId>,
}

impl Batch {
    fn write(&mut self, writer: &mut GraphWriter) -> Result<()> {
        let mut from = 0;
        for (record, end) in &self.tasks[..self.used] {
            writer.put_task(record, &self.numbers[from..*end])?;
            from = *end;
        }
        for id in self.order.drain(..) {
            writer.put_order(id)?;
        }
        for (source, end) in self.sources.drain(..) {
            writer.put_dependents(source, &self.numbers[from..end])?;
            from = end;
        }
        self.used = 0;
        self.numbers.clear();
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.used >= TASKS || self.numbers.len() >= NUMBERS || self.order.len() >= NUMBERS
    }
}

/// Takes what is to be written: tasks, then the order, then successors. Another sequence needs a
/// [`Outgoing::hand_over`] in between.
#[derive(Debug)]
pub(crate) struct Outgoing {
    batch: Batch,
    full: Sender<Batch>,
    empty: Receiver<Batch>,
}

impl Outgoing {
    /// Appends a task, which `fill` makes of another one.
    #[inline]
    pub(crate) fn task(
        &mut self,
        dependencies: &[TaskId],
        fill: impl FnOnce(&mut TaskRecord),
    ) -> Result<()> {
        let batch = &mut self.batch;
        batch.numbers.extend_from_slice(dependencies);
        if batch.used == batch.tasks.len() {
            batch.tasks.push((TaskRecord::default(), 0));
        }
        let (record, end) = &mut batch.tasks[batch.used];
        fill(record);
        *end = batch.numbers.len();
        batch.used += 1;
        self.pass()
    }

    /// Appends the successors of a task.
    pub(crate) fn dependents(&mut self, from: TaskId, to: &[TaskId]) -> Result<()> {
        self.batch.numbers.extend_from_slice(to);
        self.batch.sources.push((from, self.batch.numbers.len()));
        self.pass()
    }

    /// Appends a task to the order.
    #[inline]
    pub(crate) fn order(&mut self, id: TaskId) -> Result<()> {
        self.batch.order.push(id);
        self.pass()
    }

    #[inline]
    fn pass(&mut self) -> Result<()> {
        if self.batch.is_full() {
            return self.hand_over();
        }
        Ok(())
    }

    /// Hands over what there is.
    pub(crate) fn hand_over(&mut self) -> Result<()> {
        let gone = || Error::internal("the thread that writes the graph has ended");
        let batch = std::mem::take(&mut self.batch);
        self.full.send(batch).map_err(|_| gone())?;
        self.batch = self.empty.recv().map_err(|_| gone())?;
        Ok(())
    }
}

/// Runs `produce` while a thread writes what it puts out; ends when all of it is written.
pub(crate) fn beside<T>(
    writer: &mut GraphWriter,
    produce: impl FnOnce(&mut Outgoing) -> Result<T>,
) -> Result<T> {
    let (full, to_write) = bounded::<Batch>(BATCHES);
    let (written, empty) = bounded(BATCHES);
    for _ in 0..BATCHES - 1 {
        // There is room for all of them.
        let _ = written.send(Batch::default());
    }
    thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for mut batch in to_write {
                batch.write(writer)?;
                // Who has put out everything needs none back.
                let _ = written.send(batch);
            }
            Ok::<_, Error>(())
        });
        let mut out = Outgoing {
            batch: Batch::default(),
            full,
            empty,
        };
        let produced = produce(&mut out).and_then(|t| out.hand_over().map(|()| t));
        drop(out);
        let panicked = || Error::internal("the thread that writes the graph panicked");
        // What went wrong there is why nothing more could be handed over.
        writing.join().map_err(|_| panicked())??;
        produced
    })
}

//! Tasks, successors and order on their way into the graph. They are handed over in batches to a
//! thread that packs and writes pages while the next ones are being made.

use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use taskgraph::{GraphWriter, TaskId, TaskRecord};

use crate::error::{Error, Result};

/// Number of batches on their way.
const BATCHES: usize = 3;
/// A batch is full when it has this many tasks, or this many numbers of tasks.
const TASKS: usize = 1024;
const NUMBERS: usize = 1 << 14;

#[derive(Debug, Default)]
struct Batch {
    /// The first `used` entries are tasks, each with the end of its predecessors in `numbers`. The
    /// memory of the other entries is kept for later tasks.
    tasks: Vec<(TaskRecord, usize)>,
    used: usize,
    /// The tasks whose successors are stored, each with the end of its successors in `numbers`.
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

/// Takes what is to be written: tasks, then the order, then successors. In any other sequence,
/// [`Outgoing::hand_over`] must be called in between.
#[derive(Debug)]
pub(crate) struct Outgoing {
    batch: Batch,
    full: Sender<Batch>,
    empty: Receiver<Batch>,
}

impl Outgoing {
    /// Appends a task. `fill` overwrites an earlier task with it.
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

    /// Hands over the batch that is there.
    pub(crate) fn hand_over(&mut self) -> Result<()> {
        let gone = || Error::internal("the thread that writes the graph has ended");
        let batch = std::mem::take(&mut self.batch);
        self.full.send(batch).map_err(|_| gone())?;
        self.batch = self.empty.recv().map_err(|_| gone())?;
        Ok(())
    }
}

/// Runs `produce` while a thread writes what it produces. Returns when everything is written.
pub(crate) fn beside<T>(
    writer: &mut GraphWriter,
    produce: impl FnOnce(&mut Outgoing) -> Result<T>,
) -> Result<T> {
    let (full, to_write) = bounded::<Batch>(BATCHES);
    let (written, empty) = bounded(BATCHES);
    for _ in 0..BATCHES - 1 {
        // The channel has room for all batches.
        let _ = written.send(Batch::default());
    }
    thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for mut batch in to_write {
                batch.write(writer)?;
                // If everything was put out, no batch is needed back.
                let _ = written.send(batch);
            }
            Ok::<_, Error>(())
        });
        let mut out = Outgoing { batch: Batch::default(), full, empty };
        let produced = produce(&mut out).and_then(|t| out.hand_over().map(|()| t));
        drop(out);
        let panicked = || Error::internal("the thread that writes the graph panicked");
        // The thread's error is the reason why nothing more could be handed over.
        writing.join().map_err(|_| panicked())??;
        produced
    })
}

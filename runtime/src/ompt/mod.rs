//! OpenMP: the tool that LLVM's libomp finds in this library. libomp tells it what the program does
//! (OMPT).
//!
//! Each implicit and each explicit task is a context. A thread of the OpenMP runtime enters the
//! context of the task that it runs, and comes back to the one that it left. It does so inside
//! calls into libomp, when the cursor is in its thread-local place. libomp has one word in each
//! task for the tool, which names the task's context. So nothing is allocated for a task, unless it
//! has dependences.

mod exclusion;
mod memory;
mod missing;
mod node;
mod parallel;
mod sync;
mod task;
mod team;
mod tool;
mod word;

use contech_trace::event::Arrival;

pub(crate) use missing::{loaded, silent_libgomp, thread_created_by};
pub(crate) use tool::before_begin_if0;

use crate::active::{Active, recording_if};
use crate::current::guarded;
use contech_interpose::ompt as abi;
use node::Task;
use team::{WORKER, Worker};
use word::Word;

/// Runs a callback, if the calling thread records.
fn callback(f: impl FnOnce(Active, &Worker)) {
    if let Some(a) = recording_if(|_| true) {
        guarded(|| {
            a.recorder.make_room(a.tls);
            WORKER.with(|worker| f(a, worker));
        });
    }
}

/// Lets the calling thread go on with the context that the word names, if any.
fn enter(a: Active, word: Word, how: Arrival) {
    if word.has(Word::VALID) && word.context() != u32::MAX {
        a.recorder.enter(a.tls, word.context(), word.piece(), how);
    }
}

/// The task that runs in this thread, and its word.
fn running(worker: &Worker) -> (Task, Word) {
    let task = worker.task.get();
    (task, task.word())
}

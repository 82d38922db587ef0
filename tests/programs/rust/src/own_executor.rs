//! A pool of one's own with the marks of `contech/tasks.rs`: its tasks are contexts, and its own code is none.
// MODE: golden
// COUNT: task_create 30
// COUNT: taskgroup_end 1
// COUNT: thread_create 0

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::thread;

#[path = "../../../../instrument/cc/include/contech/tasks.rs"]
mod tasks;

type Job = (tasks::Task, Box<dyn FnOnce() + Send>);

#[derive(Default)]
struct Pool {
    /// What waits to be run, and how much has not ended.
    queue: Mutex<(VecDeque<Job>, usize)>,
    changed: Condvar,
}

impl Pool {
    fn work(&self) {
        let mut queue = self.queue.lock().unwrap();
        while queue.1 > 0 {
            let Some((task, job)) = queue.0.pop_front() else {
                queue = self.changed.wait(queue).unwrap();
                continue;
            };
            drop(queue);
            task.run(job);
            queue = self.queue.lock().unwrap();
            queue.1 -= 1;
            self.changed.notify_all();
        }
    }
}

pub(crate) fn main() {
    static TOTAL: Mutex<u64> = Mutex::new(0);
    let pool = Pool::default();
    let group = tasks::Group::begin();
    let jobs: Vec<Job> = (0..30u64)
        .map(|i| {
            let job = move || *TOTAL.lock().unwrap() += i * i;
            (tasks::Task::create(), Box::new(job) as Box<_>)
        })
        .collect();
    let library = group.join();
    *pool.queue.lock().unwrap() = (jobs.into(), 30);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| pool.work());
        }
        pool.work();
    });
    drop(library);
    println!("{}", TOTAL.lock().unwrap());
}

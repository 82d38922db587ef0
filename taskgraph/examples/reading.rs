//! Accesses per second of CPU time of one thread, by each way of reading a graph, and how long it takes to reach a
//! random task, and a random action of the longest task:
//! `cargo run --release -p contech-taskgraph --example reading [--reach] GRAPH...`.

use std::time::Instant;

use taskgraph::{BlockCounts, Mmap, Piece, Position, Task};

/// CPU time of this thread, which a busy machine disturbs little; 0 where there is no /proc.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next();
    1e-9 * nanoseconds
        .and_then(|n| n.parse::<f64>().ok())
        .unwrap_or(0.0)
}

type Way = fn(&Task<'_, Mmap>, &mut u64) -> taskgraph::Result<()>;

const WAYS: [(&str, Way); 4] = [
    ("batches", |task, sum| {
        task.for_each_batch(|batch| {
            for piece in batch.pieces() {
                match piece {
                    Piece::Blocks(blocks) => {
                        let addresses = blocks.accesses().addresses();
                        *sum = addresses.iter().fold(*sum, |s, a| s ^ a);
                    }
                    Piece::Run(run) => *sum ^= run.iterations(),
                    _ => {}
                }
            }
        })
    }),
    ("one by one", |task, sum| {
        task.for_each_access(|a| *sum ^= a.addr ^ a.size)
    }),
    ("counts", |task, sum| {
        let mut counts = BlockCounts::new();
        task.count_blocks(&mut counts)?;
        *sum ^= counts.iter().map(|(_, times)| times).sum::<u64>();
        Ok(())
    }),
    ("actions", |task, sum| {
        let mut actions = task.actions()?;
        while actions.next()?.is_some() {
            *sum += 1;
        }
        Ok(())
    }),
];

/// A task is read from its start for this many actions.
const ACTIONS: usize = 100;
const ACCESSES: usize = 1000;

/// Times to reach random tasks, and random actions of the longest task.
fn reach(name: &str) -> taskgraph::Result<[String; 2]> {
    let graph = taskgraph::map(std::path::Path::new(name))?;
    let mut ids = Vec::new();
    let mut longest = (0, None);
    for task in graph.tasks() {
        let task = task?;
        if !task.spans().is_empty() {
            ids.push(task.id());
            longest = longest.max((task.action_count(), Some(task.id())));
        }
    }
    let (actions, Some(longest)) = longest else {
        return Ok(Default::default());
    };
    let mut random = fastrand::Rng::with_seed(7);
    let tasks = times(|| {
        let mut actions = graph.task(ids[random.usize(..ids.len())])?.actions()?;
        let mut left = ACTIONS;
        while left > 0 && actions.next()?.is_some() {
            left -= 1;
        }
        Ok(())
    })?;
    let longest = graph.task(longest)?;
    let positions = times(|| {
        let mut seek = longest.actions_from(Position::Action(random.u64(..actions)))?;
        seek.next().map(|_| ())
    })?;
    Ok([tasks, positions])
}

/// The median and the 99th percentile of how long something takes.
fn times(mut f: impl FnMut() -> taskgraph::Result<()>) -> taskgraph::Result<String> {
    let mut times = Vec::with_capacity(ACCESSES);
    for _ in 0..ACCESSES {
        let start = Instant::now();
        f()?;
        times.push(start.elapsed().as_micros());
    }
    times.sort_unstable();
    let percentile = |p: usize| times[times.len() * p / 100];
    Ok(format!("{} (99%: {})", percentile(50), percentile(99)))
}

fn main() -> taskgraph::Result<()> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let reaches = names.first().is_some_and(|name| name == "--reach");
    for name in names.split_off(usize::from(reaches)) {
        let [tasks, actions] = reach(&name)?;
        println!(
            "{name}: microseconds to a task {tasks}, to an action of the longest task {actions}"
        );
        if reaches {
            continue;
        }
        let graph = taskgraph::map(std::path::Path::new(&name))?;
        let accesses = graph.summary().accesses;
        print!("{name}: {accesses} accesses, M accesses/s:");
        for (way, read) in WAYS {
            let mut least = f64::INFINITY;
            for _ in 0..3 {
                let (start, mut sum) = (cpu_seconds(), 0);
                for task in graph.tasks() {
                    read(&task?, &mut sum)?;
                }
                std::hint::black_box(sum);
                least = least.min(cpu_seconds() - start);
            }
            #[allow(clippy::cast_precision_loss, reason = "a rate")]
            let rate = accesses as f64 / least / 1e6;
            print!("  {way} {rate:.0}");
        }
        println!();
    }
    Ok(())
}

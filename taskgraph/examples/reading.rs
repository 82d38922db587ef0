//! Accesses per second of CPU time of one thread, by each way of reading a graph:
//! `cargo run --release -p contech-taskgraph --example reading GRAPH...`.

use taskgraph::{BlockCounts, Mmap, Piece, Task};

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

fn main() -> taskgraph::Result<()> {
    for name in std::env::args().skip(1) {
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

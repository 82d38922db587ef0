//! Partition refinement around a loop of threads: a triangle's rows, of which the first are the longest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use contech_refine::Refinement;

const ROWS: u64 = 2000;

/// The work of a row: longer, the earlier it is.
fn row(i: u64) -> u64 {
    (i..ROWS).fold(i, |x, k| (x ^ k).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn main() {
    let workers =
        thread::available_parallelism().map_or(2, |n| u32::try_from(n.get()).unwrap_or(2));
    let refinement = Refinement::new(ROWS, workers, 1);
    let sum = AtomicU64::new(0);
    for number in 0..100 {
        let round = refinement.round();
        let (size, next) = (round.size(), AtomicU64::new(0));
        thread::scope(|scope| {
            for worker in 0..workers {
                let (round, next, sum) = (&round, &next, &sum);
                scope.spawn(move || {
                    loop {
                        let from = next.fetch_add(size, Ordering::Relaxed);
                        if from >= ROWS {
                            break;
                        }
                        let _part = round.part(worker, 0);
                        let part = (from..ROWS.min(from + size))
                            .map(row)
                            .fold(0, u64::wrapping_add);
                        sum.fetch_add(part, Ordering::Relaxed);
                    }
                });
            }
        });
        drop(round);
        if number % 10 == 0 {
            let seen = refinement.last();
            eprintln!(
                "round {number}: parts of {size}, scheduling {:.1}%, imbalance {:.1}%, {:?}",
                100.0 * seen.scheduling,
                100.0 * seen.imbalance,
                refinement.state()
            );
        }
    }
    println!("{:016x}", sum.into_inner());
}

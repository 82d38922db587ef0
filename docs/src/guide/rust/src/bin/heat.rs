//! Two threads compute steps of a simulation. One of them also adds up the energy, and the other waits at the barrier.

use std::sync::Barrier;
use std::thread;

const STEPS: usize = 25;

fn energy(part: &[f64]) -> f64 {
    part.iter().map(|heat| heat.sin().abs()).sum() // LOSS: imbalance
}

fn simulate(part: &mut [f64], barrier: &Barrier, reports: bool) -> f64 {
    let mut last = 0.0;
    for _ in 0..STEPS {
        for at in 1..part.len() {
            part[at] = (part[at - 1] + part[at]) / 2.0;
        }
        if reports {
            last = energy(part);
        }
        barrier.wait(); // LOSS: imbalance
    }
    last
}

fn main() {
    let mut heat: Vec<f64> = (0..200_000).map(f64::from).collect();
    let barrier = &Barrier::new(2);
    let (left, right) = heat.split_at_mut(100_000);
    let energy = thread::scope(|scope| {
        scope.spawn(|| simulate(left, barrier, false));
        scope
            .spawn(|| simulate(right, barrier, true))
            .join()
            .unwrap()
    });
    println!("{energy:.3}");
}

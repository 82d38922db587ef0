//! The fuzzer of the readers, any number of executions:
//!
//! ```text
//! cargo run --release -p contech-middle --example fuzz -- trace 10000000
//! cargo run --release -p contech-middle --example fuzz -- graph 10000000 SEED
//! cargo run --release -p contech-middle --example fuzz -- observation 10000000
//! ```
//!
//! It ends with a line of what it did. A panic is the finding: the seed and the number of the execution are printed every
//! 100,000 executions, and `trace|graph|observation 1 SEED` with the seed printed last repeats from there.

#[path = "../tests/suite/fuzz.rs"]
mod fuzz;
#[path = "../tests/suite/memory.rs"]
mod memory;
#[path = "../tests/suite/trace.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod trace;

use std::time::Instant;

use contech_middle::{Options, convert};
use fuzz::{Random, graph_once, observation, observation_once, seed, trace_once, units};

/// Peak resident memory in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:"));
    line.and_then(|l| l.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let target = arguments.get(1).map_or("", String::as_str);
    let number = |i: usize| arguments.get(i).and_then(|n| n.parse::<u64>().ok());
    let (Some(executions), "trace" | "graph" | "observation") = (number(2), target) else {
        eprintln!("usage: fuzz trace|graph|observation EXECUTIONS [SEED]");
        return;
    };
    let pieces = seed().pieces;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("seed.tg");
    convert(trace::assemble(&pieces), &path, &Options::default()).expect("the seed is sound");
    let graph = std::fs::read(&path).expect("the seed was written");
    let places = units(&graph);
    let observed = observation();
    let mut random = Random(number(3).unwrap_or(88_172_645_463_325_252));
    let begun = Instant::now();
    let (mut sum, mut slowest) = (0u64, 0u128);
    for n in 0..executions {
        if n % 100_000 == 0 {
            eprintln!(
                "{n} seed {} peak {} KiB slowest {slowest} us",
                random.0,
                peak_kib()
            );
        }
        let one = Instant::now();
        sum = sum.wrapping_add(match target {
            "trace" => trace_once(&pieces, &mut random),
            "observation" => observation_once(&observed, &mut random),
            _ => graph_once(&graph, &places, &mut random),
        });
        slowest = slowest.max(one.elapsed().as_micros());
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{target}: {executions} executions in {seconds:.0} s, slowest {slowest} us, peak {} KiB, checksum {sum:x}: no panic, no hang",
        peak_kib()
    );
}

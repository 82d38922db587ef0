//! Accesses per second of the analyses that look at every access, on synthetic graphs, one core each:
//! `cargo run --release -p contech-backends --example access_rates [million accesses [pattern]]`.

use std::time::{Duration, Instant};

use contech_backends::analysis::{Analysis, Graph, open, run};
use contech_backends::{cache, misses, races};
use fastrand::Rng;
use taskgraph::MemOp;
use taskgraph::builder::GraphBuilder;

const CONTEXTS: u64 = 4;
const PHASES: u64 = 8;

/// The addresses of one block execution: three reads and a write.
type Pattern = fn(context: u64, i: u64, random: &mut Rng) -> [u64; 4];

const PATTERNS: [(&str, Pattern); 3] = [
    // Every context reads and writes its part of arrays of 8 MB, and reads a row that all read.
    ("affine", |context, i, _| {
        let at = (context << 21) + 8 * (i % (1 << 18));
        [
            0x1000_0000 + at,
            0x2000_0000 + at,
            0x3000_0000 + 8 * (i % 1000),
            0x4000_0000 + at,
        ]
    }),
    // Nodes of 64 bytes in 16 MB of its own, and a stack slot.
    ("list", |context, _, random| {
        let node = 0x5500_0000_0000 + (context << 24) + 64 * (random.u64(..1 << 18));
        [node, node + 8, node + 16, 0x7fff_0000 + (context << 16)]
    }),
    // Reads anywhere in 64 MB that all share, writes anywhere in 16 MB of its own.
    ("random", |context, _, random| {
        let shared = |random: &mut Rng| 0x1000_0000 + 8 * (random.u64(..1 << 23));
        [
            shared(random),
            shared(random),
            shared(random),
            0x9000_0000 + (context << 24) + 8 * (random.u64(..1 << 21)),
        ]
    }),
];

/// Phases of work between barriers.
fn graph(pattern: Pattern, accesses: u64) -> anyhow::Result<Graph> {
    let mut b = GraphBuilder::new();
    let kernel = b.block(
        "kernel",
        "kernel.c",
        10,
        &[
            MemOp::load(8),
            MemOp::load(8),
            MemOp::load(8),
            MemOp::store(8),
        ],
    );
    let main = b.context("main");
    b.work(main, 0, 1, |_| {});
    let contexts: Vec<_> = std::iter::once(main)
        .chain((1..CONTEXTS).map(|_| b.create(main)))
        .collect();
    let mut random = Rng::with_seed(7);
    for phase in 0..PHASES {
        for (number, &context) in (0..).zip(&contexts) {
            let executions = accesses / (4 * CONTEXTS * PHASES);
            b.work(context, phase * 1_000_000, (phase + 1) * 1_000_000, |w| {
                (0..executions).for_each(|i| w.block(kernel, &pattern(number, i, &mut random)));
            });
        }
        b.barrier(&contexts, 0xba);
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("graph.tg");
    b.write(&path)?;
    open(&path)
}

fn measure<A: Analysis>(name: &str, options: A::Config, graph: &Graph) -> anyhow::Result<()> {
    let clock = Clock::start();
    run::<A>(options, graph)?;
    print_rate(name, graph, clock.seconds());
    Ok(())
}

/// Time of this thread on a processor where the system tells it (others may be using the machine), or else by the wall.
struct Clock(Option<Duration>, Instant);

impl Clock {
    fn start() -> Self {
        Self(on_processor(), Instant::now())
    }

    fn seconds(&self) -> f64 {
        let passed = on_processor().zip(self.0).map(|(now, then)| now - then);
        passed.unwrap_or_else(|| self.1.elapsed()).as_secs_f64()
    }
}

fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ')
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn print_rate(name: &str, graph: &Graph, seconds: f64) {
    println!(
        "  {name:24} {:7.1} M accesses/s",
        1e-6 * graph.summary().accesses as f64 / seconds
    );
}

fn main() -> anyhow::Result<()> {
    let millions: u64 = std::env::args()
        .nth(1)
        .map_or(Ok(16), |text| text.parse())?;
    let wanted = std::env::args().nth(2);
    for (name, pattern) in PATTERNS {
        if wanted.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let graph = graph(pattern, millions * 1_000_000)?;
        println!(
            "{name}: {} accesses in {} bytes",
            graph.summary().accesses,
            graph.bytes().len()
        );
        let clock = Clock::start();
        let mut sum = 0u64;
        for task in graph.tasks() {
            task?.for_each_access(|access| sum = sum.wrapping_add(access.addr))?;
        }
        print_rate(
            &format!("decode [{:x}]", sum & 0xff),
            &graph,
            clock.seconds(),
        );
        let full = cache::Options {
            sizes: "1K..256M".parse().map_err(anyhow::Error::msg)?,
            ways: vec![cache::Ways::Full],
            line: "64".parse().map_err(anyhow::Error::msg)?,
            shared: true,
            private: false,
            sample: None,
        };
        measure::<cache::Cache>("cache, 19 sizes, full", full, &graph)?;
        let all = misses::Options {
            sizes: "1K..256M".parse().map_err(anyhow::Error::msg)?,
            ways: cache::Ways::Full,
            line: "64".parse().map_err(anyhow::Error::msg)?,
            top: 20,
            sample: None,
        };
        measure::<misses::Misses>("misses, 19 sizes, full", all, &graph)?;
        let memory = "4G".parse().map_err(anyhow::Error::msg)?;
        measure::<races::Races>("races", races::Options { memory }, &graph)?;
    }
    Ok(())
}

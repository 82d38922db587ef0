//! `lock-hold GRAPH [--at-least NS] [--format text|json|csv] [-o FILE]`: how often and how long
//! each lock was held.
//!
//! A tool of one's own: as a package outside of this workspace it depends on `contech-backends`
//! (driver, options, output), `contech-taskgraph` (the graph), anyhow, clap and serde.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_backends::analysis::{Analysis, Graph, Order, Task, run};
use contech_backends::cli::Common;
use contech_backends::view::{Render, Table, View};
use taskgraph::SyncOp;

/// Options after those every analysis has.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Leave out locks that were never held so long, ns
    #[arg(long, value_name = "NS", default_value_t = 0)]
    pub(crate) at_least: u64,
}

/// The analysis.
#[derive(Debug)]
pub(crate) struct LockHold(Options);

/// A lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Hold {
    pub(crate) lock: u64,
    pub(crate) times: u64,
    pub(crate) total_ns: u64,
    pub(crate) longest_ns: u64,
}

/// The result: the locks, those held longest first.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Report {
    pub(crate) locks: Vec<Hold>,
}

/// Of one context: what it holds since when, and what it held.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    since: BTreeMap<u64, u64>,
    held: BTreeMap<u64, Hold>,
}

impl Analysis for LockHold {
    const NAME: &'static str = "lock-hold";
    const ABOUT: &'static str = "How often and how long each lock was held";
    const ORDER: Order = Order::PerContext;
    type Config = Options;
    type Shard = Shard;
    type Report = Report;

    fn new(options: Options, _: &Graph) -> Result<Self> {
        Ok(Self(options))
    }

    fn shard(&self) -> Shard {
        Shard::default()
    }

    fn task(&self, shard: &mut Shard, task: &Task<'_>) -> Result<()> {
        let lock = task.object();
        match task.op() {
            SyncOp::MutexLock | SyncOp::SpinLock => _ = shard.since.insert(lock, task.end_ns()),
            SyncOp::MutexUnlock | SyncOp::SpinUnlock => {
                if let Some(since) = shard.since.remove(&lock) {
                    let ns = task.start_ns().saturating_sub(since);
                    let hold = shard.held.entry(lock).or_default();
                    hold.times += 1;
                    hold.total_ns += ns;
                    hold.longest_ns = hold.longest_ns.max(ns);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self, _: &Graph, shards: Vec<Shard>) -> Result<Report> {
        let mut all: BTreeMap<u64, Hold> = BTreeMap::new();
        for (lock, hold) in shards.into_iter().flat_map(|shard| shard.held) {
            let sum = all.entry(lock).or_default();
            *sum = Hold {
                lock,
                times: sum.times + hold.times,
                total_ns: sum.total_ns + hold.total_ns,
                longest_ns: sum.longest_ns.max(hold.longest_ns),
            };
        }
        let long = |hold: &Hold| hold.longest_ns >= self.0.at_least;
        let mut locks: Vec<Hold> = all.into_values().filter(long).collect();
        locks.sort_by_key(|hold| std::cmp::Reverse(hold.total_ns));
        Ok(Report { locks })
    }
}

impl Render for Report {
    fn view(&self) -> View {
        let table = Table::of(&self.locks)
            .text("lock", "lock", |hold| format!("{:#x}", hold.lock))
            .count("times", "times", |hold| hold.times)
            .time("held", "total_ns", |hold| hold.total_ns)
            .time("longest", "longest_ns", |hold| hold.longest_ns)
            .table();
        View::default().heading("Locks held").table(table)
    }
}

/// How long each lock was held
#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let Arguments { common, options } = Arguments::parse();
    let done = common.open().and_then(|graph| {
        let report = run::<LockHold>(options, &graph)?;
        common.write(&graph, &report)
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lock-hold: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! `MODEL: NAME N`: how many tasks and edges an OpenMP task program must have, derived from what it
//! computes and not from what was recorded.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use taskgraph::{SyncOp, TaskKind};

use crate::tasks::{Graph, is_explicit};

/// Numbers of explicit tasks, of waits for them, and of edges.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    /// Explicit tasks: each has an edge from its Create.
    tasks: u64,
    /// taskwaits.
    waits: u64,
    /// Edges from the last task of an explicit task to the context that waited for it.
    joined: u64,
    /// Edges from a task to one that depends on it.
    depend: u64,
}

/// Compares a graph with the model.
pub(crate) fn check(model: &str, graph: &Graph) -> Result<()> {
    let (name, n) = model.split_once(' ').context("MODEL: NAME N")?;
    let n: usize = n.trim().parse()?;
    let want = match name {
        "fib" => fib(n),
        "nqueens" => nqueens(n),
        "sort" => sort(n),
        "cholesky" => cholesky(n),
        "tree" => tree(n),
        _ => bail!("unknown model {name}"),
    };
    let got = count(graph)?;
    if got != want {
        bail!("{model}: expected {want:?}, the graph has {got:?}");
    }
    Ok(())
}

fn count(graph: &Graph) -> Result<Numbers> {
    let mut explicit = BTreeSet::new();
    for context in graph.contexts() {
        if is_explicit(&context, graph)? {
            explicit.insert(context.id);
        }
    }
    let mut numbers = Numbers::default();
    for task in graph.tasks() {
        let task = task?;
        numbers.tasks += u64::from(task.op() == SyncOp::TaskCreate);
        numbers.waits += u64::from(task.op() == SyncOp::TaskWait);
        let depends = matches!(task.op(), SyncOp::DependIn | SyncOp::DependInout);
        for before in task.dependencies()? {
            let ended = explicit.contains(&before.context);
            numbers.joined += u64::from(ended && task.kind() == TaskKind::Join);
            numbers.depend += u64::from(ended && depends);
        }
    }
    if explicit.len() as u64 != numbers.tasks {
        bail!("{} contexts of explicit tasks, {} creates", explicit.len(), numbers.tasks);
    }
    Ok(numbers)
}

/// There are F(n+1) - 1 calls with n >= 2; each generates two tasks and waits once.
fn fib(n: usize) -> Numbers {
    let (mut a, mut b) = (0u64, 1u64);
    for _ in 0..=n {
        (a, b) = (b, a + b);
    }
    let calls = a - 1;
    Numbers { tasks: 2 * calls, waits: calls, joined: 2 * calls, depend: 0 }
}

/// There is a task for each way to place queens in the first rows. The start and all tasks but
/// those of whole placements wait.
fn nqueens(n: usize) -> Numbers {
    fn ways(n: usize, placed: &mut Vec<usize>, by_row: &mut [u64]) {
        by_row[placed.len()] += 1;
        if placed.len() == n {
            return;
        }
        for c in 0..n {
            let row = placed.len();
            let free = placed.iter().enumerate().all(|(r, &p)| p != c && p.abs_diff(c) != row - r);
            if free {
                placed.push(c);
                ways(n, placed, by_row);
                placed.pop();
            }
        }
    }
    let mut by_row = vec![0; n + 1];
    ways(n, &mut Vec::new(), &mut by_row);
    let tasks = by_row[1..].iter().sum();
    Numbers { tasks, waits: by_row[..n].iter().sum(), joined: tasks, depend: 0 }
}

/// Every part longer than 16 has two tasks and a wait.
fn sort(n: usize) -> Numbers {
    fn splits(n: usize) -> u64 {
        if n <= 16 { 0 } else { 1 + splits(n / 2) + splits(n - n / 2) }
    }
    let splits = splits(n);
    Numbers { tasks: 2 * splits, waits: splits, joined: 2 * splits, depend: 0 }
}

/// The tasks of a factorisation of n by n blocks. The reader of a block depends on its last writer.
/// The writer of a block depends on everyone who has read it since, or on its last writer if nobody
/// has.
fn cholesky(n: usize) -> Numbers {
    type Block = (usize, usize);
    /// Whether the block was written yet, and how many have read it since.
    type Uses = BTreeMap<Block, (bool, u64)>;
    fn task(reads: &[Block], write: Block, uses: &mut Uses) -> u64 {
        let mut edges = 0;
        for block in reads {
            let (written, readers) = uses.entry(*block).or_default();
            edges += u64::from(*written);
            *readers += 1;
        }
        let (written, readers) = uses.entry(write).or_default();
        edges += if *readers > 0 { *readers } else { u64::from(*written) };
        (*written, *readers) = (true, 0);
        edges
    }
    let mut uses = Uses::new();
    let (mut tasks, mut depend) = (0, 0);
    let mut add = |reads: &[Block], write| {
        tasks += 1;
        depend += task(reads, write, &mut uses);
    };
    for k in 0..n {
        add(&[], (k, k));
        for i in k + 1..n {
            add(&[(k, k)], (i, k));
        }
        for i in k + 1..n {
            for j in k + 1..i {
                add(&[(i, k), (j, k)], (i, j));
            }
            add(&[(i, k)], (i, i));
        }
    }
    let n = n as u64;
    let closed = n + n * (n - 1) + n * (n - 1) * n.saturating_sub(2) / 6;
    assert_eq!(tasks, closed, "the loops of the model");
    Numbers { tasks, waits: 0, joined: tasks, depend }
}

/// There is a task for each node but the root.
fn tree(depth: usize) -> Numbers {
    let tasks = (1 << (depth + 1)) - 2;
    Numbers { tasks, waits: 0, joined: tasks, depend: 0 }
}

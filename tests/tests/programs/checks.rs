//! `CHECK: ...`: what a program prints of what it does must be in the graph. Most lines are `R|W
//! address number` ([`said`]).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use contech_tests::log_order::{self, Log};
use contech_tests::program::said;
use taskgraph::{Action, ContextId};

use crate::tasks::Graph;

/// The check of that name, of what a program printed. The trace is given if it has to be short.
pub(crate) fn check(name: &str, said: &str, short: Option<&PathBuf>, graph: &Graph) -> Result<()> {
    match name {
        "accesses" => accesses(said, graph),
        "bytes" => bytes(said, graph),
        "allocations" => allocations(said, graph),
        "executors" => executors(said, graph),
        "log-order" => log_order(said, graph),
        "turns" => turns(said, short, graph),
        other => bail!("unknown CHECK {other}"),
    }
}

/// Lines `CTX:* R|W address size`: they are a subsequence of the context's accesses in the graph.
fn accesses(output: &str, graph: &Graph) -> Result<()> {
    let parse = |line: &str| -> Result<_> {
        let bad = || format!("not `CTX:* R|W address size`: {line}");
        let (context, access) = line.split_once(":* ").with_context(bad)?;
        Ok((context.parse::<u32>().with_context(bad)?, said(access)?))
    };
    let mut wants = output.lines().map(parse).collect::<Result<Vec<_>>>()?.into_iter().peekable();
    let context = wants.peek().context("the program said nothing")?.0;
    let mut seen = Vec::new();
    for task in graph.tasks_of(ContextId::new(context)) {
        task?.for_each_access(|a| {
            if wants.next_if_eq(&(context, (a.write, a.addr, a.size))).is_none() {
                seen.push((a.write, a.addr, a.size));
            } else {
                seen.clear();
            }
        })?;
    }
    if let Some((_, (write, addr, size))) = wants.next() {
        let near: Vec<_> = seen.iter().rev().take(60).rev().collect();
        bail!(
            "missing {} {addr:#x} {size} ({} more after it); the last accesses since the one found before: {near:x?}",
            if write { 'W' } else { 'R' },
            wants.count()
        );
    }
    Ok(())
}

/// Lines `R|W address size` (these bytes, whatever the width and order of the accesses) and
/// `ONLY R|W address size` (no others within these).
fn bytes(output: &str, graph: &Graph) -> Result<()> {
    let mut wanted = HashSet::new();
    let mut only = Vec::new();
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("ONLY ") {
            only.push(said(rest)?);
        } else {
            let (write, addr, size) = said(line)?;
            wanted.extend((addr..addr + size).map(|byte| (write, byte)));
        }
    }
    let mut missing = wanted.clone();
    let mut excess = Vec::new();
    for task in graph.tasks() {
        task?.for_each_access(|a| {
            for byte in a.addr..a.addr + a.size {
                missing.remove(&(a.write, byte));
                let forbidden = only
                    .iter()
                    .any(|&(write, at, size)| write == a.write && (at..at + size).contains(&byte))
                    && !wanted.contains(&(a.write, byte));
                if forbidden && excess.len() < 20 {
                    excess.push((a.write, byte, a));
                }
            }
        })?;
    }
    if !missing.is_empty() || !excess.is_empty() {
        let mut few: Vec<_> = missing.iter().collect();
        few.sort();
        few.truncate(20);
        bail!(
            "bytes not seen (write?, address): {few:x?}; bytes that must not be touched: {excess:x?}"
        );
    }
    Ok(())
}

/// Lines `alloc KIND address size`, `free address ...`, `map address size`, `unmap address size`:
/// exactly these, in this order.
fn allocations(said: &str, graph: &Graph) -> Result<()> {
    let want: Vec<String> = said
        .lines()
        // A freed address has no size; the program prints 0 there.
        .map(|l| if l.starts_with("free") { l.rsplit_once(' ').map_or(l, |(a, _)| a) } else { l })
        .map(str::to_owned)
        .collect();
    let line = |action: &Action<'_>| match action {
        Action::Alloc { addr, size, kind } => {
            Some(format!("alloc {} {addr:#x} {size}", kind.name()))
        }
        Action::Free { addr } => Some(format!("free {addr:#x}")),
        Action::Map { addr, size } => Some(format!("map {addr:#x} {size}")),
        Action::Unmap { addr, size } => Some(format!("unmap {addr:#x} {size}")),
        _ => None,
    };
    let mut got = Vec::new();
    for context in graph.contexts() {
        for task in graph.tasks_of(context.id) {
            task?.for_each_action(|action| got.extend(line(&action)))?;
        }
    }
    // Printing and the start of the program allocate too, so only the allocations between the
    // program's first and last must be its own.
    let start = got.iter().position(|l| Some(l) == want.first());
    let Some(start) = start else {
        bail!("{:?} is not in the graph, which has\n{}", want.first(), got.join("\n"));
    };
    let own = &got[start..got.len().min(start + want.len())];
    if own != want {
        bail!("the program saw\n{}\n\nthe graph has\n{}", want.join("\n"), own.join("\n"));
    }
    Ok(())
}

/// Who executed what. The function `here` of the program writes four bytes of a variable that each
/// thread has for itself, so an address stands for a thread: each address must be of one executor,
/// and each executor must have one. The only line of output says how many threads there are at the
/// least.
fn executors(said: &str, graph: &Graph) -> Result<()> {
    let least: usize = said.trim().parse().context("a number of threads")?;
    let info = graph.info();
    let is_here = |name: &str| name == "here" || name.ends_with("::here");
    let mut executors: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    let mut addresses: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    let mut contexts = BTreeSet::new();
    for task in graph.tasks() {
        let task = task?;
        let executor = task.executor();
        let known = graph.executor(executor);
        ensure!(known.is_some(), "no executor {executor}");
        task.for_each_action(|action| {
            let Action::Block(block) = action else { return };
            let function = info.block(block.id()).map(|block| block.function);
            let function = function.and_then(|f| info.functions.get(f.index()));
            if !function.is_some_and(|f| is_here(&f.name)) {
                return;
            }
            for access in block.accesses().filter(|a| a.write && a.size == 4) {
                let numbers = executors.entry(access.addr).or_default();
                numbers.insert(executor.get());
                addresses.entry(executor.get()).or_default().insert(access.addr);
                contexts.insert(task.id().context);
            }
        })?;
    }
    ensure!(
        executors.values().all(|e| e.len() == 1) && addresses.values().all(|a| a.len() == 1),
        "executors by address {executors:x?}, addresses by executor {addresses:x?}"
    );
    ensure!(
        executors.len() >= least && contexts.len() >= executors.len(),
        "{} threads and {} contexts",
        executors.len(),
        contexts.len()
    );
    Ok(())
}

/// Lines `sections ADDRESS COUNT SIZE`: arrays whose entries critical sections wrote in the order of
/// their execution, which is an order of the graph. With `tickets` instead of `sections` an atomic
/// counter gave out the entries ([`Log::tickets`]).
fn log_order(said: &str, graph: &Graph) -> Result<()> {
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let tickets = match words.next()? {
            "sections" => false,
            "tickets" => true,
            _ => return None,
        };
        let base = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        let (count, size) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Log { tickets, bases: vec![base], count, size })
    };
    let logs: Vec<Log> = said.lines().filter_map(parse).collect();
    ensure!(!logs.is_empty(), "no line `sections ADDRESS COUNT SIZE`");
    let changes = log_order::check(&logs, graph)?;
    ensure!(changes > 0, "the log never changed hands: the test showed nothing");
    Ok(())
}

/// Lines `R|W ADDRESS COUNT`: what a wait reads or writes in each turn is in the graph so often. The
/// trace, if there is one of the fast form alone, has only its number, and is short.
fn turns(output: &str, trace: Option<&PathBuf>, graph: &Graph) -> Result<()> {
    /// The most bytes of the trace without the turns.
    const BASE: u64 = 16 << 10;
    let mut counts = HashMap::new();
    let mut turns = 0;
    for line in output.lines() {
        let (write, address, count) = said(line)?;
        counts.insert((write, address), (count, 0));
        turns += count;
    }
    for task in graph.tasks() {
        task?.for_each_access(|a| {
            if let Some((_, seen)) = counts.get_mut(&(a.write, a.addr)) {
                *seen += 1;
            }
        })?;
    }
    if let Some((place, counts)) = counts.iter().find(|(_, (said, seen))| said != seen) {
        bail!("(said, in the graph) {counts:?} of (write?, address) {place:x?}");
    }
    let bytes = match trace {
        Some(trace) => fs::metadata(trace)?.len(),
        None => 0,
    };
    if turns == 0 || bytes > BASE + turns / 4 {
        bail!("{bytes} bytes of trace for {turns} accesses");
    }
    Ok(())
}

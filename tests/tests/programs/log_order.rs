//! `CHECK: log-order`: the order that the program logged is an order of the graph.
//!
//! Standard output has lines `sections ADDRESS COUNT SIZE`: arrays whose entries critical sections
//! wrote in the order of their execution. With `tickets` instead of `sections` an atomic counter
//! gave out the entries ([`Log::tickets`]).

use anyhow::{Result, ensure};
use contech_tests::log_order::{self, Log};

use crate::tasks::Graph;

pub(crate) fn check(said: &str, graph: &Graph) -> Result<()> {
    let logs: Vec<Log> = said.lines().filter_map(parse).collect();
    ensure!(!logs.is_empty(), "no line `sections ADDRESS COUNT SIZE`");
    let changes = log_order::check(&logs, graph)?;
    ensure!(changes > 0, "the log never changed hands: the test showed nothing");
    Ok(())
}

fn parse(line: &str) -> Option<Log> {
    let mut words = line.split_whitespace();
    let tickets = match words.next()? {
        "sections" => false,
        "tickets" => true,
        _ => return None,
    };
    let base = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    Some(Log {
        tickets,
        bases: vec![base],
        count: words.next()?.parse().ok()?,
        size: words.next()?.parse().ok()?,
    })
}

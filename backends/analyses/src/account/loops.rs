//! Loops whose pieces any thread of a team takes when it is free (OpenMP's `schedule(dynamic)`).
//!
//! Which thread took which piece in the recorded run is no order that the program asks for: who had
//! no processor took fewer. So where threads lacked processors, a replay deals the pieces out anew,
//! as it does with the jobs of queues. It is known how many pieces a thread took, and how long they
//! took together.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::Result;
use rustc_hash::FxHashSet;
use taskgraph::{BlockCounts, BlockId, StaticInfo, SyncOp, TaskId, TaskKind};

use super::counted::{Pool, Queue, Share};
use super::strands::{Strands, end};
use crate::analysis::Task;
use crate::view::units::whole;

/// How the names of functions begin that hand out a piece.
pub(super) const HANDS_OUT: &str = "__kmpc_dispatch_next_";
/// Of a thread with more pieces, several are dealt out as one: a part in so many of its time, and
/// fewer and fewer at the end of the loop, where the size of a piece tells who waits for whom.
const PARTS: u64 = 16;
/// Where threads lacked processors for less than one part in so many of a loop, who took which
/// piece was right: whether some pieces are larger than others is not known otherwise.
const LACKED: u64 = 16;

/// The blocks that ask for a piece.
pub(super) fn asking(info: &StaticInfo) -> FxHashSet<BlockId> {
    let asks = |callee: &str| callee.starts_with(HANDS_OUT);
    let blocks = (0..).zip(&info.blocks);
    let asking = blocks.filter(|(_, block)| block.call.as_ref().is_some_and(|c| asks(&c.callee)));
    asking.map(|(at, _)| BlockId::new(at)).collect()
}

/// How many pieces of a loop a task did, if it is all that its context did of the loop.
///
/// # Errors
/// When the task or the next one cannot be read.
pub(super) fn pieces(task: &Task<'_>, asking: &FxHashSet<BlockId>) -> Result<u64> {
    let id = task.id();
    if task.kind() != TaskKind::Work || task.is_last() {
        return Ok(0);
    }
    if task.other(TaskId::new(id.context, id.seq + 1))?.op() != SyncOp::WorkEnd {
        return Ok(0);
    }
    let (asked, known) = executed(task, asking)?;
    // Of a sample's task a part of the blocks is known. Who asks last gets none.
    let all = asked as f64 * task.block_count() as f64 / known.max(1) as f64;
    Ok(whole(all).saturating_sub(1))
}

/// How often a task executes these blocks, and all, as far as that is known.
///
/// # Errors
/// When the task cannot be read.
pub(super) fn executed(task: &Task<'_>, blocks: &FxHashSet<BlockId>) -> Result<(u64, u64)> {
    let mut counts = BlockCounts::new();
    task.count_blocks(&mut counts)?;
    let own = counts.iter().filter(|(block, _)| blocks.contains(block));
    let times = |(_, times): (BlockId, u64)| times;
    Ok((own.map(times).sum(), counts.iter().map(times).sum()))
}

/// Divides the time (ns) of so many pieces.
pub(super) fn divide(ns: u64, pieces: u64) -> Vec<u64> {
    let (mut left, mut left_pieces) = (ns, pieces);
    let mut parts = Vec::new();
    while left_pieces > 0 {
        let most = pieces.div_ceil(PARTS).min(left_pieces.div_ceil(2));
        let part = whole(ns as f64 * most as f64 / pieces as f64).min(left);
        left_pieces -= most;
        left -= part;
        parts.push(if left_pieces == 0 { part + left } else { part });
    }
    parts
}

/// Lets the contexts of each team take the parts of its loops in the order in which they were
/// begun.
pub(super) fn deal(strands: &mut Strands) {
    let mut loops: BTreeMap<(TaskId, u32), Vec<Share>> = BTreeMap::new();
    for share in std::mem::take(&mut strands.shares) {
        loops.entry((share.team, share.number)).or_default().push(share);
    }
    for shares in loops.into_values().filter(|shares| shares.len() > 1) {
        let ran = |share: &Share| -> u64 {
            share.strands.clone().map(|strand| strands.all[strand as usize].ns).sum()
        };
        let ran: u64 = shares.iter().map(ran).sum();
        let lacked: u64 = shares.iter().map(|share| share.lacked_ns).sum();
        if lacked < (ran + lacked) / LACKED {
            continue;
        }
        let mut jobs: Vec<(u64, Range<u32>)> = Vec::new();
        for share in &shares {
            let mut at_ns = share.at_ns;
            for strand in share.strands.clone() {
                jobs.push((at_ns, strand..strand + 1));
                at_ns += strands.all[strand as usize].ns;
            }
        }
        jobs.sort_by_key(|(at_ns, job)| (*at_ns, job.start));
        let queue = end(&strands.queues);
        let jobs = jobs.into_iter().map(|(_, job)| job).collect();
        strands.queues.push(Queue { jobs, ..Queue::default() });
        for Share { strands: own, .. } in shares {
            strands.pools.insert(own.start, Pool { queue, last: own.end });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::replay::{Nobody, Removable, Schedule, replay};
    use super::super::strands::Strand;
    use super::*;

    #[test]
    fn parts_are_dealt_out_anew_where_threads_lacked_processors() {
        // Before the loop, four parts of 10 ms, and after it; the other context did two.
        let ns = [1, 10_000, 10_000, 10_000, 10_000, 1, 1, 10_000, 10_000, 1];
        let lasts = |lacked_ns| {
            let share = |at_ns, strands| Share {
                team: TaskId::default(),
                number: 1,
                at_ns,
                lacked_ns,
                strands,
            };
            let mut strands = Strands {
                all: ns.map(Strand::running).to_vec(),
                contexts: vec![0, 6, 10],
                leads: vec![true; 2],
                shares: vec![share(0, 1..5), share(3, 7..9)],
                ..Strands::default()
            };
            deal(&mut strands);
            let on = (2, Schedule::Greedy);
            replay(&strands, on, (&Removable::default(), 0), Nobody).0
        };
        assert_eq!(lasts(0), 40_002.0);
        assert_eq!(lasts(20_000), 30_002.0);
    }

    #[test]
    fn few_pieces_are_told_apart_and_of_many_the_last_ones() {
        assert_eq!(divide(90, 3), [30, 30, 30]);
        let parts = divide(1_000_000, 1000);
        assert_eq!(parts.iter().sum::<u64>(), 1_000_000);
        assert_eq!((parts[0], parts[parts.len() - 1]), (63_000, 1000));
        assert!(parts.len() < 24);
    }
}

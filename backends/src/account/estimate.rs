//! Estimates, by models, what is lost while contexts run: to caches, to lines that move between processors, and to
//! allocation.
//!
//! The running time is divided in proportion to what the code and each of these would take on a usual machine. So the
//! slowness of recording, which all of them share, does not matter.

use super::{Loss, Report, Row};
use crate::analysis::source::Place;
use crate::view::units::{ratio, whole};
use crate::{memuse, misses, sharing};

/// Time of an IR instruction, ns.
const OP_NS: f64 = 0.3;
/// The additional cost of a miss in a cache of at least so many bytes over a miss in a smaller one, ns. The processor
/// has other things to do for most of the time that the second cache takes.
const MISS_NS: [(u64, f64); 3] = [(32 << 10, 1.0), (1 << 20, 12.0), (32 << 20, 60.0)];
/// The part of a miss's cost that remains if the processor fetches the line ahead.
const AHEAD: f64 = 0.1;
/// Cost of fetching a line that another processor wrote, ns.
const TRANSFER_NS: f64 = 80.0;
/// Cost of an allocation and its release, ns.
const ALLOCATION_NS: f64 = 20.0;

impl Report {
    /// Moves the time that the models call lost from the useful time to the losses.
    pub fn estimate(
        &mut self,
        misses: Option<&misses::Report>,
        sharing: Option<&sharing::Report>,
        memory: Option<&memuse::Report>,
    ) {
        let found = [
            misses.map_or((0.0, None), cache),
            sharing.map_or((0.0, None), transfers),
            memory.map_or((0.0, None), allocations),
        ];
        let causes = [Loss::Cache, Loss::Sharing, Loss::Allocation];
        let all = self.ir_ops as f64 * OP_NS + found.iter().map(|(ns, _)| ns).sum::<f64>();
        // What code that was not recorded does is not known to the models.
        let running_ns = self.useful_ns.saturating_sub(self.outside_ns);
        let running = running_ns as f64;
        // Who waits for slow code waits for less of it.
        let beside = |row: &&Row| matches!(row.cause, Loss::Imbalance | Loss::Barrier);
        let beside: u64 = self.losses.iter().filter(beside).map(|row| row.ns).sum();
        let with_it = 1.0 + ratio(beside, self.useful_ns);
        let greedy = self.predicted.greedy.clone();
        for (cause, (ns, code)) in causes.into_iter().zip(found) {
            let ns = whole(running * ns / all.max(1.0));
            if ns == 0 {
                continue;
            }
            self.useful_ns = self.useful_ns.saturating_sub(ns);
            self.losses.push(Row {
                ns,
                share: ratio(ns, self.total_ns),
                code,
                mended: Row::scaled(&greedy, ratio(ns, self.total_ns) * with_it),
                ..Row::of(cause)
            });
        }
        super::sort(&mut self.losses);
    }
}

type Estimate = (f64, Option<Place>);

/// Lines that are used for the first time must be fetched in any case, so they cost nothing here.
fn cache(misses: &misses::Report) -> Estimate {
    let cost = |row: &misses::Instruction| {
        let level = |&(size, ns): &(u64, f64)| {
            let at = misses.sizes.iter().position(|&other| other >= size)?;
            let (all, far) = (*row.misses.get(at)?, *row.far.get(at)?);
            let near = all.saturating_sub(row.first).saturating_sub(far);
            Some((far as f64 + near as f64 * AHEAD) * ns)
        };
        MISS_NS.iter().filter_map(level).sum::<f64>()
    };
    let rows = misses.instructions.iter().map(|row| (cost(row), row));
    let most = rows.clone().max_by(|a, b| a.0.total_cmp(&b.0));
    (
        rows.map(|(ns, _)| ns).sum(),
        most.map(|(_, row)| row.place.clone()),
    )
}

fn transfers(sharing: &sharing::Report) -> Estimate {
    let most = sharing.totals.iter().max_by_key(|total| total.false_misses);
    let Some(total) = most else {
        return (0.0, None);
    };
    let pairs = sharing.sources.iter().filter(|row| row.size == total.line);
    let source = pairs.max_by_key(|row| row.false_misses);
    let ns = total.false_misses as f64 * TRANSFER_NS;
    (ns, source.map(|row| row.a.clone()))
}

fn allocations(memory: &memuse::Report) -> Estimate {
    let most = memory.sites.iter().max_by_key(|row| row.site.allocations);
    let ns = memory.allocations as f64 * ALLOCATION_NS;
    (ns, most.map(|row| row.site.place.clone()))
}

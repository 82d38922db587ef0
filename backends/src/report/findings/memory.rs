//! What the code does to memory, and where it spends itself.

use super::{Finding, WORTH, finding, located};
use crate::cache::{self, Ways};
use crate::size::Size;
use crate::view::units::{count, ratio, share};
use crate::{blocks, misses, sharing};

/// False sharing below this share of all accesses costs nothing worth a sentence.
const TRANSFERS: f64 = 0.001;

/// The function whose blocks run most.
pub(super) fn hot(blocks: &blocks::Report) -> Option<Finding> {
    let top = blocks.functions.first()?;
    let part = ratio(top.executions, blocks.executions);
    let place = super::scaling::hottest(blocks, &top.place, |row| row.executions);
    let text = format!(
        "{} of all block executions are {}, with {:.2} contexts running on average.",
        share(part),
        located(&place),
        top.average
    );
    Some(finding("hot", place.short(), part, text))
}

/// The size at which doubling a cache pays most.
pub(super) fn capacity(cache: &cache::Report) -> Option<Finding> {
    let ways = cache
        .points
        .iter()
        .map(|point| point.ways)
        .filter(|&ways| ways <= Ways::Set(8))
        .max()?;
    let points: Vec<_> = cache
        .points
        .iter()
        .filter(|point| point.ways == ways && point.accesses > 0)
        .collect();
    let drop = |pair: &[&cache::Point]| {
        ratio(pair[0].misses, pair[0].accesses) - ratio(pair[1].misses, pair[1].accesses)
    };
    let best = points
        .windows(2)
        .max_by(|a, b| drop(a).total_cmp(&drop(b)))?;
    let part = drop(best);
    if part < 0.005 {
        return None;
    }
    let text = format!(
        "The cache miss rate falls from {} to {} when a shared {ways}-way cache grows from {} to {}.",
        share(ratio(best[0].misses, best[0].accesses)),
        share(ratio(best[1].misses, best[1].accesses)),
        Size::text(best[0].size),
        Size::text(best[1].size)
    );
    Some(finding("cache", Size::text(best[1].size), part, text))
}

/// The source line that misses most in the middle one of the caches.
pub(super) fn missing(misses: &misses::Report) -> Option<Finding> {
    let middle = misses.points.len() / 2;
    let total = misses.points.get(middle)?.misses;
    let (size, missed) = (misses.sizes.get(middle)?, |row: &misses::Instruction| {
        row.misses.get(middle).copied().unwrap_or(0)
    });
    let top = misses.instructions.iter().max_by_key(|row| missed(row))?;
    let part = ratio(missed(top), total);
    if part < WORTH || ratio(total, misses.points[middle].accesses) < TRANSFERS {
        return None;
    }
    let fits = top.fits.map_or_else(String::new, |size| {
        format!(" A cache of {} would hold what it uses.", Size::text(size))
    });
    let text = format!(
        "{} of the misses of a {} cache are one {} {}.{fits}",
        share(part),
        Size::text(*size),
        top.access,
        located(&top.place)
    );
    Some(finding("misses", top.place.short(), part, text))
}

/// Lines that contexts take from one another for nothing.
pub(super) fn false_sharing(sharing: &sharing::Report) -> Option<Finding> {
    let total = sharing
        .totals
        .iter()
        .max_by_key(|total| total.false_misses)?;
    if ratio(total.false_misses, sharing.accesses) < TRANSFERS {
        return None;
    }
    let pairs = sharing.sources.iter().filter(|row| row.size == total.line);
    let top = pairs.max_by_key(|row| row.false_misses)?;
    let text = format!(
        "False sharing: {} times a {}-byte line was fetched again although nothing in use had changed, most often {}, because of the write {}. Padding would save them.",
        count(total.false_misses),
        total.line,
        located(&top.b),
        located(&top.a)
    );
    let part = ratio(total.false_misses, total.false_misses + total.true_misses);
    Some(finding("sharing", top.b.short(), part, text))
}

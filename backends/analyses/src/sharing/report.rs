//! The result of `sharing`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;
use taskgraph::{OpId, StaticInfo};

use super::caches::Caches;
use super::line::{Misses, NOWHERE};
use crate::analysis::Graph;
use crate::analysis::source::Place;
use crate::heap::{SiteId, SiteRow};

/// Number of executors in the matrix; if there are more, it has those that communicate most.
const MOST_EXECUTORS: usize = 1024;
/// The most lines in the result, those with the most misses.
const MOST_LINES: usize = 10_000;

/// Communication and sharing of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Executors of the rows and columns of `matrix`: all, or the 1024 that communicate most.
    pub executors: Vec<u32>,
    /// `matrix[i][j]`: bytes that executor `executors[j]` read and `executors[i]` had written; each
    /// value counts once for each reader.
    pub matrix: Vec<Vec<u64>>,
    /// Reads and writes.
    pub accesses: u64,
    /// One of so many windows of the run was looked at, and the numbers are so many times what was
    /// found, but for first uses; absent if all of it was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<u64>,
    /// Misses by line size.
    pub totals: Vec<Total>,
    /// Lines with the most misses first, of all line sizes.
    pub lines: Vec<LineRow>,
    /// Number of lines with misses.
    pub lines_total: u64,
    /// Source pairs with the most misses first.
    pub sources: Vec<Source>,
    /// Allocation sites with the most misses first.
    pub sites: Vec<SiteMisses>,
    #[serde(skip)]
    pub(super) top: usize,
}

/// Misses for one line size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Total {
    /// Bytes of a line.
    pub line: u64,
    /// First accesses of an executor to a line. They are not counted in a run of one executor,
    /// which shares nothing.
    pub cold: Option<u64>,
    /// Misses that brought data of another executor.
    pub true_misses: u64,
    /// Misses that did not, which padding would save.
    pub false_misses: u64,
    /// Writes that took a line from other executors.
    pub taken: u64,
    /// Misses on lines that the executor had lost just before: executors fight for these lines.
    pub contested: u64,
    /// Other misses on a line beside one that the executor had just missed on, which processors
    /// fetch ahead.
    pub ahead: u64,
}

impl Total {
    /// All misses on lines that another executor had taken.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.true_misses + self.false_misses
    }
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineRow {
    /// The address of the line.
    pub line: u64,
    /// Number of bytes of the line.
    pub size: u64,
    /// Whether most of its misses are false sharing.
    #[serde(rename = "false")]
    pub is_false: bool,
    /// Where its memory was allocated; absent for memory that no recorded allocation holds.
    pub allocation: Option<String>,
    /// Number of executors that use it.
    pub executors: u64,
    /// Misses because another executor had taken the line.
    pub misses: u64,
    /// Misses that brought data of another executor.
    pub true_misses: u64,
    /// Misses that did not.
    pub false_misses: u64,
    /// The accesses on both sides, the most misses first.
    pub sources: Vec<Source>,
}

/// Two source places that take a line from one another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Source {
    /// Bytes of a line.
    pub size: u64,
    /// The write.
    pub a: Place,
    /// The access that missed.
    pub b: Place,
    pub misses: u64,
    /// Misses that brought data of another executor.
    pub true_misses: u64,
    /// Misses that did not.
    pub false_misses: u64,
}

/// Misses in memory allocated at one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteMisses {
    /// Bytes of a line.
    pub size: u64,
    /// The place; absent for memory that no recorded allocation holds.
    #[serde(flatten)]
    pub site: Option<SiteRow>,
    pub misses: u64,
    /// Misses that brought data of another executor.
    pub true_misses: u64,
    /// Misses that did not.
    pub false_misses: u64,
}

/// Puts the result together: of caches of each line size, all allocation sites by number, how many
/// windows the one stands for that was looked at, and how many rows are shown.
pub(super) fn report(
    graph: &Graph,
    (caches, sites): (Vec<Caches>, &[SiteRow]),
    (windows, top): (Option<u64>, usize),
) -> Report {
    let info = graph.info();
    let alone = graph.executor_count() < 2;
    let every = windows.unwrap_or(1);
    let (executors, matrix) = matrix(graph, caches.first(), every);
    let mut report = Report {
        executors,
        matrix,
        accesses: graph.summary().accesses,
        windows,
        top,
        ..Report::default()
    };
    let site_row = |site: SiteId| {
        (site != NOWHERE).then(|| sites.get(site as usize).cloned().unwrap_or_default())
    };
    for mut cache in caches {
        cache.finish();
        let size = cache.line();
        let misses = std::mem::take(&mut cache.effects.misses).into_iter();
        let mut misses: Vec<_> = misses.map(|(key, n)| (key, n.times(every))).collect();
        misses.sort_unstable_by_key(|row| row.0);
        let mut total = Misses::default();
        let mut by_pair: BTreeMap<(u32, u32), Misses> = BTreeMap::new();
        let mut by_site: BTreeMap<SiteId, Misses> = BTreeMap::new();
        for rows in misses.chunk_by(|a, b| a.0.0 == b.0.0) {
            let line = rows[0].0.0;
            let mut of_line = Misses::default();
            for &((_, site, writer, missed), count) in rows {
                of_line.add(count);
                by_site.entry(site).or_default().add(count);
                by_pair.entry((writer, missed)).or_default().add(count);
            }
            total.add(of_line);
            let most = rows.iter().max_by_key(|(key, count)| (count.all(), Reverse(key.1)));
            let pairs = rows.iter().map(|&((_, _, writer, missed), n)| ((writer, missed), n));
            report.lines.push(LineRow {
                line: line * size,
                size,
                is_false: of_line.false_misses > of_line.true_misses,
                allocation: most.and_then(|most| site_row(most.0.1)).as_ref().map(in_words),
                executors: cache.executors(line),
                misses: of_line.all(),
                true_misses: of_line.true_misses,
                false_misses: of_line.false_misses,
                sources: sources(info, size, pairs),
            });
            report.lines_total += 1;
        }
        report.totals.push(Total {
            line: size,
            cold: (!alone).then_some(cache.effects.cold),
            true_misses: total.true_misses,
            false_misses: total.false_misses,
            taken: cache.effects.taken.saturating_mul(every),
            contested: cache.effects.contested.saturating_mul(every),
            ahead: cache.ahead.saturating_mul(every),
        });
        report.sources.extend(sources(info, size, by_pair));
        report.sites.extend(by_site.into_iter().map(|(site, misses)| SiteMisses {
            size,
            site: site_row(site),
            misses: misses.all(),
            true_misses: misses.true_misses,
            false_misses: misses.false_misses,
        }));
        // The lines of one size are handled together, so that their sources do not pile up.
        report.lines.sort_by_key(|row| (Reverse(row.misses), row.size, row.line));
        report.lines.truncate(MOST_LINES);
    }
    report.sources.sort_by_key(|row| Reverse(row.misses));
    report.sites.sort_by_key(|row| Reverse(row.misses));
    report
}

/// Bytes communicated between the executors that communicate most.
fn matrix(graph: &Graph, caches: Option<&Caches>, every: u64) -> (Vec<u32>, Vec<Vec<u64>>) {
    let Some(communicated) = caches.map(|caches| &caches.effects.communicated) else {
        return Default::default();
    };
    let all = graph.executor_count();
    let mut volume: BTreeMap<u32, u64> = BTreeMap::new();
    for (&(writer, reader), &bytes) in communicated {
        *volume.entry(writer).or_default() += bytes;
        *volume.entry(reader).or_default() += bytes;
    }
    let mut busiest: Vec<(u64, u32)> = volume.into_iter().map(|(at, bytes)| (bytes, at)).collect();
    busiest.sort_by_key(|&(bytes, at)| (Reverse(bytes), at));
    busiest.truncate(MOST_EXECUTORS);
    let mut chosen: Vec<u32> = busiest.into_iter().map(|row| row.1).collect();
    if all <= MOST_EXECUTORS {
        chosen = (0..).take(all).collect();
    }
    chosen.sort_unstable();
    let bytes = |writer: u32, reader: u32| {
        let bytes = communicated.get(&(writer, reader));
        bytes.map_or(0, |bytes| bytes.saturating_mul(every))
    };
    let row = |&writer: &u32| chosen.iter().map(|&reader| bytes(writer, reader)).collect();
    let matrix = chosen.iter().map(row).collect();
    (chosen, matrix)
}

/// Pairs of operations as pairs of places, the most misses first.
fn sources(
    info: &StaticInfo,
    size: u64,
    pairs: impl IntoIterator<Item = ((u32, u32), Misses)>,
) -> Vec<Source> {
    let mut merged: BTreeMap<(Place, Place), Misses> = BTreeMap::new();
    let place = |op| Place::of_op(info, OpId::new(op));
    for ((writer, missed), misses) in pairs {
        merged.entry((place(writer), place(missed))).or_default().add(misses);
    }
    let source = |((a, b), misses): ((Place, Place), Misses)| Source {
        size,
        a,
        b,
        misses: misses.all(),
        true_misses: misses.true_misses,
        false_misses: misses.false_misses,
    };
    let mut rows: Vec<Source> = merged.into_iter().map(source).collect();
    rows.sort_by_key(|row| Reverse(row.misses));
    rows
}

fn in_words(site: &SiteRow) -> String {
    format!("{}:{}", site.place.file, site.place.line)
}

//! `misses`: cache misses by instruction and by allocation site, for several sizes in one pass
//! (contech.txt, section 5.3 and Table II).
//!
//! The caches are those of `cache --shared`: the same stream in the same order, so the misses of
//! all instructions add up to its points exactly. An access that spans lines looks each of them up.
//! An allocation site is the call at the end of the last block before the allocation (a wrapper
//! around malloc is the site of all it allocates); memory that no recorded allocation holds is
//! static data, stacks, or allocated by code that was not recorded.
//!
//! `fits` is the smallest cache modelled that saves 90% of the misses between the smallest and the
//! largest cache; it is left out when the largest cache saves less than a tenth.

mod counter;
mod render;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, bail};
use serde::Serialize;
use taskgraph::{OpId, OpKind, Piece, StaticInfo};

use crate::analysis::source::Place;
use crate::analysis::{Analysis, Graph, Moment, Order, Reads};
use crate::cache::{self, Cache, Geometries, Point, Sample, Ways, rate};
use crate::heap::SiteRow;
use crate::size::{Size, Sizes};
use crate::view::units::ratio;

use counter::{Counter, Lookups};

/// Options of `misses`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Cache sizes: 32K, a list 32K,1M or every doubling of a range 1K..256M
    #[arg(long, value_name = "SIZES", default_value = "32K,256K,1M,8M,32M")]
    pub sizes: Sizes,
    /// Lines per set, or `full`
    #[arg(long, value_name = "WAYS", default_value = "full")]
    pub ways: Ways,
    /// Bytes of a cache line
    #[arg(long, value_name = "BYTES", default_value = "64")]
    pub line: Size,
    /// Rows shown as text
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub top: u32,
    /// A preview from this share of the lines, 0.001 to 1: estimates, for fully associative caches
    /// only
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub sample: Option<f64>,
    /// Curves of the same lines and sample to take from the same pass.
    #[arg(skip)]
    pub curves: Option<cache::Options>,
}

/// The analysis.
#[derive(Debug)]
pub struct Misses {
    geometries: Geometries,
    sample: Sample,
    info: Arc<StaticInfo>,
    top: usize,
    curves: Option<Cache>,
}

/// Misses by instruction and by allocation site.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Bytes of a line.
    pub line: u64,
    /// The share of the lines from which the numbers are estimated; absent if they are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<f64>,
    /// Sizes modelled, ascending: the order of all `misses`.
    pub sizes: Vec<u64>,
    /// Totals by size, as in `cache`.
    pub points: Vec<Point>,
    /// Instructions, the largest share of the misses first (average over the sizes).
    pub instructions: Vec<Instruction>,
    /// Allocation sites, in the same order.
    pub sites: Vec<Site>,
    /// The curves that were asked for.
    #[serde(skip)]
    pub curves: Option<cache::Report>,
    #[serde(skip)]
    top: usize,
}

/// The instructions of one kind at one source line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Instruction {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// `read`, `write`, `update`, `copy` or `fill`.
    pub access: &'static str,
    /// Lines looked up.
    pub accesses: u64,
    /// Misses by size.
    pub misses: Vec<u64>,
    /// Average share of all misses, over the sizes.
    pub share: f64,
    /// Size that would make it fit.
    pub fits: Option<u64>,
    /// The part of the misses that no processor fetches ahead, by size: of lines that were looked up
    /// before and are not near the line that the same instruction missed before.
    #[serde(skip)]
    pub far: Vec<u64>,
    /// Lines looked up for the first time.
    #[serde(skip)]
    pub first: u64,
}

/// Misses in memory allocated at one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Site {
    /// The place; absent for memory no recorded allocation holds.
    #[serde(flatten)]
    pub site: Option<SiteRow>,
    /// Misses by size.
    pub misses: Vec<u64>,
    /// Average share of all misses, over the sizes.
    pub share: f64,
    /// Size that would make it fit.
    pub fits: Option<u64>,
}

impl Analysis for Misses {
    const NAME: &'static str = "misses";
    const ABOUT: &'static str =
        "Cache misses by instruction and allocation site, for many sizes in one pass";
    const ORDER: Order = Order::Topological;
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = Counter;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        if options.sample.is_some() && options.ways != Ways::Full {
            bail!("--sample is for fully associative caches; leave out --ways");
        }
        Ok(Self {
            geometries: Geometries::new(&options.sizes, &[options.ways], options.line)?,
            sample: options.sample.map_or(Sample::ALL, Sample::new),
            info: graph.shared_info(),
            top: options.top as usize,
            curves: options.curves.map(|curves| Cache::new(curves, graph)).transpose()?,
        })
    }

    fn shard(&self) -> Counter {
        let curves = self.curves.as_ref().map_or(&[][..], Cache::geometries);
        Counter::new(&self.geometries, curves, self.sample, Arc::clone(&self.info))
    }

    fn piece(&self, counter: &mut Counter, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        counter.piece(at.context, piece);
        Ok(())
    }

    fn finish(self, graph: &Graph, shards: Vec<Counter>) -> Result<Report> {
        let mut counter = shards.into_iter().next().unwrap_or_else(|| self.shard());
        counter.seal();
        let (info, model) = (graph.info(), counter.model());
        let accesses = model.looked_up(graph.summary().accesses);
        let all = self.geometries.all.iter();
        let points: Vec<Point> = all
            .map(|geometry| Point {
                size: geometry.size,
                ways: geometry.ways,
                accesses,
                misses: model.misses(geometry),
                split: None,
            })
            .collect();
        Ok(Report {
            line: 1 << self.geometries.line_shift,
            sample: self.sample.rate(),
            sizes: points.iter().map(|point| point.size).collect(),
            instructions: instructions(info, &counter, &points),
            sites: sites(info, &counter, &points),
            curves: self.curves.as_ref().map(|curves| curves.report_of(model)),
            points,
            top: self.top,
        })
    }
}

fn instructions(info: &StaticInfo, counter: &Counter, points: &[Point]) -> Vec<Instruction> {
    let mut merged: BTreeMap<(Place, &'static str), Lookups> = BTreeMap::new();
    for (at, lookups) in
        counter.instructions().enumerate().filter(|(_, lookups)| lookups.accesses > 0)
    {
        let Some(op) = OpId::from_index(at) else {
            continue;
        };
        merged.entry(instruction(info, op)).or_default().add(&lookups);
    }
    let row = |((place, access), lookups): ((Place, &'static str), Lookups)| Instruction {
        place,
        access,
        accesses: lookups.accesses,
        share: share(&lookups, points),
        fits: fits(&lookups, points),
        misses: lookups.misses,
        far: lookups.far,
        first: lookups.first,
    };
    let mut rows: Vec<Instruction> = merged.into_iter().map(row).collect();
    rows.sort_by(|a, b| b.share.total_cmp(&a.share));
    rows
}

fn sites(info: &StaticInfo, counter: &Counter, points: &[Point]) -> Vec<Site> {
    let (by_site, elsewhere) = counter.memory();
    let mut merged: BTreeMap<(Place, String), (SiteRow, Lookups)> = BTreeMap::new();
    for (number, lookups) in (0..).zip(by_site) {
        let site = counter.sites().row(info, number);
        let key = (site.place.clone(), site.callee.clone());
        // Several blocks may end in calls on one line (a function inlined twice).
        match merged.get_mut(&key) {
            Some((known, sum)) => {
                known.add(&site);
                sum.add(&lookups);
            }
            None => _ = merged.insert(key, (site, lookups)),
        }
    }
    let row = |site: Option<SiteRow>, lookups: Lookups| Site {
        site,
        share: share(&lookups, points),
        fits: fits(&lookups, points),
        misses: lookups.misses,
    };
    let mut rows: Vec<Site> =
        merged.into_values().map(|(site, lookups)| row(Some(site), lookups)).collect();
    if elsewhere.accesses > 0 {
        rows.push(row(None, elsewhere));
    }
    rows.sort_by(|a, b| b.share.total_cmp(&a.share));
    rows
}

/// Average over the sizes of the share of all misses.
fn share(part: &Lookups, points: &[Point]) -> f64 {
    let shares = part.misses.iter().zip(points);
    let shares = shares.map(|(&part, all)| ratio(part, all.misses));
    let count = u32::try_from(points.len().max(1)).unwrap_or(1);
    shares.sum::<f64>() / f64::from(count)
}

/// The smallest size that saves most of the misses a larger cache can save; see the module.
fn fits(lookups: &Lookups, points: &[Point]) -> Option<u64> {
    let (&most, &least) = (lookups.misses.first()?, lookups.misses.last()?);
    if (most - least).saturating_mul(10) < most.max(1) {
        return None;
    }
    let enough = least + (most - least) / 10;
    let at = lookups.misses.iter().position(|&misses| misses <= enough)?;
    points.get(at).map(|point| point.size)
}

/// The source line of an operation and what it does.
fn instruction(info: &StaticInfo, id: OpId) -> (Place, &'static str) {
    let place = Place::of_op(info, id);
    let Some(op) = info.op(id) else {
        return (place, "read");
    };
    let access = match op.kind {
        OpKind::Load | OpKind::MaskedLoad | OpKind::Gather | OpKind::ExpandLoad | OpKind::Scan => {
            "read"
        }
        OpKind::Store | OpKind::MaskedStore | OpKind::Scatter | OpKind::CompressStore => "write",
        OpKind::Rmw => "update",
        OpKind::Copy => "copy",
        OpKind::Set => "fill",
    };
    (place, access)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_working_set_fits_where_its_misses_stop() {
        let points = [1024, 2048, 4096, 8192].map(|size| Point {
            size,
            ways: Ways::Full,
            accesses: 0,
            misses: 0,
            split: None,
        });
        let of = |misses: &[u64]| {
            fits(&Lookups { misses: misses.to_vec(), ..Lookups::default() }, &points)
        };
        assert_eq!(of(&[1000, 1000, 50, 50]), Some(4096));
        assert_eq!(of(&[1000, 100, 60, 50]), Some(2048));
        assert_eq!(of(&[1000, 999, 998, 950]), None);
        assert_eq!(of(&[0, 0, 0, 0]), None);
    }
}

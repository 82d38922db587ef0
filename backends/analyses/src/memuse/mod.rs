//! `memuse`: the live heap over time, its peak and who holds it, and the working set.
//!
//! Contexts are interleaved by time ([`Order::ByTime`]), so the peak is that of actions evenly
//! spread over their tasks. A site is the program's innermost line that led to an allocation, with
//! the calls above it as the blocks that were executed tell them: what the library does there
//! (`std::vector` that grows, a `Vec` of Rust) is no site of its own.
//! The working set of a stretch of time is what is touched in it: distinct lines of 64 bytes and
//! pages of 4 KiB.
//!
//! Limits: bytes are those asked for, without what the allocator adds; stacks and static data show
//! in the working set only.

mod live;
mod mapped;
mod render;
mod working_set;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use anyhow::Result;
use serde::Serialize;
use taskgraph::{Action, NestAccesses, Piece, StaticInfo};

use crate::analysis::calls::ABOVE;
use crate::analysis::{Analysis, Graph, Moment, Order, Reads, Windows};
use crate::heap::{Calls, SiteRow};

use live::Live;
use mapped::Mapped;
pub(crate) use working_set::LINE;
use working_set::{PAGE, WorkingSet};

/// Options of `memuse`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Stretches of equal length the run is divided into
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub points: u32,
    /// Sites shown as text
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub top: u32,
    /// How long a context keeps running before another one's turn, in nanoseconds. With the slice
    /// of other analyses, they share a pass. Otherwise only allocations come in the order of time
    /// ([`Order::Stretches`]), and the result is that of no slice.
    #[arg(skip)]
    pub slice_ns: Option<u64>,
    /// The part of the run whose accesses are looked at; `None` for all of it. Allocations always
    /// are.
    #[arg(skip)]
    pub windows: Option<Windows>,
}

/// The analysis. It reads the graph itself, by time.
#[derive(Debug)]
pub struct MemUse {
    options: Options,
    duration_ns: u64,
    info: Arc<StaticInfo>,
}

/// Memory use of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Length of the run.
    pub duration_ns: u64,
    /// Most live heap bytes.
    pub peak_bytes: u64,
    /// When that was first reached.
    pub peak_ns: u64,
    /// Heap bytes never freed.
    pub end_bytes: u64,
    /// Allocations.
    pub allocations: u64,
    /// Frees.
    pub frees: u64,
    /// Distinct lines touched in the whole run, in bytes.
    pub footprint_bytes: u64,
    /// The run in stretches of equal length.
    pub stretches: Vec<Stretch>,
    /// Sites, the one that holds most at the peak first.
    pub sites: Vec<SiteUse>,
    #[serde(skip)]
    top: usize,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// Its start.
    pub t_ns: u64,
    /// Most live heap bytes in it.
    pub heap_bytes: u64,
    /// Most mapped bytes in it.
    pub mapped_bytes: u64,
    /// Distinct lines touched in it.
    pub lines: u64,
    /// Distinct pages touched in it.
    pub pages: u64,
}

/// A site and the use of its memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteUse {
    /// The place and what was allocated there.
    #[serde(flatten)]
    pub site: SiteRow,
    /// Live bytes at the peak of the run.
    pub peak_bytes: u64,
    /// Most live bytes of this site alone.
    pub most_bytes: u64,
    /// Bytes never freed.
    pub end_bytes: u64,
    /// Allocations freed.
    pub frees: u64,
    /// Average time from allocation to free; 0 when nothing was freed.
    pub mean_life_ns: u64,
}

impl Analysis for MemUse {
    const NAME: &'static str = "memuse";
    const ABOUT: &'static str = "Live heap over time, its peak, who holds it, and the working set";
    const ORDER: Order = Order::Stretches { ns: 1 };
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = State;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        let (duration_ns, info) = (graph.summary().duration_ns, graph.shared_info());
        Ok(Self { options, duration_ns, info })
    }

    fn order(&self) -> Order {
        match self.options.slice_ns {
            Some(slice_ns) => Order::ByTime { slice_ns },
            None => Order::Stretches { ns: self.length_ns() },
        }
    }

    fn windows(&self) -> Option<Windows> {
        self.options.windows.clone()
    }

    fn passed(&self, state: &mut State, context: u32, piece: &Piece<'_>) {
        state.calls.note(&self.info, context, piece);
    }

    fn shard(&self) -> State {
        State {
            length_ns: self.length_ns(),
            most: self.options.points as usize,
            ..State::default()
        }
    }

    fn piece(&self, state: &mut State, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        state.piece(&self.info, at, piece)
    }

    fn finish(self, graph: &Graph, shards: Vec<State>) -> Result<Report> {
        let mut state = shards.into_iter().next().unwrap_or_else(|| self.shard());
        state.next_stretch();
        let State { live, set, done: stretches, .. } = state;
        // Several blocks may end in calls on one line (a function inlined twice).
        let mut sites = merged(live.uses(graph.info()), |row| {
            let SiteRow { place, callee, allocator, callers, .. } = &row.site;
            (place.clone(), callee.clone(), allocator.clone(), callers.clone())
        });
        sites.sort_by_key(|row| (Reverse(row.peak_bytes), Reverse(row.site.bytes)));
        Ok(Report {
            duration_ns: self.duration_ns,
            peak_bytes: live.peak.0,
            peak_ns: live.peak.1,
            end_bytes: live.bytes,
            allocations: live.counts.0,
            frees: live.counts.1,
            footprint_bytes: set.ever * LINE,
            stretches,
            sites,
            top: self.options.top as usize,
        })
    }
}

impl MemUse {
    /// The length of a stretch.
    fn length_ns(&self) -> u64 {
        self.duration_ns.div_ceil(self.options.points.into()).max(1)
    }
}

/// Rows of which those with the same key are one.
fn merged<K: Ord>(
    rows: impl IntoIterator<Item = SiteUse>,
    key: impl Fn(&SiteUse) -> K,
) -> Vec<SiteUse> {
    let mut merged: BTreeMap<K, SiteUse> = BTreeMap::new();
    for row in rows {
        match merged.entry(key(&row)) {
            Entry::Occupied(mut known) => known.get_mut().add(&row),
            Entry::Vacant(new) => _ = new.insert(row),
        }
    }
    merged.into_values().collect()
}

impl Report {
    /// The sites by place and allocator, whatever calls led there.
    pub(crate) fn places(&self) -> Vec<SiteUse> {
        let rows = self.sites.iter().cloned();
        merged(rows, |row| (row.site.place.clone(), row.site.allocator.clone()))
    }
}

impl SiteUse {
    fn add(&mut self, other: &Self) {
        let frees = self.frees + other.frees;
        let life = u128::from(self.mean_life_ns) * u128::from(self.frees)
            + u128::from(other.mean_life_ns) * u128::from(other.frees);
        self.mean_life_ns =
            u64::try_from(life.checked_div(u128::from(frees)).unwrap_or(0)).unwrap_or(u64::MAX);
        self.frees = frees;
        self.site.add(&other.site);
        self.peak_bytes += other.peak_bytes;
        // The blocks' own maxima may be at different times: their sum is an upper bound.
        self.most_bytes += other.most_bytes;
        self.end_bytes += other.end_bytes;
    }
}

/// What has been seen so far.
#[derive(Debug, Default)]
pub struct State {
    live: Live,
    mapped: Mapped,
    set: WorkingSet,
    calls: Calls,
    length_ns: u64,
    current: Stretch,
    done: Vec<Stretch>,
    /// As many stretches as were asked for; there are fewer of a run shorter than that many
    /// nanoseconds.
    most: usize,
}

impl State {
    fn piece(&mut self, info: &StaticInfo, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        if let Piece::Action(action) = piece {
            self.to(at.time());
            self.action(info, at, action);
            return Ok(());
        }
        let all = piece.actions();
        let mut from = 0;
        while from < all {
            let first = at.later(from);
            self.to(first.time());
            let rest = all - from;
            let own = match self.is_last() {
                true => rest,
                false => rest.min(first.until(self.current.t_ns + self.length_ns - 1)),
            };
            let to = from + own.max(1);
            piece.for_each_part(from..to, |_, part| {
                self.accesses(part);
                Ok::<_, anyhow::Error>(())
            })?;
            from = to;
        }
        self.calls.note(info, at.context, piece);
        Ok(())
    }

    /// Whether the current stretch lasts until the end.
    fn is_last(&self) -> bool {
        self.done.len() + 1 >= self.most
    }

    /// To the stretch a time is in.
    #[inline]
    fn to(&mut self, time: u64) {
        while time >= self.current.t_ns + self.length_ns && !self.is_last() {
            self.next_stretch();
        }
    }

    /// Executions within the current stretch.
    fn accesses(&mut self, piece: &Piece<'_>) {
        let set = &mut self.set;
        match piece {
            Piece::Blocks(blocks) => {
                let accesses = blocks.accesses().iter();
                accesses.for_each(|access| set.touch(access.addr, access.size));
            }
            Piece::Run(run) => {
                let last = run.iterations().saturating_sub(1);
                let all = run.for_each_strided(|strided| {
                    set.touch_moving(
                        strided.access.addr,
                        strided.access.size,
                        strided.stride,
                        last,
                    );
                });
                if !all {
                    run.for_each_access(|access| set.touch(access.addr, access.size));
                }
            }
            Piece::Nest(nest) => set.nest(nest),
            _ => {}
        }
    }

    fn action(&mut self, info: &StaticInfo, at: &Moment, action: &Action<'_>) {
        match *action {
            Action::Alloc { addr, size, .. } => {
                let origin = self.calls.origin(info, at.context, ABOVE);
                self.live.allocate(at.time(), addr, size, origin);
            }
            Action::Free { addr } => self.live.free(at.time(), addr),
            Action::Map { addr, size } => self.mapped.map(addr, size),
            Action::Unmap { addr, size } => self.mapped.unmap(addr, size),
            _ => {}
        }
        self.note_most();
    }

    fn note_most(&mut self) {
        self.current.heap_bytes = self.current.heap_bytes.max(self.live.bytes);
        self.current.mapped_bytes = self.current.mapped_bytes.max(self.mapped.bytes);
    }

    fn next_stretch(&mut self) {
        (self.current.lines, self.current.pages) = (self.set.lines, self.set.touched_pages);
        self.done.push(self.current);
        self.current = Stretch { t_ns: self.current.t_ns + self.length_ns, ..Stretch::default() };
        // What is live at its start counts too.
        self.note_most();
        self.set.next_stretch();
    }
}

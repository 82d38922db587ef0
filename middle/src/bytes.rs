//! Which places of the program the bytes of a trace come from.

use std::collections::BTreeMap;

use contech_program::path::{COUNT_BYTES, PathLoop, Step};
use contech_trace::abi::ID_BYTES;
use contech_trace::event::{Event, MAX_EVENT};
use contech_trace::fast::{Records, Segment};
use rustc_hash::FxHashMap;

use crate::program::Program;

/// What recorded something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Block(Option<u32>),
    Event(&'static str),
}

/// How often a place recorded something, and how many bytes that took.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    times: u64,
    bytes: u64,
}

impl Cost {
    fn add(&mut self, times: u64, bytes: u64) {
        self.times = self.times.saturating_add(times);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The costs of a trace as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    by: FxHashMap<Source, Cost>,
    /// Bytes of all records. What a spin-wait repeats is stored once.
    stored: u64,
}

impl Costs {
    /// Takes the records of a chunk of `bytes` bytes.
    pub(crate) fn of<'a>(&'a mut self, program: &'a Program, bytes: usize) -> impl Records + 'a {
        self.stored += bytes as u64;
        Adding {
            costs: self,
            program,
        }
    }

    fn add(&mut self, source: Source, times: u64, bytes: u64) {
        self.by.entry(source).or_default().add(times, bytes);
    }

    /// The table, the largest costs first: bytes, their share in per cent, how often, bytes each time, and the place.
    pub(crate) fn table(&self, program: &Program) -> String {
        let mut places: BTreeMap<String, Cost> = BTreeMap::new();
        for (source, cost) in &self.by {
            let place = match *source {
                Source::Event(name) => format!("event {name}"),
                Source::Block(block) => program.place(block),
            };
            places.entry(place).or_default().add(cost.times, cost.bytes);
        }
        let all: u64 = places.values().map(|cost| cost.bytes).sum();
        let mut rows: Vec<(String, Cost)> = places.into_iter().collect();
        rows.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then_with(|| a.0.cmp(&b.0)));
        let mut text = format!(
            "{:>14} {:>6} {:>12} {:>7}  place\n",
            "bytes", "%", "times", "each"
        );
        for (place, Cost { times, bytes }) in rows {
            #[allow(clippy::cast_precision_loss, reason = "for people")]
            let (share, each) = (
                100.0 * bytes as f64 / all.max(1) as f64,
                bytes as f64 / times.max(1) as f64,
            );
            text.push_str(&format!(
                "{bytes:>14} {share:>6.2} {times:>12} {each:>7.1}  {place}\n"
            ));
        }
        let stored = self.stored;
        text.push_str(&format!(
            "{stored:>14} {:>6} {:>12} {:>7}  all records as stored\n",
            "", "", ""
        ));
        text
    }
}

struct Adding<'a> {
    costs: &'a mut Costs,
    program: &'a Program,
}

impl Records for Adding<'_> {
    fn block(&mut self, block: u32, operands: &[u64]) {
        let bytes = ID_BYTES + 6 * operands.len();
        self.costs.add(Source::Block(Some(block)), 1, bytes as u64);
    }

    fn event(&mut self, event: Event, _: bool) {
        let name = match event {
            Event::Sync { op, .. } | Event::Untimed { op, .. } => op.name(),
            Event::Alloc { .. } => "allocation",
            Event::Free { .. } => "free",
            Event::Switch { .. } => "switch of context",
            Event::Again { .. } => "repetition",
            _ => "other",
        };
        let bytes = event.encode(&mut [0; MAX_EVENT]);
        self.costs.add(Source::Event(name), 1, bytes as u64);
    }

    fn segment(&mut self, segment: Segment<'_>) -> bool {
        let code = &self.program.ids.function(segment.plan.path.function).code;
        let source = |node: u32| {
            let block = code.nodes.get(node as usize).and_then(|n| n.block);
            Source::Block(block.map(taskgraph::BlockId::get))
        };
        let mut counts = segment.counts.iter();
        let steps = &segment.plan.path.steps;
        for step in steps.iter().rev() {
            match *step {
                Step::Node(node) => {
                    let bytes = code.leaf_bytes(&[node]) as u64;
                    if bytes > 0 {
                        self.costs.add(source(node), 1, bytes);
                    }
                }
                Step::Loop { index, cut, .. } => {
                    let Some(PathLoop::Collapsed {
                        body,
                        last,
                        count: None,
                    }) = code.loops.get(index as usize)
                    else {
                        continue;
                    };
                    let turns = counts.next().copied().unwrap_or(0);
                    let last = if cut { 0 } else { *last as usize };
                    let each = code.leaf_bytes(body) as u64;
                    let rest = (COUNT_BYTES + code.leaf_bytes(&body[..last])) as u64;
                    self.costs
                        .add(source(body[0]), turns + 1, turns * each + rest);
                }
                Step::Enter(_) | Step::Next(_) => {}
            }
        }
        let first = steps.iter().find_map(|step| match *step {
            Step::Node(node) => Some(node),
            _ => None,
        });
        let first = first.unwrap_or(segment.plan.start);
        self.costs.add(source(first), 1, ID_BYTES as u64);
        true
    }
}

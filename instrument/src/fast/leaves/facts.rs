//! What is known of leaves: how wide each is recorded, how many of its bits are then right, and how
//! often it could serve, were it recorded.

use std::collections::HashMap;

use crate::fast::Operands;
use crate::fast::graph::Graph;
use crate::fast::scev::{Analysis, LeafFacts};
use crate::memop::Value;

/// What is known of leaves, which is asked for once.
#[derive(Debug)]
pub(super) struct Facts<'a, 'm> {
    analysis: &'a Analysis<'m>,
    known: HashMap<Value, LeafFacts>,
}

impl<'a, 'm> Facts<'a, 'm> {
    pub(super) fn new(analysis: &'a Analysis<'m>) -> Self {
        Self { analysis, known: HashMap::new() }
    }

    pub(super) fn of(&mut self, source: Value) -> &LeafFacts {
        let analysis = self.analysis;
        let known = self.known.entry(source);
        known.or_insert_with(|| analysis.facts(source))
    }
}

/// Bytes recorded for a leaf whose low `need` bits matter, and how many bits are then right.
pub(super) fn width(facts: &LeafFacts, source: Value, need: u8) -> (u8, u8) {
    let need = match source {
        Value::Mask(_) => facts.bits,
        _ => need.min(facts.bits),
    };
    let bits = need.min(facts.active);
    let width = match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=48 => 6,
        _ => 8,
    };
    let exact = if width * 8 >= facts.active { facts.bits } else { width * 8 };
    (width, exact)
}

/// The uses of leaves between calls, where what is recorded stays known.
#[derive(Debug)]
pub(super) struct Uses {
    /// The stretch between calls that each node is in, by its first node.
    stretch: Vec<usize>,
    /// How often operands could use leaves of a base in a stretch.
    times: HashMap<((u64, u32), usize), f64>,
}

impl Uses {
    /// Counts the leaves that operands could be made of.
    pub(super) fn count(graph: &Graph, operands: &[Operands], facts: &mut Facts<'_, '_>) -> Self {
        let mut uses = Self { stretch: stretches(graph), times: HashMap::new() };
        for (node, operands) in operands.iter().enumerate() {
            let mut count = |source| {
                let key = (facts.of(source).base, uses.stretch[node]);
                *uses.times.entry(key).or_default() += graph.nodes[node].frequency;
            };
            for (sym, address) in operands {
                address.map(&mut count);
                let leaves = sym.leaves.iter().map(|(source, _)| *source);
                leaves.filter(|source| Some(*source) != *address).for_each(&mut count);
            }
        }
        uses
    }

    /// How often leaves of this base serve where `node` is.
    pub(super) fn times(&self, base: (u64, u32), node: usize) -> f64 {
        let key = (base, self.stretch[node]);
        self.times.get(&key).copied().unwrap_or(0.0)
    }
}

fn stretches(graph: &Graph) -> Vec<usize> {
    let mut stretch: Vec<usize> = Vec::with_capacity(graph.nodes.len());
    for (n, node) in graph.nodes.iter().enumerate() {
        let before = match graph.entered_from(n) {
            Some((_, preheader)) => stretch.get(preheader).copied(),
            None => {
                let mut all = node.predecessors.iter().map(|p| stretch.get(*p).copied());
                let first = all.next().flatten();
                first.filter(|_| all.all(|s| s == first))
            }
        };
        stretch.push(before.filter(|_| !node.fresh).unwrap_or(n));
    }
    stretch
}

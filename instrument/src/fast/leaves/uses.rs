//! How often each leaf could serve, were it recorded.

use std::collections::HashMap;

use super::width::Facts;
use crate::fast::Operands;
use crate::fast::graph::Graph;

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
    pub(super) fn count(
        graph: &Graph<'_>,
        operands: &[Operands],
        facts: &mut Facts<'_, '_>,
    ) -> Self {
        let mut uses = Self { stretch: stretches(graph), times: HashMap::new() };
        for (node, operands) in operands.iter().enumerate() {
            let mut count = |source| {
                let key = (facts.of(source).base, uses.stretch[node]);
                *uses.times.entry(key).or_default() += graph.nodes[node].frequency;
            };
            for (sym, address) in operands {
                address.map(&mut count);
                sym.for_each_leaf(&mut |source, _| {
                    if Some(source) != *address {
                        count(source);
                    }
                });
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

fn stretches(graph: &Graph<'_>) -> Vec<usize> {
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

//! What the pass knows at a node, and what it chooses to record for an operand.

use std::collections::HashMap;

use contech_program::path::Expr;
use fixedbitset::FixedBitSet;

use super::facts::{Facts, Uses, width};
use super::{Globals, Record};
use crate::fast::collapse::Shape;
use crate::fast::graph::Graph;
use crate::fast::scev::Sym;
use crate::fast::{Operands, index};
use crate::memop::Value;

/// How many low bits of an address or length are compared.
const ADDRESS_BITS: u8 = 48;

#[derive(Debug)]
struct Slot {
    offset: u64,
    /// The slot is right modulo two to this power.
    exact: u8,
}

/// The slots that hold the current values of their leaves.
type Known = FixedBitSet;

/// The state of the pass, which visits one node after the other.
pub(super) struct Chooser<'a, 'm> {
    graph: &'a Graph,
    facts: Facts<'a, 'm>,
    /// An operand pays its share of a leaf that serves others, too.
    uses: Uses,
    slots: Vec<Slot>,
    by_base: HashMap<(u64, u32), Vec<usize>>,
    by_source: HashMap<(Value, u8), usize>,
    /// The slots that each node makes stale.
    kills: Vec<FixedBitSet>,
    /// The slots known at the end of each node, once it has been visited.
    out: Vec<Option<Known>>,
    known: Known,
    records: Vec<Vec<Record>>,
    globals: &'a mut Globals<'m>,
}

impl<'a, 'm> Chooser<'a, 'm> {
    /// The state before the first node.
    pub(super) fn new(
        graph: &'a Graph,
        mut facts: Facts<'a, 'm>,
        operands: &[Operands],
        globals: &'a mut Globals<'m>,
    ) -> Self {
        let n = graph.nodes.len();
        let uses = Uses::count(graph, operands, &mut facts);
        Self {
            graph,
            facts,
            uses,
            slots: Vec::new(),
            by_base: HashMap::new(),
            by_source: HashMap::new(),
            kills: vec![FixedBitSet::new(); n],
            out: vec![None; n],
            known: Known::new(),
            records: vec![Vec::new(); n],
            globals,
        }
    }

    /// Comes to a node.
    pub(super) fn enter(&mut self, node: usize) {
        self.known = self.at_beginning(node).unwrap_or_default();
    }

    /// What is known at the beginning of a node.
    fn at_beginning(&self, node: usize) -> Option<Known> {
        let graph = self.graph;
        if graph.nodes[node].fresh {
            return None;
        }
        if let Some((entered, preheader)) = graph.entered_from(node) {
            let mut known = self.out[preheader].clone()?;
            entered.members.iter().for_each(|n| known.difference_with(&self.kills[*n]));
            return Some(known);
        }
        let mut predecessors = graph.nodes[node].predecessors.iter().map(|p| self.out[*p].as_ref());
        let mut known = predecessors.next()??.clone();
        for other in predecessors {
            known.intersect_with(other?);
        }
        known.difference_with(&self.kills[node]);
        Some(known)
    }

    /// Leaves the node that was entered last.
    pub(super) fn leave(&mut self, node: usize) {
        self.out[node] = Some(self.known.clone());
    }

    /// Ends the pass: returns how many slots there are, and what is recorded in each node, in
    /// execution order.
    pub(super) fn finish(mut self) -> (u32, Vec<Vec<Record>>) {
        for records in &mut self.records {
            records.sort_by_key(|r| r.order);
        }
        let slots = index(self.slots.len());
        (slots, self.records)
    }

    /// Whether nothing may be recorded in the node.
    pub(super) fn inside_free_loop(&self, shapes: &[Shape], node: usize) -> bool {
        let is_free = |l: usize| shapes[l].as_ref().is_ok_and(|c| !c.records);
        self.graph.around(node).any(is_free)
    }

    /// The cheapest expression of an operand, or of an address as a leaf of its own unless
    /// `forced`.
    pub(super) fn operand(
        &mut self,
        node: usize,
        sym: &Sym,
        address: Option<Value>,
        forced: bool,
    ) -> Expr {
        if let Some(source) = address
            && let Some(expr) = self.lookup(source, ADDRESS_BITS)
        {
            return expr;
        }
        let Some(source) = address.filter(|_| !forced) else {
            return self.expression(node, sym);
        };
        let whole = Sym::leaf(source, ADDRESS_BITS);
        if self.cost(node, sym) <= self.cost(node, &whole) {
            self.expression(node, sym)
        } else {
            self.expression(node, &whole)
        }
    }

    /// Expected bytes of the leaves that `sym` still needs.
    fn cost(&mut self, node: usize, sym: &Sym) -> f64 {
        let mut cost = 0.0;
        for (i, leaf) in sym.leaves.iter().enumerate() {
            let (source, need) = *leaf;
            if !sym.leaves[..i].contains(leaf) && self.lookup(source, need).is_none() {
                let at = self.target(node, source).0;
                let facts = self.facts.of(source);
                let (width, _) = width(facts, source, need);
                let here = self.graph.nodes[node].frequency;
                let served = self.uses.times(facts.base, node);
                let share = if served > here { here / served } else { 1.0 };
                cost += f64::from(width) * self.graph.nodes[at].frequency * share;
            }
        }
        cost
    }

    /// The expression, after its missing leaves are recorded.
    pub(super) fn expression(&mut self, node: usize, sym: &Sym) -> Expr {
        sym.expr.rebased(&mut |part| match part {
            Expr::Slot(i) => {
                let (source, need) = sym.leaves[*i as usize];
                self.leaf(node, source, need)
            }
            Expr::Global(i) => Expr::Global(self.globals.index(sym.globals[*i as usize])),
            other => other.clone(),
        })
    }

    fn leaf(&mut self, node: usize, source: Value, need: u8) -> Expr {
        if let Some(expr) = self.lookup(source, need) {
            return expr;
        }
        let (at, outermost) = self.target(node, source);
        let there = (at != node).then_some(at);
        let slot = there
            .and_then(|at| self.find(source, need, Some(at)))
            .unwrap_or_else(|| self.record(at, source, need));
        self.known.grow_and_insert(slot);
        if let Some(l) = outermost {
            // A leaf that is invariant in the whole loop is known in all of it, and at the end of
            // its preheader.
            for n in std::iter::once(&at).chain(&self.graph.loops[l].members) {
                if let Some(out) = &mut self.out[*n] {
                    out.grow_and_insert(slot);
                }
            }
        }
        self.difference(source, slot)
    }

    /// A slot from which the leaf follows, known here or at the end of `node`.
    fn find(&mut self, source: Value, need: u8, node: Option<usize>) -> Option<usize> {
        let facts = self.facts.of(source);
        let (base, need) = (facts.base, need.min(facts.bits));
        let known = match node {
            Some(n) => self.out[n].as_ref()?,
            None => &self.known,
        };
        let slots = self.by_base.get(&base)?;
        let fits = |s: &&usize| known.contains(**s) && self.slots[**s].exact >= need;
        slots.iter().find(fits).copied()
    }

    fn lookup(&mut self, source: Value, need: u8) -> Option<Expr> {
        let slot = self.find(source, need, None)?;
        Some(self.difference(source, slot))
    }

    fn difference(&mut self, source: Value, slot: usize) -> Expr {
        let delta = self.facts.of(source).offset.wrapping_sub(self.slots[slot].offset);
        let expr = Expr::Slot(index(slot));
        if delta == 0 { expr } else { Expr::Add(vec![expr, Expr::Const(delta)]) }
    }

    /// Where a leaf that `node` needs is recorded: in the node, or before the outermost loop in
    /// which the leaf is invariant.
    fn target(&self, node: usize, source: Value) -> (usize, Option<usize>) {
        let graph = self.graph;
        let defined = graph.place(source.operand()).map(|p| p.node);
        let (mut at, mut outermost) = (node, None);
        for l in graph.around(node) {
            let Some(preheader) = graph.loops[l].preheader else {
                break;
            };
            if defined.is_some_and(|d| graph.contains(l, d)) {
                break;
            }
            (at, outermost) = (preheader, Some(l));
        }
        (at, outermost)
    }

    fn record(&mut self, node: usize, source: Value, need: u8) -> usize {
        let (width, exact) = width(self.facts.of(source), source, need);
        let slot = self.slot(source, width, exact);
        let order = match self.graph.place(source.operand()) {
            Some(p) if p.node == node => p.order + 1,
            _ => 0,
        };
        let known_here = order > self.graph.nodes[node].first_order;
        self.records[node].push(Record {
            slot: index(slot),
            source,
            width,
            after: known_here.then_some(source.operand()),
            order,
        });
        slot
    }

    fn slot(&mut self, source: Value, width: u8, exact: u8) -> usize {
        if let Some(slot) = self.by_source.get(&(source, width)) {
            return *slot;
        }
        let slot = self.slots.len();
        let facts = self.facts.of(source).clone();
        self.slots.push(Slot { offset: facts.offset, exact });
        self.by_base.entry(facts.base).or_default().push(slot);
        self.by_source.insert((source, width), slot);
        for kill in &facts.kills {
            if let Some(at) = self.graph.place(*kill) {
                self.kills[at.node].grow_and_insert(slot);
            }
        }
        slot
    }
}

//! What the pass knows at a node, and what it chooses to record for an operand.

use std::collections::HashMap;

use contech_program::path::Expr;

use super::known::Known;
use super::uses::Uses;
use super::width::{Facts, width};
use super::{Globals, Record};
use crate::fast::collapse::Shape;
use crate::fast::graph::Graph;
use crate::fast::scev::{Source, Sym};

/// How many low bits of an address or length are compared.
const ADDRESS_BITS: u8 = 48;

#[derive(Debug)]
struct Slot {
    offset: u64,
    /// The slot is right modulo two to this power.
    exact: u8,
}

/// The state of the pass, which visits one node after the other.
pub(super) struct Chooser<'a, 'b, 'm> {
    graph: &'a Graph<'m>,
    facts: &'a mut Facts<'b, 'm>,
    /// How often each node executes in a call of the function.
    frequency: &'a [f64],
    /// With these, an operand pays its share of a leaf that serves others, too; without, it pays
    /// for all it needs.
    uses: Option<&'a Uses>,
    slots: Vec<Slot>,
    by_base: HashMap<(u64, u32), Vec<usize>>,
    by_source: HashMap<(Source, u8), usize>,
    /// The slots that each node makes stale.
    kills: Vec<Vec<usize>>,
    /// The slots known at the end of each node, once it has been visited.
    out: Vec<Option<Known>>,
    known: Known,
    records: Vec<Vec<Record>>,
    globals: &'a mut Globals<'m>,
}

impl<'a, 'b, 'm> Chooser<'a, 'b, 'm> {
    /// The state before the first node.
    pub(super) fn new(
        graph: &'a Graph<'m>,
        facts: &'a mut Facts<'b, 'm>,
        frequency: &'a [f64],
        uses: Option<&'a Uses>,
        globals: &'a mut Globals<'m>,
    ) -> Self {
        let n = graph.nodes.len();
        Self {
            graph,
            facts,
            frequency,
            uses,
            slots: Vec::new(),
            by_base: HashMap::new(),
            by_source: HashMap::new(),
            kills: vec![Vec::new(); n],
            out: vec![None; n],
            known: Known::default(),
            records: vec![Vec::new(); n],
            globals,
        }
    }
}

impl Chooser<'_, '_, '_> {
    /// Comes to a node: computes what is known at its beginning.
    pub(super) fn enter(&mut self, node: usize) {
        let graph = self.graph;
        self.known = Known::default();
        let header_of = graph.header_of[node].filter(|l| graph.tracked(*l));
        if graph.nodes[node].fresh {
            return;
        }
        if let Some(l) = header_of {
            if let Some(known) = graph.preheaders[l].and_then(|p| self.out[p].as_ref()) {
                self.known = known.clone();
            }
            for member in &graph.members[l] {
                for slot in &self.kills[*member] {
                    self.known.drop(*slot);
                }
            }
            return;
        }
        let mut predecessors = graph.nodes[node].predecessors.iter();
        if let Some(first) = predecessors.next()
            && let Some(known) = &self.out[*first]
        {
            let mut known = known.clone();
            for p in predecessors {
                match &self.out[*p] {
                    Some(other) => known.meet(other),
                    None => return,
                }
            }
            for slot in &self.kills[node] {
                known.drop(*slot);
            }
            self.known = known;
        }
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
        let slots = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        (slots, self.records)
    }

    /// Whether nothing may be recorded in the node.
    pub(super) fn inside_free_loop(&self, shapes: &[Shape], node: usize) -> bool {
        let mut at = self.graph.nodes[node].in_loop;
        while let Some(l) = at {
            if shapes[l].collapsed().is_some_and(|c| !c.records) {
                return true;
            }
            at = self.graph.loops[l].parent;
        }
        false
    }

    /// The cheapest expression of an operand, or of an address as a leaf of its own unless
    /// `forced`.
    pub(super) fn operand(
        &mut self,
        node: usize,
        sym: &Sym,
        address: Option<Source>,
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
        let whole = Sym::Leaf { source, need: ADDRESS_BITS };
        if self.cost(node, sym) <= self.cost(node, &whole) {
            self.expression(node, sym)
        } else {
            self.expression(node, &whole)
        }
    }

    /// Expected bytes of the leaves that `sym` still needs.
    fn cost(&mut self, node: usize, sym: &Sym) -> f64 {
        let mut leaves: Vec<(Source, u8)> = Vec::new();
        sym.for_each_leaf(&mut |source, need| {
            if !leaves.contains(&(source, need)) {
                leaves.push((source, need));
            }
        });
        let mut cost = 0.0;
        for (source, need) in leaves {
            if self.lookup(source, need).is_none() {
                let at = self.target(node, source).0;
                let facts = self.facts.of(source);
                let (width, _) = width(facts, source, need);
                let here = self.frequency[node];
                let served = self.uses.map_or(0.0, |u| u.times(facts.base, node));
                let share = if served > here { here / served } else { 1.0 };
                cost += f64::from(width) * self.frequency[at] * share;
            }
        }
        cost
    }

    /// The expression, after its missing leaves are recorded.
    pub(super) fn expression(&mut self, node: usize, sym: &Sym) -> Expr {
        let boxed = |c: &mut Self, s: &Sym| Box::new(c.expression(node, s));
        match sym {
            Sym::Const(c) => Expr::Const(*c),
            Sym::Iter(l) => Expr::Iter(*l),
            Sym::Global(g) => Expr::Global(self.globals.index(*g)),
            Sym::Add(terms) => Expr::Add(terms.iter().map(|t| self.expression(node, t)).collect()),
            Sym::Mul(a, b) => Expr::Mul(boxed(self, a), boxed(self, b)),
            Sym::Zext(bits, a) => Expr::Zext(*bits, boxed(self, a)),
            Sym::Sext(bits, a) => Expr::Sext(*bits, boxed(self, a)),
            Sym::Udiv(bits, a, b) => Expr::Udiv(*bits, boxed(self, a), boxed(self, b)),
            Sym::Leaf { source, need } => self.leaf(node, *source, *need),
        }
    }

    fn leaf(&mut self, node: usize, source: Source, need: u8) -> Expr {
        if let Some(expr) = self.lookup(source, need) {
            return expr;
        }
        let (at, outermost) = self.target(node, source);
        let there = (at != node).then_some(at);
        let slot = there
            .and_then(|at| self.find(source, need, Some(at)))
            .unwrap_or_else(|| self.record(at, source, need));
        self.known.add(slot);
        if let Some(l) = outermost {
            // A leaf that is invariant in the whole loop is known in all of it, and at the end of
            // its preheader.
            if let Some(out) = &mut self.out[at] {
                out.add(slot);
            }
            for member in &self.graph.members[l] {
                if let Some(out) = &mut self.out[*member] {
                    out.add(slot);
                }
            }
        }
        self.difference(source, slot)
    }

    /// A slot from which the leaf follows, known here or at the end of `node`.
    fn find(&mut self, source: Source, need: u8, node: Option<usize>) -> Option<usize> {
        let facts = self.facts.of(source);
        let (base, need) = (facts.base, need.min(facts.bits));
        let known = match node {
            Some(n) => self.out[n].as_ref()?,
            None => &self.known,
        };
        let slots = self.by_base.get(&base)?;
        let fits = |s: &&usize| known.has(**s) && self.slots[**s].exact >= need;
        slots.iter().find(fits).copied()
    }

    fn lookup(&mut self, source: Source, need: u8) -> Option<Expr> {
        let slot = self.find(source, need, None)?;
        Some(self.difference(source, slot))
    }

    fn difference(&mut self, source: Source, slot: usize) -> Expr {
        let delta = self.facts.of(source).offset.wrapping_sub(self.slots[slot].offset);
        let expr = Expr::Slot(u32::try_from(slot).unwrap_or(u32::MAX));
        if delta == 0 { expr } else { Expr::Add(vec![expr, Expr::Const(delta)]) }
    }

    /// Where a leaf that `node` needs is recorded: in the node, or before the outermost loop in
    /// which the leaf is invariant.
    fn target(&self, node: usize, source: Source) -> (usize, Option<usize>) {
        let graph = self.graph;
        let defined = graph.place(source.val()).map(|p| p.node);
        let (mut at, mut outermost) = (node, None);
        let mut l = graph.nodes[node].in_loop;
        while let Some(i) = l {
            let Some(preheader) = graph.preheaders[i] else {
                break;
            };
            if defined.is_some_and(|d| graph.contains(i, d)) {
                break;
            }
            (at, outermost) = (preheader, Some(i));
            l = graph.loops[i].parent;
        }
        (at, outermost)
    }

    fn record(&mut self, node: usize, source: Source, need: u8) -> usize {
        let (width, exact) = width(self.facts.of(source), source, need);
        let slot = self.slot(source, width, exact);
        let order = match self.graph.place(source.val()) {
            Some(p) if p.node == node => p.order + 1,
            _ => 0,
        };
        self.records[node].push(Record {
            slot: u32::try_from(slot).unwrap_or(u32::MAX),
            source,
            width,
            order,
        });
        slot
    }

    fn slot(&mut self, source: Source, width: u8, exact: u8) -> usize {
        if let Some(slot) = self.by_source.get(&(source, width)) {
            return *slot;
        }
        let slot = self.slots.len();
        let facts = self.facts.of(source).clone();
        self.slots.push(Slot { offset: facts.offset, exact });
        self.by_base.entry(facts.base).or_default().push(slot);
        self.by_source.insert((source, width), slot);
        for kill in &facts.kills {
            if let Some(node) = self.graph.killed_at(*kill) {
                self.kills[node].push(slot);
            }
        }
        slot
    }
}

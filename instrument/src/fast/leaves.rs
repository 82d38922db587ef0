//! Which leaves are recorded where, and the expression of every operand over them.
//!
//! One pass in reverse post-order carries the set of slots that hold the current value of their leaf
//! on every path (none after a boundary call; at a loop header without boundary calls those of the
//! preheader that the loop does not redefine). An operand takes, by expected cost, a slot that differs
//! from it by a constant, its expression with the leaves that are missing, or its own address as a
//! leaf. Leaves invariant in loops without boundary calls are recorded before the outermost of them.

use std::collections::HashMap;

use contech_trace::fast::Expr;
use inkwell::values::PointerValue;

use super::collapse::Shape;
use super::graph::Graph;
use super::planted::{Bug, planted};
use super::scev::{Analysis, LeafFacts, Source, Sym, Val};

/// Low bits of an address or length that are compared.
const ADDRESS_BITS: u8 = 48;
/// More leaf bytes in one node are left to the naive form.
pub(crate) const MAX_NODE_BYTES: usize = 3500;

/// A leaf recorded in a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) slot: u32,
    pub(crate) source: Source,
    pub(crate) width: u8,
    /// It is written before the first instruction of the basic block whose position is at least this.
    pub(crate) order: u32,
}

/// The outcome.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) slots: u32,
    /// Per node, in execution order.
    pub(crate) records: Vec<Vec<Record>>,
    /// Per node, one per operand.
    pub(crate) operands: Vec<Vec<Expr>>,
    /// Per loop, for collapsed loops with a computed count.
    pub(crate) counts: Vec<Option<Expr>>,
}

/// Globals of the module that expressions name.
#[derive(Debug, Default)]
pub(crate) struct Globals<'m> {
    pub(crate) list: Vec<PointerValue<'m>>,
    index: HashMap<Val, u32>,
}

impl Globals<'_> {
    fn index(&mut self, v: Val) -> u32 {
        *self.index.entry(v).or_insert_with(|| {
            self.list.push(v.global());
            u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

#[derive(Debug)]
struct Slot {
    offset: u64,
    /// The slot is right modulo two to this power.
    exact: u8,
}

/// Set of slots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Known(Vec<u64>);

impl Known {
    fn has(&self, i: usize) -> bool {
        self.0.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 == 1)
    }
    fn add(&mut self, i: usize) {
        if self.0.len() <= i / 64 {
            self.0.resize(i / 64 + 1, 0);
        }
        self.0[i / 64] |= 1 << (i % 64);
    }
    fn drop(&mut self, i: usize) {
        if let Some(w) = self.0.get_mut(i / 64) {
            *w &= !(1 << (i % 64));
        }
    }
    /// The planted bug's, see `planted`.
    fn join(&mut self, other: &Known) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= b;
        }
    }
    fn meet(&mut self, other: &Known) {
        self.0.truncate(other.0.len());
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a &= b;
        }
    }
}

/// Runs the pass. `operands` are the symbolic expressions of each node's operands, `addresses` for
/// each of them the pointer itself where it is one.
pub(crate) fn choose<'m>(
    graph: &Graph<'m>,
    analysis: &Analysis<'m>,
    shapes: &[Shape],
    operands: &[Vec<Sym>],
    addresses: &[Vec<Option<Source>>],
    globals: &mut Globals<'m>,
) -> Choice {
    let n = graph.nodes.len();
    let mut chooser = Chooser {
        graph,
        analysis,
        facts: HashMap::new(),
        slots: Vec::new(),
        by_base: HashMap::new(),
        by_source: HashMap::new(),
        kills: vec![Vec::new(); n],
        out: vec![None; n],
        known: Known::default(),
        records: vec![Vec::new(); n],
        globals,
    };
    let mut counts = vec![None; graph.loops.len()];
    let mut chosen = Vec::with_capacity(n);
    for node in 0..n {
        chooser.enter(node);
        let forced = chooser.inside_free_loop(shapes, node);
        let exprs = operands[node].iter().zip(&addresses[node]);
        let exprs: Vec<Expr> = exprs
            .map(|(sym, address)| chooser.operand(node, sym, *address, forced))
            .collect();
        chosen.push(exprs);
        for l in &graph.before[node] {
            if let Some(sym) = shapes[*l].collapsed().and_then(|c| c.count.as_ref()) {
                let count = chooser.expression(node, sym);
                counts[*l] = Some(if planted(Bug::Count) {
                    Expr::Add(vec![count, Expr::Const(1)])
                } else {
                    count
                });
            }
        }
        chooser.out[node] = Some(chooser.known.clone());
    }
    for records in &mut chooser.records {
        records.sort_by_key(|r| r.order);
    }
    Choice {
        slots: u32::try_from(chooser.slots.len()).unwrap_or(u32::MAX),
        records: chooser.records,
        operands: chosen,
        counts,
    }
}

struct Chooser<'a, 'm> {
    graph: &'a Graph<'m>,
    analysis: &'a Analysis<'m>,
    facts: HashMap<Source, LeafFacts>,
    slots: Vec<Slot>,
    by_base: HashMap<(u64, u32), Vec<usize>>,
    by_source: HashMap<(Source, u8), usize>,
    /// Slots that a node makes stale.
    kills: Vec<Vec<usize>>,
    /// Known at the end of each node, once it has been visited.
    out: Vec<Option<Known>>,
    known: Known,
    records: Vec<Vec<Record>>,
    globals: &'a mut Globals<'m>,
}

impl Chooser<'_, '_> {
    fn enter(&mut self, node: usize) {
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
                    Some(other) if planted(Bug::Dominance) => known.join(other),
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

    /// Whether nothing may be recorded in the node.
    fn inside_free_loop(&self, shapes: &[Shape], node: usize) -> bool {
        let mut at = self.graph.nodes[node].in_loop;
        while let Some(l) = at {
            if shapes[l].collapsed().is_some_and(|c| !c.records) {
                return true;
            }
            at = self.graph.loops[l].parent;
        }
        false
    }

    fn operand(&mut self, node: usize, sym: &Sym, address: Option<Source>, forced: bool) -> Expr {
        if let Some(source) = address
            && let Some(expr) = self.lookup(source, ADDRESS_BITS)
        {
            return expr;
        }
        let Some(source) = address.filter(|_| !forced) else {
            return self.expression(node, sym);
        };
        let whole = Sym::Leaf {
            source,
            need: ADDRESS_BITS,
        };
        if self.cost(node, sym) <= self.cost(node, &whole) {
            self.expression(node, sym)
        } else {
            self.expression(node, &whole)
        }
    }

    /// Expected bytes of the leaves that `sym` still needs.
    fn cost(&mut self, node: usize, sym: &Sym) -> u64 {
        let mut leaves: Vec<(Source, u8)> = Vec::new();
        sym.for_each_leaf(&mut |source, need| {
            if !leaves.contains(&(source, need)) {
                leaves.push((source, need));
            }
        });
        let mut cost = 0;
        for (source, need) in leaves {
            if self.lookup(source, need).is_none() {
                let at = self.target(node, source).0;
                let (width, _) = width(self.facts(source), source, need);
                cost += u64::from(width) * 10u64.pow(self.graph.nodes[at].depth.min(8));
            }
        }
        cost
    }

    /// The expression, after recording what it still needs.
    fn expression(&mut self, node: usize, sym: &Sym) -> Expr {
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
            // Invariant in the whole loop: known in all of it, and at the end of its preheader.
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
        let facts = self.facts(source);
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
        let delta = self
            .facts(source)
            .offset
            .wrapping_sub(self.slots[slot].offset);
        let expr = Expr::Slot(u32::try_from(slot).unwrap_or(u32::MAX));
        if delta == 0 {
            expr
        } else {
            let delta = delta + u64::from(planted(Bug::Delta));
            Expr::Add(vec![expr, Expr::Const(delta)])
        }
    }

    /// Where the leaf is recorded if needed in `node`: there, or before the outermost loop in which
    /// it is invariant.
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
        let (width, exact) = width(self.facts(source), source, need);
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
        let facts = self.facts(source).clone();
        self.slots.push(Slot {
            offset: facts.offset,
            exact,
        });
        self.by_base.entry(facts.base).or_default().push(slot);
        self.by_source.insert((source, width), slot);
        for kill in &facts.kills {
            if let Some(node) = self.graph.killed_at(*kill) {
                self.kills[node].push(slot);
            }
        }
        slot
    }

    fn facts(&mut self, source: Source) -> &LeafFacts {
        let analysis = self.analysis;
        self.facts
            .entry(source)
            .or_insert_with(|| facts(analysis, source))
    }
}

fn facts(analysis: &Analysis<'_>, source: Source) -> LeafFacts {
    let mut facts = analysis.leaf(source);
    match source {
        Source::Value(_) => {}
        Source::Lane(_, i) => {
            facts.base.1 = i + 1;
            (facts.bits, facts.active) = (64, 64);
        }
        Source::Mask(v) => {
            let lanes = v.operand().lanes().unwrap_or(64).min(64);
            let lanes = u8::try_from(lanes).unwrap_or(64);
            (facts.bits, facts.active) = (lanes, lanes);
        }
    }
    facts
}

/// Bytes recorded for a leaf whose low `need` bits matter, and how many bits are then right.
fn width(facts: &LeafFacts, source: Source, need: u8) -> (u8, u8) {
    let need = match source {
        Source::Mask(_) => facts.bits,
        _ => need.min(facts.bits),
    };
    let bits = need.min(facts.active);
    let width = match bits {
        0..=8 => 1,
        9..=16 if planted(Bug::Width) => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=48 => 6,
        _ => 8,
    };
    let exact = if width * 8 >= facts.active {
        facts.bits
    } else {
        width * 8
    };
    (width, exact)
}

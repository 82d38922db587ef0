//! Prepares blocks and paths so that many records can be read at a time. A template says which
//! accesses an execution makes. Each of them is a value over the row of the record.

use contech_program::path::{Expr, Term, Value};

use crate::frame::Layout;
use crate::frame::plan::NONE;
use crate::id::{BlockId, OpId};
use crate::op::{MemOp, OpKind};
use crate::path::{
    CompiledFunction, CompiledLoop, CompiledNode, CompiledPath, NO_BLOCK, PathSet, Step,
};
use crate::statics::StaticInfo;

/// The operation of an access, and whether the access writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Site(u32);

impl Site {
    pub(crate) fn new(op: u32, write: bool) -> Self {
        Self(op << 1 | u32::from(write))
    }

    /// The static operation.
    #[must_use]
    #[inline]
    pub fn op(self) -> OpId {
        OpId::new(self.0 >> 1)
    }

    /// Whether the access is a write; otherwise it is a read.
    #[must_use]
    #[inline]
    pub fn write(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A value of the row that is not in the record, because it is known before the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    Slot(u32),
    Iteration(u32),
}

/// Blocks that are executed one after the other, each with the end of its accesses.
type Script = Box<[(BlockId, u32)]>;

/// What an execution does, of a block or of a path without collapsed loops. The sizes of all its
/// accesses are known.
#[derive(Debug)]
pub(super) struct Straight {
    /// What is executed. [`Templates`] moves it to its scripts.
    script: Script,
    /// Number of values of a record. The carried values follow them in its row.
    pub(super) fields: usize,
    pub(super) carried: Box<[Carried]>,
    pub(super) sites: Box<[Site]>,
    /// The address of each access.
    pub(super) addresses: Addresses,
    pub(super) flow: Option<Flow>,
}

/// How a path changes what is known.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) function: u32,
    pub(super) fresh: bool,
    /// Slots that other paths need, and the values that they get.
    pub(super) sets: Box<[(u32, u32)]>,
    /// Changes of iteration numbers: the loop, and whether it is entered.
    pub(super) steps: Box<[(u32, bool)]>,
}

/// The accesses of a node, over slots and iteration numbers.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) sites: Box<[Site]>,
    pub(super) values: Box<[Value]>,
}

/// The whole iterations of a loop, prepared so that they can all be executed at once.
#[derive(Debug)]
pub(super) struct Iteration {
    /// Number of its script; `NONE` if no block is executed.
    pub(super) script: u32,
    pub(super) sites: Box<[Site]>,
    /// The address of each access.
    pub(super) moving: Box<[Moving]>,
}

/// An address that moves from iteration to iteration.
#[derive(Debug)]
pub(super) struct Moving {
    /// The part of the address that is known before the loop, for its first iteration. The next
    /// field is its change per iteration.
    pub(super) fixed: Value,
    pub(super) stride: u64,
    /// What the iteration adds: for each term, which of the iteration's values it uses.
    pub(super) terms: Box<[(usize, Term)]>,
    pub(super) mask: u64,
}

/// How addresses are computed from a row.
#[derive(Debug)]
pub(super) enum Addresses {
    /// Each address is the sum of a value of the row and a constant.
    Near(Box<[Near]>),
    Any(Box<[Value]>),
}

/// A value of the row, a constant, and the bits of their sum that are kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Near {
    pub(super) value: u32,
    pub(super) add: u64,
    pub(super) mask: u64,
}

/// What is known from one path of a function to the next, as far as a later path needs it.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    pub(super) slots: Vec<u32>,
    pub(super) iterations: bool,
}

/// The templates of a graph.
#[derive(Debug, Default)]
pub(crate) struct Templates {
    /// What is executed: by symbols with a template, and by iterations.
    pub(crate) scripts: Vec<Script>,
    /// For each symbol, its template; `None` for symbols that have to be walked.
    pub(super) straight: Vec<Option<Straight>>,
    /// For each function, its loops; `None` for those whose iterations are executed one by one.
    pub(super) iterations: Vec<Vec<Option<Iteration>>>,
    /// For each function, its nodes; `None` for those with accesses of other sizes.
    pub(super) nodes: Vec<Vec<Option<Node>>>,
    /// For each function, what its paths need.
    pub(super) needs: Vec<Needs>,
    /// For each operation, the bytes of an access, if they are known.
    pub(crate) sizes: Vec<u64>,
}

impl Templates {
    pub(crate) fn new(info: &StaticInfo, layout: &Layout, paths: &PathSet) -> Self {
        let mut needs = vec![Needs::default(); paths.functions.len()];
        let mut of_paths = Vec::with_capacity(paths.paths.len());
        for path in &paths.paths {
            let f = &paths.functions[path.path.function as usize];
            let straight = of_path(info, path, f);
            let needs = &mut needs[path.path.function as usize];
            match &straight {
                Some(t) => t.carried.iter().for_each(|c| match *c {
                    Carried::Slot(s) => needs.slots.push(s),
                    Carried::Iteration(_) => needs.iterations = true,
                }),
                None if !path.path.fresh => {
                    needs.iterations = true;
                    needs.slots.extend((0..).take(f.slots));
                }
                None => {}
            }
            of_paths.push(straight);
        }
        for needs in &mut needs {
            needs.slots.sort_unstable();
            needs.slots.dedup();
        }
        for t in of_paths.iter_mut().flatten() {
            if let Some(flow) = &mut t.flow {
                let needs = &needs[flow.function as usize];
                let needed = |s: &&(u32, u32)| needs.slots.binary_search(&s.0).is_ok();
                flow.sets = flow.sets.iter().filter(needed).copied().collect();
                if !needs.iterations {
                    flow.steps = Box::default();
                }
            }
        }
        let nodes = |f: &CompiledFunction| f.nodes.iter().map(|n| of_node(info, n)).collect();
        let nodes: Vec<Vec<Option<Node>>> = paths.functions.iter().map(nodes).collect();
        let blocks = (0..layout.blocks.len()).map(|b| of_block(info, b));
        let mut straight: Vec<_> = blocks.chain(of_paths).collect();
        let script = |t: &mut Option<Straight>| t.as_mut().map(|t| std::mem::take(&mut t.script));
        let scripts = straight.iter_mut().map(|t| script(t).unwrap_or_default());
        let mut scripts: Vec<Script> = scripts.collect();
        let mut iterations = Vec::new();
        for (f, nodes) in paths.functions.iter().zip(&nodes) {
            let mut of_loop = |(l, own): (u32, &Option<CompiledLoop>)| {
                let (mut iteration, script) = of_loop(l, own.as_ref()?, f, nodes)?;
                if !script.is_empty() {
                    iteration.script = u32::try_from(scripts.len()).ok()?;
                    scripts.push(script);
                }
                Some(iteration)
            };
            iterations.push((0..).zip(&f.loops).map(&mut of_loop).collect());
        }
        Self {
            scripts,
            straight,
            iterations,
            nodes,
            needs,
            sizes: info.ops.iter().map(MemOp::known_size).collect(),
        }
    }
}

/// Collects accesses.
#[derive(Default)]
struct Accesses {
    script: Vec<(BlockId, u32)>,
    sites: Vec<Site>,
    values: Vec<Value>,
}

impl Accesses {
    /// Collects the accesses of a block with these operands. Returns false if they depend on more
    /// than addresses.
    fn block(&mut self, info: &StaticInfo, block: BlockId, operands: &[Value]) -> bool {
        let first = info.block(block).map_or(0, |b| b.first_op);
        let mut operands = operands;
        for (id, op) in (first..).zip(info.ops_of(block)) {
            let Some((own, rest)) = operands.split_at_checked(op.operand_count()) else {
                return false;
            };
            operands = rest;
            // A site has one bit less than the number of an operation.
            if !op.has_static_counts() || id > u32::MAX >> 1 {
                return false;
            }
            let mut put = |operand: usize, write: bool| {
                self.sites.push(Site::new(id, write));
                self.values.push(own[operand].clone());
            };
            match op.kind {
                _ if op.has_length() && op.const_len == 0 => {}
                OpKind::Load | OpKind::Scan => put(0, false),
                OpKind::Store | OpKind::Set => put(0, true),
                OpKind::Rmw => {
                    put(0, false);
                    put(0, true);
                }
                OpKind::Copy => {
                    put(1, false);
                    put(0, true);
                }
                _ => return false,
            }
        }
        let end = u32::try_from(self.sites.len());
        self.script.push((block, end.unwrap_or(u32::MAX)));
        true
    }

    fn finish(self, fields: usize, carried: Vec<Carried>, flow: Option<Flow>) -> Straight {
        let near = |v: &Value| {
            let (value, add, mask) = v.near()?;
            Some(Near { value, add, mask })
        };
        let addresses = match self.values.iter().map(near).collect() {
            Some(near) => Addresses::Near(near),
            None => Addresses::Any(self.values.into()),
        };
        Straight {
            script: self.script.into(),
            fields,
            carried: carried.into(),
            sites: self.sites.into(),
            addresses,
            flow,
        }
    }
}

fn of_node(info: &StaticInfo, node: &CompiledNode) -> Option<Node> {
    let mut accesses = Accesses::default();
    let known =
        node.block == NO_BLOCK || accesses.block(info, BlockId::new(node.block), &node.operands);
    known.then(|| Node { sites: accesses.sites.into(), values: accesses.values.into() })
}

fn of_loop(
    l: u32,
    own: &CompiledLoop,
    f: &CompiledFunction,
    nodes: &[Option<Node>],
) -> Option<(Iteration, Script)> {
    let inner = |n: &u32| f.nodes[*n as usize].collapsed.is_some();
    if own.body.iter().skip(1).any(inner) {
        return None;
    }
    let leaves = own.body.iter().flat_map(|n| &f.nodes[*n as usize].leaves);
    let changing: Vec<u32> = leaves.map(|leaf| leaf.slot).collect();
    // Slots that the iteration has set so far, with the number of the value that set each.
    let (mut set, mut next): (Vec<(u32, usize)>, usize) = Default::default();
    let (mut script, mut sites, mut moving) = (Vec::new(), Vec::new(), Vec::new());
    for n in &own.body {
        for leaf in &f.nodes[*n as usize].leaves {
            set.push((leaf.slot, next));
            next += 1;
        }
        let node = nodes[*n as usize].as_ref()?;
        sites.extend_from_slice(&node.sites);
        let block = f.nodes[*n as usize].block;
        if block != NO_BLOCK {
            script.push((BlockId::new(block), u32::try_from(sites.len()).ok()?));
        }
        for value in &node.values {
            let (mask, fixed, terms) = value.split(l, |slot| changing.contains(&slot))?;
            // A slot that is set later still holds what the iteration before left.
            let term = |t: Term| Some((set.iter().rfind(|s| s.0 == t.slot)?.1, t));
            moving.push(Moving {
                stride: fixed.stride(l)?,
                fixed,
                terms: terms.into_iter().map(term).collect::<Option<_>>()?,
                mask,
            });
        }
    }
    let iteration = Iteration { script: NONE, sites: sites.into(), moving: moving.into() };
    Some((iteration, script.into()))
}

fn of_block(info: &StaticInfo, block: usize) -> Option<Straight> {
    let block = BlockId::new(u32::try_from(block).ok()?);
    let fields: usize = info.ops_of(block).iter().map(MemOp::operand_count).sum();
    let operand = |k: u32| Value::new(&Expr::Slot(k), u64::MAX);
    let operands: Vec<Value> = (0..u32::try_from(fields).ok()?).map(operand).collect();
    let mut accesses = Accesses::default();
    accesses.block(info, block, &operands).then(|| accesses.finish(fields, Vec::new(), None))
}

fn of_path(info: &StaticInfo, path: &CompiledPath, f: &CompiledFunction) -> Option<Straight> {
    let nodes = path.path.steps.iter().filter_map(|step| match step {
        Step::Node(n) => Some(f.nodes[*n as usize].leaves.len()),
        _ => None,
    });
    let fields: usize = nodes.sum();
    let first_carried = u32::try_from(fields).ok()?;
    let fresh = path.path.fresh;
    let mut accesses = Accesses::default();
    let (mut carried, mut steps): (Vec<Carried>, Vec<(u32, bool)>) = Default::default();
    // Slots, and the values of the row that are in them now.
    let mut sets: Vec<(u32, u32)> = Vec::new();
    let mut next = 0;
    for step in &path.path.steps {
        let n = match *step {
            Step::Node(n) => n,
            Step::Enter(l) => {
                steps.push((l, true));
                continue;
            }
            Step::Next(l) => {
                steps.push((l, false));
                continue;
            }
            Step::Loop { .. } => return None,
        };
        let node = &f.nodes[n as usize];
        for leaf in &node.leaves {
            sets.retain(|s| s.0 != leaf.slot);
            sets.push((leaf.slot, next));
            next += 1;
        }
        if node.block == NO_BLOCK {
            continue;
        }
        let mut carry = |what: Carried| {
            let known = carried.iter().position(|c| *c == what);
            let at = known.unwrap_or_else(|| {
                carried.push(what);
                carried.len() - 1
            });
            Expr::Slot(first_carried + u32::try_from(at).unwrap_or(0))
        };
        let mut operands = Vec::with_capacity(node.operands.len());
        for value in &node.operands {
            operands.push(value.rebased(&mut |what| match what {
                Expr::Slot(s) => match sets.iter().find(|set| set.0 == *s) {
                    Some((_, k)) => Expr::Slot(*k),
                    None if fresh => Expr::Const(0),
                    None => carry(Carried::Slot(*s)),
                },
                Expr::Iter(l) => {
                    let own = steps.iter().filter(|s| s.0 == *l);
                    let own: Vec<bool> = own.map(|s| s.1).collect();
                    let entered = own.iter().rposition(|entered| *entered);
                    let since = own.len() - entered.map_or(0, |at| at + 1);
                    let since = Expr::Const(since as u64);
                    match entered {
                        Some(_) => since,
                        None if fresh => since,
                        None => Expr::Add(vec![carry(Carried::Iteration(*l)), since]),
                    }
                }
                other => other.clone(),
            }));
        }
        if !accesses.block(info, BlockId::new(node.block), &operands) {
            return None;
        }
    }
    let flow = Flow { function: path.path.function, fresh, sets: sets.into(), steps: steps.into() };
    Some(accesses.finish(fields, carried, Some(flow)))
}

//! What every calling context of a run spent at which line: time, waiting, instructions, accesses
//! and cache misses, in one pass. The profile formats are views of it.
//!
//! Running and waiting are those of `parallelism`: for every context they add up to its life. The
//! time of a task is divided among its blocks by executed IR instructions, or belongs to the one
//! call of unrecorded code that it spends its time in. The caches are those of `misses`. Memory
//! grows with the calling contexts, at most 65,536, and with the contexts that live at one time.

mod walk;

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::iter::Peekable;

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{
    Access, BlockCounts, BlockId, ContextId, FunctionId, Piece, StaticInfo, TaskId, TaskKind,
};

use crate::analysis::{
    Analysis, Cause, Graph, LongCall, Moment, Order, Reads, Segment, Segments, State, Task,
    always_accesses,
};
use crate::cache::{CacheModel, Geometries, Look, LookUps, LookedUp, Tally, Ways};
use crate::size::{Size, Sizes};
use crate::view::names;
use crate::workspan::{SiteKey, Tree};
use walk::Walk;

/// Columns of the numbers; those of the caches follow, the smallest one first.
pub(super) const TIME: usize = 0;
const WAIT: usize = 1;
const INSTRUCTIONS: usize = 2;
const READS: usize = 3;
const WRITES: usize = 4;
pub(super) const MISSES: usize = 5;

/// A calling context.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The calling context that it hangs below; none for what nothing recorded called.
    pub(super) parent: Option<u32>,
    /// The function, if it was recorded.
    pub(super) function: Option<FunctionId>,
    /// The line of the call in the parent; 0 when unknown.
    pub(super) line: u32,
    /// Whether an invocation of the function is further up: what it calls hangs below that one.
    pub(super) recursive: bool,
    pub(super) calls: u64,
}

/// What was spent by calling context and line.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    /// What the numbers are: a word without spaces, and more words.
    pub(super) metrics: Vec<(String, String)>,
    /// Calling contexts, parents first. The first is the program itself, which spends nothing.
    pub(super) nodes: Vec<Node>,
    /// By calling context and line of its function, 0 when unknown, in the order of the metrics.
    pub(super) rows: BTreeMap<(u32, u32), Vec<u64>>,
    /// Waiting times by calling context, line and cause; their sum is the rows' waiting.
    pub(super) waits: BTreeMap<(u32, u32, Cause), u64>,
}

impl Profile {
    /// The calling contexts from the outermost to this one.
    pub(super) fn stack(&self, node: u32) -> Vec<u32> {
        let below = |node: &u32| self.nodes[*node as usize].parent;
        let mut stack: Vec<u32> = std::iter::successors(Some(node), below).collect();
        stack.reverse();
        stack
    }
}

/// What a function is called in a profile.
pub(super) fn name(info: &StaticInfo, function: Option<FunctionId>) -> String {
    let name = function.and_then(|id| info.function(id));
    let name = name.map(|function| names::label(&function.name));
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "(not recorded)".to_owned())
}

/// The analysis; without sizes no caches are modelled.
#[derive(Debug)]
pub(super) struct Profiler<'g> {
    graph: &'g Graph,
    caches: Option<Geometries>,
    /// The line of each operation.
    lines: Vec<u32>,
    /// Whether a block has operations whose accesses must be counted one by one.
    counts: Vec<bool>,
}

/// A row of numbers for each calling context and line.
#[derive(Debug)]
struct Costs {
    width: usize,
    rows: FxHashMap<(u32, u32), Vec<u64>>,
}

impl Costs {
    /// The numbers of a calling context and a line.
    #[inline]
    fn at(&mut self, node: u32, line: u32) -> &mut [u64] {
        self.rows.entry((node, line)).or_insert_with(|| vec![0; self.width])
    }
}

/// Counts misses in the columns of the caches; with the line of each operation.
struct Misses<'c>(&'c mut Costs, &'c [u32]);

impl Tally for Misses<'_> {
    #[inline]
    fn found(&mut self, look: &Look, found: LookedUp) {
        if found.full == 0 {
            return;
        }
        let line = self.1.get(look.op.index()).copied().unwrap_or(0);
        let columns = &mut self.0.at(look.who, line)[MISSES..];
        for cost in columns.iter_mut().take(found.full) {
            *cost = cost.saturating_add(look.times);
        }
    }
}

/// The state of the analysis.
#[derive(Debug)]
pub(super) struct Shard<'g> {
    /// The context of the task.
    context: ContextId,
    walk: Walk<'g>,
    costs: Costs,
    caches: Option<LookUps>,
    /// Executions by calling context and block, of the task and of all.
    own: FxHashMap<(u32, BlockId), u64>,
    all: FxHashMap<(u32, BlockId), u64>,
    waits: BTreeMap<(u32, u32, Cause), u64>,
    /// What is left of each context's life.
    lives: FxHashMap<ContextId, Peekable<Segments<'g>>>,
}

/// What the analysis is made of. The graph outlives it, because it reads the lives of contexts
/// along the way.
#[derive(Clone, Debug)]
pub(super) struct Config<'g> {
    pub(super) graph: &'g Graph,
    /// Sizes of the caches, if misses are wanted.
    pub(super) sizes: Option<Sizes>,
}

impl<'g> Analysis for Profiler<'g> {
    const NAME: &'static str = "profile";
    const ABOUT: &'static str = "What every calling context spent, by line";
    const ORDER: Order = Order::Topological;
    const READS: Reads = Reads::Pieces;
    type Config = Config<'g>;
    type Shard = Shard<'g>;
    type Report = Profile;

    fn new(config: Config<'g>, _: &Graph) -> Result<Self> {
        let Config { graph, sizes } = config;
        let info = graph.info();
        let line: Size = "64".parse().map_err(anyhow::Error::msg)?;
        let caches = |sizes| Geometries::new(&sizes, &[Ways::Full], line);
        let mut lines = vec![0; info.ops.len()];
        let mut counts = Vec::new();
        for (at, block) in info.blocks.iter().enumerate() {
            let ops = BlockId::from_index(at).map_or(&[][..], |id| info.ops_of(id));
            let own = lines.get_mut(block.first_op as usize..).unwrap_or_default();
            for (line, op) in own.iter_mut().zip(ops) {
                *line = match op.line {
                    0 => info.line_of(block),
                    line => info.own_line(block.function, line, op.inlined),
                };
            }
            counts.push(ops.iter().any(|op| always_accesses(op).is_none()));
        }
        Ok(Self { graph, caches: sizes.map(caches).transpose()?, lines, counts })
    }

    fn shard(&self) -> Shard<'g> {
        Shard {
            context: ContextId::default(),
            walk: Walk::new(self.graph.info()),
            costs: Costs { width: self.metrics().len(), rows: FxHashMap::default() },
            caches: self.caches.as_ref().map(|caches| LookUps::new(CacheModel::new(caches))),
            own: FxHashMap::default(),
            all: FxHashMap::default(),
            waits: BTreeMap::new(),
            lives: FxHashMap::default(),
        }
    }

    fn task(&self, shard: &mut Shard<'g>, task: &Task<'_>) -> Result<()> {
        shard.context = task.id().context;
        shard.walk.enter(self.graph, task);
        // What a context waits for before a task is not what the task does.
        while let Some(part) =
            self.part(shard, task.id(), |part| part.state != State::Running && part.call.is_none())?
        {
            self.spent(shard, task.id(), &part, &[]);
        }
        Ok(())
    }

    fn piece(&self, shard: &mut Shard<'g>, _: &Moment, piece: &Piece<'_>) -> Result<()> {
        let Shard { context, walk, costs, caches, own, .. } = shard;
        walk.piece(*context, piece, |node, part| {
            let mut counted = false;
            part.for_each_times(|block, times| {
                *own.entry((node, block)).or_default() += times;
                counted |= self.counts.get(block.index()) == Some(&true);
            });
            if counted {
                each_access(part, |access| {
                    let op = self.graph.info().op(access.op);
                    if op.is_some_and(|op| always_accesses(op).is_none()) {
                        let column = if access.write { WRITES } else { READS };
                        costs.at(node, self.lines[access.op.index()])[column] += 1;
                    }
                });
            }
            if let Some(caches) = caches {
                caches.piece(part, node, &mut Misses(costs, &self.lines));
            }
        });
        Ok(())
    }

    fn seal(&self, shard: &mut Shard<'g>) {
        if let Some(caches) = &mut shard.caches {
            caches.flush(&mut Misses(&mut shard.costs, &self.lines));
        }
    }

    fn done(&self, shard: &mut Shard<'g>, task: &Task<'_>, _: &BlockCounts) -> Result<()> {
        let id = task.id();
        let mut own: Vec<_> = shard.own.drain().collect();
        own.sort_unstable();
        while let Some(part) = self.part(shard, id, |_| true)? {
            self.spent(shard, id, &part, &own);
        }
        for (key, times) in own {
            *shard.all.entry(key).or_default() += times;
        }
        if task.kind() == TaskKind::Create {
            shard.walk.creates(id);
        }
        if task.is_last() {
            shard.walk.ended(id.context);
            shard.lives.remove(&id.context);
        }
        Ok(())
    }

    fn finish(self, graph: &Graph, shards: Vec<Shard<'g>>) -> Result<Profile> {
        let shard = shards.into_iter().next();
        let mut shard = shard.unwrap_or_else(|| self.shard());
        let info = graph.info();
        for (&(node, block), &times) in &shard.all {
            let Some(about) = info.block(block) else {
                continue;
            };
            let costs = &mut shard.costs;
            costs.at(node, info.line_of(about))[INSTRUCTIONS] += times * u64::from(about.ir_ops);
            let ops = info.ops_of(block).iter().zip(about.first_op as usize..);
            for (op, at) in ops {
                if let Some((reads, writes)) = always_accesses(op) {
                    let row = costs.at(node, self.lines[at]);
                    row[READS] += reads * times;
                    row[WRITES] += writes * times;
                }
            }
        }
        for (&(node, line, _), ns) in &shard.waits {
            shard.costs.at(node, line)[WAIT] += ns;
        }
        let rows = shard.costs.rows.into_iter();
        let rows = rows.filter(|(_, costs)| costs.iter().any(|&cost| cost > 0)).collect();
        Ok(Profile {
            metrics: self.metrics(),
            nodes: nodes(info, &shard.walk),
            rows,
            waits: shard.waits,
        })
    }
}

impl<'g> Profiler<'g> {
    /// The next part of a context's life, if it belongs to this task and is of the kind asked for.
    fn part(
        &self,
        shard: &mut Shard<'g>,
        id: TaskId,
        wanted: impl FnOnce(&Segment<'g>) -> bool,
    ) -> Result<Option<Segment<'g>>> {
        let life = match shard.lives.entry(id.context) {
            Entry::Occupied(life) => life.into_mut(),
            Entry::Vacant(place) => place.insert(Segments::new(self.graph, id.context)?.peekable()),
        };
        let own = |part: &Segment<'g>| part.task.id() <= id && wanted(part);
        life.next_if(|part| part.as_ref().map_or(true, own)).transpose()
    }

    /// Charges a part of a context's life to where its task `own` executed blocks, sorted.
    fn spent(
        &self,
        shard: &mut Shard<'g>,
        id: TaskId,
        part: &Segment<'g>,
        own: &[((u32, BlockId), u64)],
    ) {
        let info = self.graph.info();
        let ns = part.to_ns - part.from_ns;
        let call = part.call.and_then(LongCall::block);
        let called = call.and_then(|block| own.iter().find(|((_, own), _)| *own == block));
        let (node, block) = match called {
            Some(&((node, block), _)) => (node, Some(block)),
            None => shard.walk.top(id.context),
        };
        let about = block.and_then(|block| info.block(block));
        let line = about
            .map_or(0, |block| info.call_line_of(block).unwrap_or_else(|| info.line_of(block)));
        if let State::Waiting(cause) = part.state {
            *shard.waits.entry((node, line, cause)).or_default() += ns;
            return;
        }
        let weight = |&((_, block), times): &((u32, BlockId), u64)| {
            let one = info.block(block).map_or(1, |block| block.ir_ops.max(1));
            u128::from(one) * u128::from(times)
        };
        let all: u128 = own.iter().map(weight).sum();
        if called.is_some() || all == 0 {
            shard.costs.at(node, line)[TIME] += ns;
            return;
        }
        let (mut passed, mut given) = (0, 0);
        for block in own {
            passed += weight(block);
            let until = u64::try_from(u128::from(ns) * passed / all).unwrap_or(ns);
            let (node, block) = block.0;
            let line = info.block(block).map_or(0, |block| info.line_of(block));
            shard.costs.at(node, line)[TIME] += until - given;
            given = until;
        }
    }

    fn metrics(&self) -> Vec<(String, String)> {
        let metric = |name: &str, about: &str| (name.to_owned(), about.to_owned());
        let mut metrics = vec![
            metric("Time", "nanoseconds in which contexts ran"),
            metric("Wait", "nanoseconds in which contexts waited"),
            metric("Instr", "IR instructions executed"),
            metric("Reads", "memory reads"),
            metric("Writes", "memory writes"),
        ];
        let caches = self.caches.iter().flat_map(|caches| &caches.all);
        metrics.extend(caches.map(|cache| {
            let size = Size::text(cache.size);
            let about = format!("misses of one shared cache of {size} bytes");
            metric(&format!("Miss{size}"), &about)
        }));
        metrics
    }
}

fn nodes(info: &StaticInfo, walk: &Walk<'_>) -> Vec<Node> {
    let sites = walk.tree.sites();
    let node = |(at, node): (u32, &crate::workspan::Node)| Node {
        parent: Some(node.parent).filter(|&parent| parent != Tree::ROOT),
        function: node.function,
        line: match sites[node.site as usize] {
            SiteKey::Call(block) | SiteKey::Spawn(block) => {
                let call = info.block(block).and_then(|block| info.call_line_of(block));
                call.unwrap_or(0)
            }
            SiteKey::Program | SiteKey::Outside(_) | SiteKey::SpawnOutside => 0,
        },
        recursive: node.home != at,
        calls: walk.calls.get(at as usize).copied().unwrap_or(0),
    };
    (0..).zip(walk.tree.nodes()).map(node).collect()
}

fn each_access(piece: &Piece<'_>, f: impl FnMut(Access)) {
    match piece {
        Piece::Blocks(blocks) => blocks.accesses().iter().for_each(f),
        Piece::Run(run) => run.for_each_access(f),
        _ => {}
    }
}

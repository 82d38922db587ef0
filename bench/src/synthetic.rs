//! Traces of any size, which the middle layer is measured with.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use contech_program::BlockId;
use contech_program::path::{Expr, Leaf, PathLoop, PathNode};
use contech_trace::event::SyncOp::{Barrier, MutexLock, MutexUnlock};
use contech_trace::fast::{Edge, FastFunction, LoopStep, Start, Target};
use contech_trace::table::ModuleTable;
use fastrand::Rng;

use crate::trace::{BASE, LOAD, STORE_LOAD, TraceBuilder, assemble, module};

/// What a synthetic trace is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Loops of 10,000 iterations with two accesses, in fast form.
    Affine,
    /// Paths of six accesses through two pointers and an index that nothing predicts, in fast form.
    Irregular,
    /// One record for each block, in naive form: three accesses of strided arrays.
    Naive,
    /// Two threads take turns at a mutex, with a block in between.
    Locks,
    /// Eight threads execute a block and a barrier in turn.
    Barriers,
}

impl Kind {
    pub const ALL: [Self; 5] = [
        Self::Affine,
        Self::Irregular,
        Self::Naive,
        Self::Locks,
        Self::Barriers,
    ];

    /// The name in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Affine => "affine",
            Self::Irregular => "irregular",
            Self::Naive => "naive",
            Self::Locks => "locks",
            Self::Barriers => "barriers",
        }
    }

    /// Whether the amount is counted in synchronisation events instead of accesses.
    #[must_use]
    pub fn is_sync(self) -> bool {
        matches!(self, Self::Locks | Self::Barriers)
    }

    fn contexts(self) -> u32 {
        match self {
            Self::Locks => 2,
            Self::Barriers => 8,
            _ => 4,
        }
    }
}

/// Threads hand over chunks of this many bytes.
const CHUNK: usize = 1 << 20;
/// Path ids follow the ids of the module's five blocks.
const LOOP_PATH: u32 = 5;
const WALK_PATH: u32 = 6;

fn leaf(slot: u32, width: u8) -> Leaf {
    Leaf { slot, width }
}

fn at(slot: u32, constant: u64) -> Expr {
    Expr::Add(vec![Expr::Slot(slot), Expr::Const(constant)])
}

fn node(
    block: u32,
    leaves: Vec<Leaf>,
    operands: Vec<Expr>,
    next: Option<u32>,
) -> (PathNode, Vec<Edge>) {
    let edge = Edge {
        target: next.map_or(Target::End, Target::Node),
        increment: 0,
        step: LoopStep::None,
    };
    let node = PathNode {
        block: Some(BlockId::new(block)),
        leaves,
        operands,
    };
    (node, vec![edge])
}

fn start(base: u32) -> Start {
    Start {
        node: 0,
        fresh: true,
        base,
        paths: 1,
        resumes: None,
    }
}

/// The module with two functions in fast form: an affine loop, and a walk through pointers.
fn program() -> ModuleTable {
    let iteration = |stride| Expr::Mul(Box::new(Expr::Const(stride)), Box::new(Expr::Iter(0)));
    let moving = |stride| Expr::Add(vec![Expr::Slot(0), iteration(stride)]);
    let affine = FastFunction::new(
        0,
        2,
        vec![
            node(0, vec![leaf(0, 6), leaf(1, 4)], vec![], Some(1)),
            node(STORE_LOAD, vec![], vec![moving(8), moving(16)], None),
        ],
        vec![PathLoop::Collapsed {
            body: vec![1],
            last: 1,
            count: Some(Expr::Slot(1)),
        }],
        vec![start(0)],
    );
    let index = Expr::Mul(Box::new(Expr::Const(4)), Box::new(Expr::Slot(2)));
    let element = Expr::Add(vec![Expr::Slot(1), index.clone()]);
    let after = Expr::Add(vec![Expr::Slot(1), index, Expr::Const(4)]);
    let walk = FastFunction::new(
        0,
        3,
        vec![
            node(LOAD, vec![leaf(0, 6)], vec![at(0, 0)], Some(1)),
            node(
                STORE_LOAD,
                vec![leaf(1, 6)],
                vec![at(0, 8), at(1, 0)],
                Some(2),
            ),
            node(STORE_LOAD, vec![leaf(2, 2)], vec![element, after], Some(3)),
            node(LOAD, vec![], vec![at(1, 16)], None),
        ],
        vec![],
        vec![start(1)],
    );
    ModuleTable {
        fast: vec![affine, walk],
        ..module()
    }
}

/// Writes a trace of about `amount` accesses or synchronisation events; returns how many it has.
pub fn write(kind: Kind, amount: u64, path: &Path) -> Result<u64> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(&assemble(&[]))?;
    let mut t = TraceBuilder::empty();
    t.module(BASE, &program());
    t.start(0);
    let contexts = kind.contexts();
    for child in 1..contexts {
        t.create(0, child);
    }
    let mut random = Rng::with_seed(88_172_645_463_325_252);
    let (mut done, mut turn) = (0, 0);
    while done < amount {
        let context = turn % contexts;
        turn += 1;
        done += step(kind, context, &mut t, &mut random);
        if turn % 64 == 0 {
            t.flush_full(CHUNK);
        }
        for p in t.pieces.drain(..) {
            out.write_all(&p.bytes())?;
        }
    }
    for child in 1..contexts {
        t.join(0, child);
    }
    t.end(0);
    t.close();
    for p in t.pieces.drain(..) {
        out.write_all(&p.bytes())?;
    }
    out.flush()?;
    Ok(done)
}

/// Writes a piece of the trace; returns its accesses or events.
fn step(kind: Kind, context: u32, t: &mut TraceBuilder, random: &mut Rng) -> u64 {
    let array = 0x7f00_0000_0000 + u64::from(context) * 0x1000_0000;
    match kind {
        Kind::Affine => {
            let count = 9999u32;
            t.raw(
                context,
                &(array + random.u64(..4096) * 4096).to_le_bytes()[..6],
            );
            t.raw(context, &count.to_le_bytes());
            t.raw(context, &(BASE + LOOP_PATH).to_le_bytes());
            2 * u64::from(count + 1)
        }
        Kind::Irregular => {
            for _ in 0..16 {
                let (a, b) = (random.u64(..1 << 20), random.u64(..1 << 16));
                t.raw(context, &(array + a * 16).to_le_bytes()[..6]);
                t.raw(context, &(array + b * 64).to_le_bytes()[..6]);
                t.raw(context, &random.u64(..1024).to_le_bytes()[..2]);
                t.raw(context, &(BASE + WALK_PATH).to_le_bytes());
            }
            96
        }
        Kind::Naive => {
            for i in 0..32 {
                t.block(context, LOAD, &[array + 8 * i]);
                t.block(
                    context,
                    STORE_LOAD,
                    &[array + 65536 + 8 * i, array + 131_072 + 16 * i],
                );
            }
            96
        }
        Kind::Locks => {
            t.sync(context, MutexLock, 0x2000);
            t.block(context, LOAD, &[0x1000]);
            t.sync(context, MutexUnlock, 0x2000);
            2
        }
        Kind::Barriers => {
            if context > 0 {
                return 0;
            }
            for c in 0..8 {
                t.block(c, LOAD, &[0x1000]);
            }
            for c in 0..8 {
                t.sync_aux(c, Barrier, 0x4000, 8);
            }
            8
        }
    }
}

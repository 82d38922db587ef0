//! The path tables in a file: the functions and paths that occur in it.

use std::collections::BTreeMap;

use crate::codec::{MAX_TABLES, Packer};
use crate::error::Result;
use crate::id::BlockId;
use crate::page::{pack, unpack};
use crate::path::{Expr, Leaf, Path, PathFunction, PathLoop, PathNode, Step};
use crate::wire::{Reader, put_varint};

const WHAT: &str = "path tables";
const LEVEL: i32 = 9;

/// The payload of the path tables: functions by ascending number, then paths by ascending number.
pub(crate) fn encode<'a>(
    functions: &BTreeMap<u32, &'a PathFunction>,
    paths: &BTreeMap<u32, &'a Path>,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut previous = 0;
    put_varint(&mut out, functions.len() as u64);
    for (&number, f) in functions {
        put_varint(&mut out, u64::from(number - previous));
        previous = number;
        put_function(&mut out, f);
    }
    previous = 0;
    put_varint(&mut out, paths.len() as u64);
    for (&number, p) in paths {
        put_varint(&mut out, u64::from(number - previous));
        previous = number;
        put_path(&mut out, p);
    }
    pack(&out, MAX_TABLES, &mut Packer::new(LEVEL)?)
}

/// Functions and paths by number.
pub(crate) type Tables = (Vec<(u32, PathFunction)>, Vec<(u32, Path)>);

/// Reads the payload; nothing is checked but that it can be read.
pub(crate) fn decode(payload: &[u8]) -> Result<Tables> {
    let raw = unpack(WHAT, payload, MAX_TABLES)?;
    let mut r = Reader::new(WHAT, &raw);
    let functions = numbered(&mut r, take_function)?;
    let paths = numbered(&mut r, take_path)?;
    r.end()?;
    Ok((functions, paths))
}

fn numbered<T>(
    r: &mut Reader<'_>,
    take: impl Fn(&mut Reader<'_>) -> Result<T>,
) -> Result<Vec<(u32, T)>> {
    let n = r.count(r.remaining())?;
    let mut number = 0u32;
    (0..n)
        .map(|i| {
            let step = r.varint32()?;
            let next = number.checked_add(step).filter(|_| step > 0 || i == 0);
            number = next.ok_or_else(|| r.error("its numbers do not ascend"))?;
            Ok((number, take(r)?))
        })
        .collect()
}

fn list<T>(
    r: &mut Reader<'_>,
    mut take: impl FnMut(&mut Reader<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let n = r.count(r.remaining())?;
    (0..n).map(|_| take(r)).collect()
}

fn put_function(out: &mut Vec<u8>, f: &PathFunction) {
    put_varint(out, u64::from(f.slots));
    put_varint(out, f.nodes.len() as u64);
    for n in &f.nodes {
        put_varint(out, n.block.map_or(0, |b| u64::from(b.get()) + 1));
        put_varint(out, n.leaves.len() as u64);
        for l in &n.leaves {
            put_varint(out, u64::from(l.slot));
            out.push(l.width);
        }
        put_varint(out, n.operands.len() as u64);
        n.operands.iter().for_each(|e| e.encode(out));
    }
    put_varint(out, f.loops.len() as u64);
    for l in &f.loops {
        let PathLoop::Collapsed { body, last, count } = l else {
            out.push(0);
            continue;
        };
        out.push(1 + u8::from(count.is_some()));
        put_varint(out, body.len() as u64);
        body.iter().for_each(|n| put_varint(out, u64::from(*n)));
        put_varint(out, u64::from(*last));
        if let Some(e) = count {
            e.encode(out);
        }
    }
}

fn take_function(r: &mut Reader<'_>) -> Result<PathFunction> {
    let slots = r.varint32()?;
    let nodes = list(r, |r| {
        let block = r.varint32()?.checked_sub(1).map(BlockId::new);
        let leaves = list(r, |r| {
            Ok(Leaf {
                slot: r.varint32()?,
                width: r.u8()?,
            })
        })?;
        let operands = list(r, Expr::decode)?;
        Ok(PathNode {
            block,
            leaves,
            operands,
        })
    })?;
    let loops = list(r, |r| {
        let kind = r.u8()?;
        if kind == 0 {
            return Ok(PathLoop::Plain);
        }
        let body = list(r, |r| r.varint32())?;
        let last = r.varint32()?;
        let count = match kind {
            1 => None,
            2 => Some(Expr::decode(r)?),
            n => return Err(r.error(format!("loop kind {n}"))),
        };
        Ok(PathLoop::Collapsed { body, last, count })
    })?;
    Ok(PathFunction {
        slots,
        nodes,
        loops,
    })
}

fn put_path(out: &mut Vec<u8>, p: &Path) {
    put_varint(out, u64::from(p.function));
    out.push(u8::from(p.fresh));
    put_varint(out, p.steps.len() as u64);
    for step in &p.steps {
        // Three bits of kind below the index.
        let (kind, index) = match *step {
            Step::Node(n) => (0, n),
            Step::Loop {
                index,
                cut,
                resumed,
            } => (1 + u64::from(cut) + 2 * u64::from(resumed), index),
            Step::Enter(l) => (5, l),
            Step::Next(l) => (6, l),
        };
        put_varint(out, u64::from(index) << 3 | kind);
    }
}

fn take_path(r: &mut Reader<'_>) -> Result<Path> {
    let function = r.varint32()?;
    let fresh = r.u8()? != 0;
    let steps = list(r, |r| {
        let coded = r.varint()?;
        let index = u32::try_from(coded >> 3).map_err(|_| r.error("a step over 32 bits"))?;
        Ok(match coded & 7 {
            0 => Step::Node(index),
            kind @ 1..=4 => Step::Loop {
                index,
                cut: (kind - 1) & 1 != 0,
                resumed: (kind - 1) & 2 != 0,
            },
            5 => Step::Enter(index),
            6 => Step::Next(index),
            n => return Err(r.error(format!("step kind {n}"))),
        })
    })?;
    Ok(Path {
        function,
        fresh,
        steps,
    })
}

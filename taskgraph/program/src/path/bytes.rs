//! The bytes of functions and paths.

use super::{Expr, Leaf, Path, PathFunction, PathLoop, PathNode, Step};
use crate::id::BlockId;
use crate::wire::{Malformed, Reader, put_varint};

impl PathFunction {
    /// Appends the bytes of the function.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, u64::from(self.slots));
        put_varint(out, self.nodes.len() as u64);
        for n in &self.nodes {
            put_varint(out, n.block.map_or(0, |b| u64::from(b.get()) + 1));
            put_varint(out, n.leaves.len() as u64);
            for l in &n.leaves {
                put_varint(out, u64::from(l.slot));
                out.push(l.width);
            }
            put_varint(out, n.operands.len() as u64);
            n.operands.iter().for_each(|e| e.encode(out));
        }
        put_varint(out, self.loops.len() as u64);
        for l in &self.loops {
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

    /// Reads the bytes of a function. [`PathFunction::check`] says whether the function is
    /// consistent.
    ///
    /// # Errors
    /// The bytes are not those of a function.
    pub fn decode<E: From<Malformed>>(r: &mut Reader<'_, E>) -> Result<Self, E> {
        Ok(Self { slots: r.varint32()?, nodes: r.list(take_node)?, loops: r.list(take_loop)? })
    }
}

fn take_node<E: From<Malformed>>(r: &mut Reader<'_, E>) -> Result<PathNode, E> {
    Ok(PathNode {
        block: r.varint32()?.checked_sub(1).map(BlockId::new),
        leaves: r.list(|r| Ok(Leaf { slot: r.varint32()?, width: r.u8()? }))?,
        operands: r.list(Expr::decode)?,
    })
}

fn take_loop<E: From<Malformed>>(r: &mut Reader<'_, E>) -> Result<PathLoop, E> {
    let kind = r.u8()?;
    if kind == 0 {
        return Ok(PathLoop::Plain);
    }
    let body = r.list(Reader::varint32)?;
    let last = r.varint32()?;
    let count = match kind {
        1 => None,
        2 => Some(Expr::decode(r)?),
        n => return Err(r.error(format!("loop kind {n}"))),
    };
    Ok(PathLoop::Collapsed { body, last, count })
}

impl Path {
    /// Appends the bytes of the path.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, u64::from(self.function));
        out.push(u8::from(self.fresh));
        put_varint(out, self.steps.len() as u64);
        for step in &self.steps {
            // The kind takes three bits, below the index.
            let (kind, index) = match *step {
                Step::Node(n) => (0, n),
                Step::Loop { index, cut, resumed } => {
                    (1 + u64::from(cut) + 2 * u64::from(resumed), index)
                }
                Step::Enter(l) => (5, l),
                Step::Next(l) => (6, l),
            };
            put_varint(out, u64::from(index) << 3 | kind);
        }
    }

    /// Reads the bytes of a path. [`Path::check`] says whether the path fits its function.
    ///
    /// # Errors
    /// The bytes are not those of a path.
    pub fn decode<E: From<Malformed>>(r: &mut Reader<'_, E>) -> Result<Self, E> {
        Ok(Self { function: r.varint32()?, fresh: r.u8()? != 0, steps: r.list(take_step)? })
    }
}

fn take_step<E: From<Malformed>>(r: &mut Reader<'_, E>) -> Result<Step, E> {
    let coded = r.varint()?;
    let index = u32::try_from(coded >> 3).map_err(|_| r.error("a step over 32 bits"))?;
    Ok(match coded & 7 {
        0 => Step::Node(index),
        kind @ 1..=4 => {
            Step::Loop { index, cut: (kind - 1) & 1 != 0, resumed: (kind - 1) & 2 != 0 }
        }
        5 => Step::Enter(index),
        6 => Step::Next(index),
        n => return Err(r.error(format!("step kind {n}"))),
    })
}

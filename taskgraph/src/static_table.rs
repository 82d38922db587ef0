//! The static tables in a file: the columns of every table, packed together.

use crate::codec::{MAX_TABLES, Packer};
use crate::error::Result;
use crate::id::FunctionId;
use crate::op::{MemOp, OpKind};
use crate::page::{pack, unpack};
use crate::statics::{Block, CallSite, Function, Inlined, Module, StaticInfo};
use crate::wire::{Reader, put_bytes, put_delta, put_varint};

const WHAT: &str = "static tables";
/// The tables are written once per file and read at every opening, so a slower level is worth it.
const LEVEL: i32 = 9;

/// The payload of the static tables.
pub(crate) fn encode(info: &StaticInfo) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    put_varint(&mut out, info.modules.len() as u64);
    for module in &info.modules {
        put_bytes(&mut out, module.name.as_bytes());
        put_varint(&mut out, module.unrecorded.len() as u64);
        for (reason, count) in &module.unrecorded {
            put_bytes(&mut out, reason.as_bytes());
            put_varint(&mut out, *count);
        }
    }
    put_texts(&mut out, info.files.iter());
    put_texts(&mut out, info.functions.iter().map(|f| &f.name));
    column(&mut out, info.functions.iter().map(|f| f.file));
    column(&mut out, info.functions.iter().map(|f| f.line));
    column(&mut out, info.functions.iter().map(|f| f.module));
    put_texts(&mut out, info.names.iter());
    put_varint(&mut out, info.inlined.len() as u64);
    column(&mut out, info.inlined.iter().map(|call| call.name));
    column(&mut out, info.inlined.iter().map(|call| call.file));
    column(&mut out, info.inlined.iter().map(|call| call.line));
    column(&mut out, info.inlined.iter().map(|call| call.within));
    encode_blocks(&mut out, &info.blocks);
    encode_ops(&mut out, &info.ops);
    pack(&out, MAX_TABLES, &mut Packer::new(LEVEL)?)
}

fn put_texts<'a>(out: &mut Vec<u8>, texts: impl ExactSizeIterator<Item = &'a String>) {
    put_varint(out, texts.len() as u64);
    texts.for_each(|text| put_bytes(out, text.as_bytes()));
}

fn encode_blocks(out: &mut Vec<u8>, blocks: &[Block]) {
    put_varint(out, blocks.len() as u64);
    column(out, blocks.iter().map(|b| b.function.get()));
    column(out, blocks.iter().map(|b| b.line));
    column(out, blocks.iter().map(|b| b.inlined));
    let mut end = 0;
    for b in blocks {
        put_delta(out, u64::from(b.first_op), end);
        end = u64::from(b.first_op) + u64::from(b.op_count);
    }
    blocks.iter().for_each(|b| put_varint(out, u64::from(b.op_count)));
    out.extend(blocks.iter().map(|b| b.flags));
    blocks.iter().for_each(|b| put_varint(out, u64::from(b.ir_ops)));
    out.extend(blocks.iter().map(|b| u8::from(b.call.is_some())));
    for call in blocks.iter().filter_map(|b| b.call.as_ref()) {
        put_bytes(out, call.callee.as_bytes());
        put_varint(out, u64::from(call.line));
        put_varint(out, u64::from(call.inlined));
    }
}

fn encode_ops(out: &mut Vec<u8>, ops: &[MemOp]) {
    put_varint(out, ops.len() as u64);
    out.extend(ops.iter().map(|o| o.kind as u8));
    ops.iter().for_each(|o| put_varint(out, u64::from(o.size)));
    ops.iter().for_each(|o| put_varint(out, u64::from(o.lanes)));
    column(out, ops.iter().map(|o| o.line));
    column(out, ops.iter().map(|o| o.inlined));
    out.extend(ops.iter().map(|o| o.flags));
    ops.iter().filter(|o| has_length(o.flags)).for_each(|o| put_varint(out, o.const_len));
}

fn has_length(flags: u8) -> bool {
    flags & MemOp::CONST_LEN != 0
}

/// A column of numbers that change little from entry to entry.
fn column(out: &mut Vec<u8>, values: impl Iterator<Item = u32>) {
    let mut last = 0;
    for v in values {
        put_delta(out, u64::from(v), last);
        last = u64::from(v);
    }
}

/// The static tables of a payload, all indices checked.
pub(crate) fn decode(payload: &[u8]) -> Result<StaticInfo> {
    let raw = unpack(WHAT, payload, MAX_TABLES)?;
    let mut r = Reader::new(WHAT, &raw);
    let mut info = StaticInfo::default();
    let text = |r: &mut Reader<'_>| r.string().map(str::to_owned);
    info.modules = r.list(|r| {
        let name = text(r)?;
        Ok(Module { name, unrecorded: r.list(|r| Ok((text(r)?, r.varint()?)))? })
    })?;
    info.files = r.list(text)?;
    info.functions = r.list(|r| Ok(Function { name: text(r)?, ..Function::default() }))?;
    fill(&mut r, &mut info.functions, |f, v| f.file = v)?;
    fill(&mut r, &mut info.functions, |f, v| f.line = v)?;
    fill(&mut r, &mut info.functions, |f, v| f.module = v)?;
    info.names = r.list(text)?;
    // An entry has at least one byte in each of four columns.
    let n = r.count(r.remaining() / 4)?;
    info.inlined = vec![Inlined::default(); n];
    fill(&mut r, &mut info.inlined, |call, v| call.name = v)?;
    fill(&mut r, &mut info.inlined, |call, v| call.file = v)?;
    fill(&mut r, &mut info.inlined, |call, v| call.line = v)?;
    fill(&mut r, &mut info.inlined, |call, v| call.within = v)?;
    info.blocks = decode_blocks(&mut r)?;
    info.ops = decode_ops(&mut r)?;
    r.end()?;
    info.validate()?;
    Ok(info)
}

fn decode_blocks(r: &mut Reader<'_>) -> Result<Vec<Block>> {
    // An entry has at least one byte in each of eight columns.
    let n = r.count(r.remaining() / 8)?;
    let mut blocks = vec![Block::default(); n];
    fill(r, &mut blocks, |b, v| b.function = FunctionId::new(v))?;
    fill(r, &mut blocks, |b, v| b.line = v)?;
    fill(r, &mut blocks, |b, v| b.inlined = v)?;
    // The deltas are against the end of the block before. That end needs the counts, which come
    // next.
    let steps: Vec<u64> = (0..n).map(|_| r.delta(0)).collect::<Result<_>>()?;
    let mut end = 0u64;
    for (b, step) in blocks.iter_mut().zip(steps) {
        let first = end.wrapping_add(step);
        b.first_op = u32::try_from(first).map_err(|_| r.error("an operation over 32 bits"))?;
        b.op_count = r.varint32()?;
        end = first + u64::from(b.op_count);
    }
    for (b, &flags) in blocks.iter_mut().zip(r.take(n)?) {
        b.flags = flags;
    }
    for b in &mut blocks {
        b.ir_ops = r.varint32()?;
    }
    for (b, &call) in blocks.iter_mut().zip(r.take(n)?) {
        b.call = (call != 0).then(CallSite::default);
    }
    for call in blocks.iter_mut().filter_map(|b| b.call.as_mut()) {
        call.callee = r.string()?.to_owned();
        call.line = r.varint32()?;
        call.inlined = r.varint32()?;
    }
    Ok(blocks)
}

fn decode_ops(r: &mut Reader<'_>) -> Result<Vec<MemOp>> {
    // An entry has at least one byte in each of six columns.
    let n = r.count(r.remaining() / 6)?;
    let mut ops = vec![MemOp::default(); n];
    for (o, &kind) in ops.iter_mut().zip(r.take(n)?) {
        let known = OpKind::from_u8(kind);
        o.kind = known
            .ok_or_else(|| r.error(format!("operation kind {kind} is none of this version")))?;
    }
    for o in &mut ops {
        o.size = r.varint32()?;
    }
    for o in &mut ops {
        let lanes = r.varint32()?;
        o.lanes = u16::try_from(lanes).map_err(|_| r.error(format!("{lanes} lanes")))?;
    }
    fill(r, &mut ops, |o, v| o.line = v)?;
    fill(r, &mut ops, |o, v| o.inlined = v)?;
    for (o, &flags) in ops.iter_mut().zip(r.take(n)?) {
        o.flags = flags;
    }
    for o in ops.iter_mut().filter(|o| has_length(o.flags)) {
        o.const_len = r.varint()?;
    }
    Ok(ops)
}

/// Reads a [`column`] into a field of all entries.
fn fill<T>(r: &mut Reader<'_>, entries: &mut [T], set: impl Fn(&mut T, u32)) -> Result<()> {
    let mut last = 0;
    for entry in entries {
        last = r.delta32(last)?;
        set(entry, last);
    }
    Ok(())
}

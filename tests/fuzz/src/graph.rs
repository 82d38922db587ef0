//! Graphs: header, units, trailer (taskgraph/FORMAT.md).

use contech_program::wire::{Reader, put_varint};
use taskgraph::builder::GraphBuilder;
use taskgraph::{AllocKind, MemOp, OpKind, Result, SyncOp, TaskGraph, TaskId};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::mutate::{Format, Piece};
use crate::trace;

/// A graph's pieces: the file header and the units. The place in the trailer is computed again.
pub(crate) const FORMAT: Format = Format { split, open, shut, join };

const HEADER: usize = 32;
const TRAILER: usize = 32;
const UNIT_HEADER: usize = 16;
/// Number of parts of a frame.
const PARTS: usize = 5;

fn split(file: &[u8]) -> Option<Vec<Piece>> {
    let body = file.len().checked_sub(TRAILER)?;
    let mut pieces = vec![Piece { head: file.get(..HEADER)?.to_vec(), stored: Vec::new(), at: 0 }];
    let mut at = HEADER;
    while let Some(head) = file.get(at..at + UNIT_HEADER) {
        let length = u32::from_le_bytes(*head[4..].first_chunk()?);
        let end = at + UNIT_HEADER + length as usize;
        if end > body {
            break;
        }
        pieces.push(Piece {
            head: head[..4].to_vec(),
            stored: file[at + UNIT_HEADER..end].to_vec(),
            at: at as u64,
        });
        at = end;
    }
    Some(pieces)
}

fn unpack(raw: usize, packed: &[u8]) -> Option<Vec<u8>> {
    if raw == packed.len() {
        return Some(packed.to_vec());
    }
    zstd::bulk::decompress(packed, raw.min(1 << 20)).ok()
}

/// Number of columns of the pages with that tag.
fn columns(tag: &[u8]) -> Option<usize> {
    match tag {
        b"TASK" => Some(11),
        b"DEPS" => Some(5),
        b"ORDR" => Some(3),
        _ => None,
    }
}

/// The parts of a piece: the columns of a page; the counts and parts of a frame; the bytes of a
/// table.
fn open(piece: &Piece) -> Option<Vec<Vec<u8>>> {
    let stored = &piece.stored;
    match &piece.head[..4] {
        b"FRM6" => frame(stored),
        tag @ (b"TASK" | b"DEPS" | b"ORDR" | b"INFO" | b"PATH" | b"FIDX") => {
            let raw = u32::from_le_bytes(*stored.first_chunk()?);
            let raw = unpack(raw as usize, &stored[4..])?;
            let Some(columns) = columns(tag) else {
                return Some(vec![raw]);
            };
            let mut r: Reader = Reader::new("page", &raw);
            let lengths: Option<Vec<usize>> =
                (0..columns).map(|_| r.count(raw.len()).ok()).collect();
            lengths?.into_iter().map(|n| r.take(n).map(<[u8]>::to_vec).ok()).collect()
        }
        _ => Some(vec![stored.clone()]),
    }
}

fn frame(stored: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut r: Reader = Reader::new("frame", stored);
    let mut counts = Vec::new();
    put_varint(&mut counts, r.varint().ok()?);
    put_varint(&mut counts, r.varint().ok()?);
    let mut lengths = Vec::new();
    for _ in 0..PARTS {
        lengths.push((r.count(1 << 20).ok()?, r.count(stored.len()).ok()?));
    }
    let mut parts = vec![counts];
    for (raw, packed) in lengths {
        parts.push(unpack(raw, r.take(packed).ok()?)?);
    }
    Some(parts)
}

/// Stores the parts without compression, which is one of the forms that readers must know.
fn shut(piece: &Piece, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    match &piece.head[..4] {
        b"FRM6" => {
            out.extend(&parts[0]);
            for part in &parts[1..=PARTS] {
                put_varint(&mut out, part.len() as u64);
                put_varint(&mut out, part.len() as u64);
            }
            parts[1..].iter().for_each(|p| out.extend(p));
        }
        tag @ (b"TASK" | b"DEPS" | b"ORDR" | b"INFO" | b"PATH" | b"FIDX") => {
            if columns(tag).is_some() {
                for part in parts {
                    put_varint(&mut out, part.len() as u64);
                }
            }
            parts.iter().for_each(|p| out.extend(p));
            let length = u32::try_from(out.len()).unwrap_or(u32::MAX);
            out.splice(..0, length.to_le_bytes());
        }
        _ => out = parts.concat(),
    }
    out
}

fn join(pieces: &[Piece]) -> Vec<u8> {
    let mut moved = Vec::new();
    let mut at = 0;
    for piece in pieces {
        if piece.at > 0 {
            moved.push((piece.at, at));
        }
        at += (if at == 0 { HEADER } else { UNIT_HEADER + piece.stored.len() }) as u64;
    }
    let mut file = Vec::new();
    let mut last = 0;
    for piece in pieces {
        if file.is_empty() {
            file.extend(&piece.head);
            file.resize(HEADER, 0);
            let sum = xxh3_64(&file[..24]);
            file[24..].copy_from_slice(&sum.to_le_bytes());
            continue;
        }
        last = file.len() as u64;
        let mut tag = [0; 4];
        tag.iter_mut().zip(&piece.head).for_each(|(to, from)| *to = *from);
        let stored = relocated(tag, &piece.stored, &moved);
        let length = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        let seed = u64::from(u32::from_le_bytes(tag)) << 32 ^ u64::from(length);
        file.extend(tag);
        file.extend(length.to_le_bytes());
        file.extend(xxh3_64_with_seed(&stored, seed).to_le_bytes());
        file.extend(stored);
    }
    let mut trailer = [0; TRAILER];
    trailer[..8].copy_from_slice(&last.to_le_bytes());
    let sum = xxh3_64_with_seed(&trailer[..16], u64::from_le_bytes(*b"CONTECHG"));
    trailer[16..24].copy_from_slice(&sum.to_le_bytes());
    trailer[24..].copy_from_slice(b"CONTECHG");
    file.extend(trailer);
    file
}

/// Replaces the old place of each unit by its new one in the footer and the indices, which say
/// where units are. (Tasks name frames as well. The first frame is the first unit and stays where
/// it is.)
fn relocated(tag: [u8; 4], stored: &[u8], moved: &[(u64, u64)]) -> Vec<u8> {
    let mut stored = stored.to_vec();
    let (first, step) = match &tag {
        b"FOOT" => (28, 12),
        b"TIDX" | b"DIDX" | b"OIDX" => (8, 16),
        _ => return stored,
    };
    for at in (first..stored.len().saturating_sub(7)).step_by(step) {
        if let Some(place) = stored[at..].first_chunk_mut() {
            let old = u64::from_le_bytes(*place);
            if let Some((_, new)) = moved.iter().find(|(from, _)| *from == old) {
                *place = new.to_le_bytes();
            }
        }
    }
    stored
}

/// Graphs of the seed traces, and one with what those lack.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = trace::seeds().iter().map(|t| trace::graph_of(t)).collect();
    seeds.push(rich().expect("the graph is sound"));
    seeds
}

/// A graph with every kind of task and action.
fn rich() -> Result<Vec<u8>> {
    let mut b = GraphBuilder::new();
    let body = b.block("loop", "a.c", 7, &[MemOp::load(8), MemOp::store(4)]);
    let operations = [MemOp::new(OpKind::Copy, 0, 0), MemOp::new(OpKind::Gather, 8, 4)];
    let copy = b.block("main", "a.c", 9, &operations);
    let main = b.context("main");
    b.work(main, 0, 10, |w| {
        w.alloc(0x500, 64, AllocKind::Calloc);
        (0..100)
            .for_each(|i| w.block(body, &[0x500 + 8 * i, (i * 0x1234_5678_9abc) % 0xffff_ffff]));
        w.block(copy, &[0x500, 0x600, 24, 0b101, 1, 2, 3, 4]);
        w.free(0x500);
    });
    let children: Vec<_> = (0..6).map(|_| b.create(main)).collect();
    for (i, &child) in (0u64..).zip(&children) {
        b.work(child, 12 + i, 20, |w| w.block(body, &[1 << 45, 1 << 20]));
        let lock = b.sync(child, 0xbeef + i / 2, SyncOp::MutexLock);
        b.edge(TaskId::new(main, 1), lock);
    }
    b.barrier(&children, 0xbaa);
    for child in children {
        b.join(main, child);
    }
    b.bytes()
}

/// Tasks with more block executions or accesses than this are not read one by one.
const MANY: u64 = 20_000;

/// Reads a graph in every way there is.
pub(crate) fn read(bytes: &[u8]) -> bool {
    let Ok(graph) = TaskGraph::from_bytes(bytes) else {
        return false;
    };
    let verified = graph.verify().is_ok();
    let whole = everything(&graph, verified);
    if verified && let Err(error) = whole {
        panic!("verify finds nothing in what cannot be read: {error}");
    }
    verified
}

fn everything(graph: &TaskGraph<&[u8]>, verified: bool) -> Result<()> {
    for task in graph.tasks() {
        let task = task?;
        task.predecessors()?;
        task.successors()?;
        if task.block_count() > MANY || task.access_count() > MANY {
            continue;
        }
        let (mut accesses, mut actions) = (0, 0);
        task.for_each_access(|_| accesses += 1)?;
        task.for_each_action(|_| actions += 1)?;
        if verified {
            assert_eq!(accesses, task.access_count(), "accesses of {}", task.id());
            assert_eq!(actions, task.action_count(), "actions of {}", task.id());
        }
    }
    for context in graph.contexts() {
        for task in graph.tasks_of(context.id) {
            let task = task?;
            let few = task.block_count() <= MANY && task.access_count() <= MANY;
            if few {
                task.for_each_action(|_| ())?;
            }
        }
        // A task after the last one does not exist.
        let none = graph.task(TaskId::new(context.id, context.task_count));
        assert!(!verified || none.is_err(), "{}", context.id);
    }
    Ok(())
}

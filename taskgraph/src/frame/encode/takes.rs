//! The order in which the bytes of a recorded path are stored, and where.

use crate::path::{CompiledFunction, CompiledPath, Stored};

/// What comes next in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    /// This many bytes of values that are stored once.
    Bytes(usize),
    /// The count of a loop, which is not among the bytes here.
    Count,
    /// The iterations of the loop that was counted last.
    Loop,
    /// The count of a loop as it was recorded, which stands behind what its iterations store.
    Pass,
}

pub(super) use contech_program::path::COUNT_BYTES;

/// What the records of a path consist of.
pub(super) fn takes(path: &CompiledPath, f: &CompiledFunction) -> Box<[Take]> {
    let mut takes = Vec::new();
    let bytes = |takes: &mut Vec<Take>, nodes: &[u32]| {
        let leaves = nodes.iter().flat_map(|n| &f.nodes[*n as usize].leaves);
        let n = leaves.map(|l| usize::from(l.width)).sum();
        match takes.last_mut() {
            _ if n == 0 => {}
            Some(Take::Bytes(before)) => *before += n,
            _ => takes.push(Take::Bytes(n)),
        }
    };
    for stored in &path.stored {
        let (index, cut) = match *stored {
            Stored::Leaves(n) => {
                bytes(&mut takes, &[n]);
                continue;
            }
            Stored::Loop { index, cut } => (index, cut),
        };
        takes.push(Take::Count);
        let Some(l) = &f.loops[index as usize] else {
            continue;
        };
        if !l.leafy.is_empty() {
            takes.push(Take::Loop);
        }
        if !cut && l.leafy_last < l.leafy.len() {
            bytes(&mut takes, &l.leafy[..l.leafy_last]);
        }
        if l.count.is_none() {
            takes.push(Take::Pass);
        }
    }
    takes.into()
}

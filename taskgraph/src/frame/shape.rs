//! What the records of a block or path store: values once in each record, and values for each
//! iteration of its loops. Each of these values is a column of the frame.

use crate::path::{CompiledFunction, CompiledPath, Step};

/// What a record stores, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// Bytes of each value that is stored once, as recorded. Trip counts are among these values.
    pub(super) fields: Box<[u8]>,
    /// Which fields are trip counts.
    pub(super) counts: Box<[usize]>,
    /// The loops whose iterations store values.
    pub(super) loops: Box<[Iterated]>,
    /// The order in which the bytes of a recorded path are stored.
    pub(super) takes: Box<[Take]>,
}

/// What comes next in a record of a path.
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

/// A loop whose iterations store values. In the record, they stand behind the loop's count.
#[derive(Clone, Debug)]
pub(super) struct Iterated {
    /// Index of the field that is the loop's count.
    pub(super) count: usize,
    /// Number of iterations beyond the count. It is 1 if the last iteration also stores all values.
    /// What a last iteration that ends earlier stores is stored once, in fields.
    pub(super) more: u64,
    /// Bytes of each value of an iteration, as recorded.
    pub(super) values: Box<[u8]>,
}

/// Bytes of a stored trip count, and of an operand of a block.
pub(super) const WORD: u8 = 8;

impl Shape {
    /// The shape of a block, which stores its operands.
    pub(crate) fn of_block(operands: usize) -> Self {
        Self { fields: vec![WORD; operands].into(), ..Self::default() }
    }

    pub(crate) fn of_path(path: &CompiledPath, f: &CompiledFunction) -> Self {
        let (mut fields, mut counts, mut loops) = (Vec::new(), Vec::new(), Vec::new());
        let mut takes = Vec::new();
        let widths = |n: &u32| f.nodes[*n as usize].leaves.iter().map(|l| l.width);
        let once = |nodes: &[u32], fields: &mut Vec<u8>, takes: &mut Vec<Take>| {
            let from = fields.len();
            fields.extend(nodes.iter().flat_map(widths));
            let n = fields[from..].iter().map(|width| usize::from(*width)).sum();
            match takes.last_mut() {
                _ if n == 0 => {}
                Some(Take::Bytes(before)) => *before += n,
                _ => takes.push(Take::Bytes(n)),
            }
        };
        for step in &path.path.steps {
            let (index, cut) = match *step {
                Step::Node(n) => {
                    once(&[n], &mut fields, &mut takes);
                    continue;
                }
                Step::Loop { index, cut, .. } => (index, cut),
                Step::Enter(_) | Step::Next(_) => continue,
            };
            let l = f.loops[index as usize].as_ref();
            let Some(l) = l.filter(|l| l.count.is_none()) else {
                continue;
            };
            counts.push(fields.len());
            fields.push(WORD);
            takes.push(Take::Count);
            let whole = !cut && l.leafy_last == l.leafy.len();
            if !l.leafy.is_empty() {
                takes.push(Take::Loop);
                loops.push(Iterated {
                    count: fields.len() - 1,
                    more: u64::from(whole),
                    values: l.leafy.iter().flat_map(widths).collect(),
                });
            }
            if !cut && !whole {
                once(&l.leafy[..l.leafy_last], &mut fields, &mut takes);
            }
            takes.push(Take::Pass);
        }
        Self {
            fields: fields.into(),
            counts: counts.into(),
            loops: loops.into(),
            takes: takes.into(),
        }
    }

    /// Number of columns that the records take.
    pub(super) fn columns(&self) -> usize {
        let iterated: usize = self.loops.iter().map(|l| l.values.len()).sum();
        self.fields.len() + iterated
    }
}

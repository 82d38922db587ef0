//! Counts blocks and accesses in chunks, for the statistics: the program itself never counts.

use std::collections::HashMap;

use contech_trace::event::Event;
use contech_trace::fast::{Decoder, Sink};
use contech_trace::file::ModuleLoad;
use contech_trace::op::{Op, OpKind};
use contech_trace::program::Program;
use contech_trace::table::ModuleTable;

/// Counts of what chunks hold.
#[derive(Debug, Default)]
pub struct Scan {
    program: Program,
    decoders: HashMap<u32, Decoder>,
    /// Block executions.
    pub executions: u64,
    /// Memory accesses: a read-modify-write and a copy are two, lanes count each.
    pub accesses: u64,
    /// Modules and chunks that could not be understood.
    pub faults: u64,
}

impl Scan {
    /// Learns a module's blocks.
    pub fn module(&mut self, load: ModuleLoad) {
        let added = ModuleTable::decode(&load.table).and_then(|table| {
            self.program
                .add(load.id_base, load.id_count, &table, &load.globals)
        });
        self.faults += u64::from(added.is_err());
    }

    /// Counts a chunk; those of one context come in order.
    pub fn chunk(&mut self, context: u32, payload: &[u8]) {
        let mut count = Count {
            program: &self.program,
            executions: 0,
            accesses: 0,
        };
        let decoder = self.decoders.entry(context).or_default();
        let decoded = decoder.chunk(payload, &self.program, &mut count);
        self.faults += u64::from(decoded.is_err());
        self.executions += count.executions;
        self.accesses += count.accesses;
    }
}

struct Count<'a> {
    program: &'a Program,
    executions: u64,
    accesses: u64,
}

impl Sink for Count<'_> {
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.executions += 1;
        self.accesses += accesses(self.program.ops(block), operands);
    }

    fn event(&mut self, _: Event) {}
}

fn accesses(ops: &[Op], mut values: &[u64]) -> u64 {
    let mut take = || {
        let (first, rest) = values.split_first().map_or((0, values), |(v, r)| (*v, r));
        values = rest;
        first
    };
    let mut n = 0;
    for op in ops {
        let mut width = [0u64; 3];
        let mut lanes = 0;
        op.for_each_width(|_| {
            let value = take();
            if lanes < width.len() {
                width[lanes] = value;
            }
            lanes += 1;
        });
        let length = |at: usize| {
            if op.flags & contech_trace::op::CONST_LEN != 0 {
                op.const_len
            } else {
                width[at]
            }
        };
        let enabled = |mask: u64| {
            let lanes = u64::MAX
                .checked_shr(64 - u32::from(op.lanes.min(64)))
                .unwrap_or(0);
            u64::from((mask & lanes).count_ones())
        };
        n += match op.kind {
            OpKind::Load | OpKind::Store => 1,
            OpKind::Rmw => 2,
            OpKind::Copy => 2 * u64::from(length(2) > 0),
            OpKind::Set => u64::from(length(1) > 0),
            OpKind::MaskedLoad
            | OpKind::MaskedStore
            | OpKind::ExpandLoad
            | OpKind::CompressStore => enabled(width[1]),
            OpKind::Gather | OpKind::Scatter => enabled(width[0]),
        };
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use contech_trace::table::{Block, Function};

    fn op(kind: OpKind, lanes: u16) -> Op {
        Op {
            kind,
            size: 4,
            lanes,
            flags: 0,
            const_len: 0,
            line: 0,
        }
    }

    #[test]
    fn every_kind_of_operation_counts_its_accesses() {
        let ops = [
            op(OpKind::Load, 0),
            op(OpKind::Rmw, 0),
            op(OpKind::Copy, 0),
            op(OpKind::Set, 0),
            op(OpKind::MaskedLoad, 4),
            op(OpKind::Gather, 2),
        ];
        let values = [1, 2, 3, 4, 100, 5, 0, 6, 0b1_0101, 0b11, 7, 8];
        assert_eq!(accesses(&ops, &values), 1 + 2 + 2 + 2 + 2);
    }

    #[test]
    fn chunks_are_counted_and_damage_noted() {
        let table = ModuleTable {
            functions: vec![Function {
                name: "f".into(),
                file: "f.c".into(),
                line: 1,
            }],
            blocks: vec![
                Block {
                    ops: vec![op(OpKind::Load, 0), op(OpKind::Store, 0)],
                    ..Block::default()
                },
                Block::default(),
            ],
            ..ModuleTable::default()
        };
        let mut s = Scan::default();
        s.module(ModuleLoad {
            id_base: 0x10_0000,
            id_count: 2,
            object: "o".into(),
            load_address: 0,
            globals: Vec::new(),
            table: table.encode(),
        });
        let mut payload = vec![1; 12];
        payload.extend(0x10_0000u32.to_le_bytes());
        payload.extend(0x10_0001u32.to_le_bytes());
        s.chunk(0, &payload);
        assert_eq!((s.executions, s.accesses, s.faults), (2, 2, 0));
        s.chunk(0, &[9; 7]);
        assert_eq!(s.faults, 1);
    }
}

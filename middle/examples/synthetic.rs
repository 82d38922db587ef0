//! Writes a large synthetic trace, to measure contech-middle with:
//!
//! ```text
//! cargo run --release -p contech-middle --example synthetic -- blocks 512 /tmp/blocks.bin
//! /usr/bin/time -v target/release/contech-middle /tmp/blocks.bin /tmp/blocks.tg
//! ```
//!
//! `blocks`: four contexts that execute nests of loops over arrays, a pointer chase and calls, with a lock
//! now and then. `locks`: two contexts that take turns at a mutex, one block in between. `barriers`: eight
//! contexts, a barrier after every few blocks.

#[path = "../tests/suite/trace.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod trace;

use std::env;
use std::fs::File;
use std::io::{BufWriter, Write};

use contech_program::{MemOp, OpKind};
use contech_trace::event::SyncOp::{Barrier, MutexLock, MutexUnlock};
use contech_trace::table::{Block, Function, ModuleTable};
use trace::{BASE, TraceBuilder, assemble};

const CHUNK: usize = 1 << 20;

/// 32 functions with 8 blocks each; block k has k % 5 loads and a store at every second.
fn program() -> ModuleTable {
    let op = |kind, size| MemOp {
        kind,
        size,
        lanes: 0,
        flags: 0,
        const_len: 0,
        line: 1,
    };
    let mut table = ModuleTable {
        name: "synthetic.c".into(),
        ..ModuleTable::default()
    };
    for f in 0..32 {
        table.functions.push(Function {
            name: format!("function_{f}"),
            file: "synthetic.c".into(),
            line: f * 100,
        });
        for b in 0..8 {
            let mut ops = vec![op(OpKind::Load, 8); usize::try_from(b % 5).unwrap()];
            if b % 2 == 1 {
                ops.push(op(OpKind::Store, 8));
            }
            table.blocks.push(Block {
                function: f,
                line: f * 100 + b,
                ir_ops: 8,
                ops,
                ..Block::default()
            });
        }
    }
    table
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// One call of a function: a loop of its blocks over two arrays, now and then a random address.
fn call(t: &mut TraceBuilder, context: u32, random: &mut Random) {
    let function = u32::try_from(random.next(32)).unwrap();
    let array = 0x7f00_0000_0000 + u64::from(context) * 0x1000_0000 + random.next(1000) * 4096;
    let stack = 0x7ffc_0000_0000 + u64::from(context) * 0x80_0000;
    for i in 0..20 + random.next(200) {
        for b in [1u32, 2, if random.next(4) == 0 { 3 } else { 4 }] {
            let n = u64::from(b % 5) + u64::from(b % 2);
            let mut operands = Vec::with_capacity(8);
            for k in 0..n {
                operands.push(match (b, k) {
                    (3, 1) => 0x5500_0000_0000 + random.next(1 << 20) * 16,
                    (_, 0) => stack + 8 * n,
                    _ => array + i * 8 + k * 65536,
                });
            }
            t.record(context, function * 8 + b, &operands, 6);
        }
    }
}

struct Output {
    file: BufWriter<File>,
    written: usize,
}

impl Output {
    /// Writes the chunks that are ready.
    fn drain(&mut self, t: &mut TraceBuilder) {
        for p in t.pieces.drain(..) {
            let bytes = p.bytes();
            self.written += bytes.len();
            self.file.write_all(&bytes).expect("writing the trace");
        }
    }
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, kind, megabytes, path] = arguments.as_slice() else {
        eprintln!("usage: synthetic blocks|locks|barriers MEGABYTES FILE");
        return;
    };
    let size = megabytes.parse::<usize>().expect("a number of megabytes") << 20;
    let contexts = match kind.as_str() {
        "locks" => 2,
        "barriers" => 8,
        _ => 4,
    };
    let file = BufWriter::new(File::create(path).expect("creating the trace"));
    let mut out = Output { file, written: 0 };
    out.file
        .write_all(&assemble(&[]))
        .expect("writing the trace");
    let mut t = TraceBuilder::empty();
    t.module(BASE, &program());
    t.start(0);
    for child in 1..contexts {
        t.create(0, child);
    }
    let mut random = Random(88_172_645_463_325_252);
    let mut turn = 0;
    while out.written < size {
        let context = turn % contexts;
        turn += 1;
        match kind.as_str() {
            "locks" => {
                t.sync(context, MutexLock, 0x2000);
                t.block(context, 1, &[0x1000, 0x2000]);
                t.sync(context, MutexUnlock, 0x2000);
            }
            "barriers" => {
                for c in 0..contexts {
                    t.block(c, 1, &[0x1000, 0x2000]);
                }
                for c in 0..contexts {
                    t.sync_aux(c, Barrier, 0x4000, contexts.into());
                }
            }
            _ => {
                for _ in 0..8 {
                    call(&mut t, context, &mut random);
                }
                t.sync(context, MutexLock, 0x2000);
                t.block(context, 1, &[0x1000, 0x2000]);
                t.sync(context, MutexUnlock, 0x2000);
            }
        }
        t.flush_full(CHUNK);
        out.drain(&mut t);
    }
    for child in 1..contexts {
        t.join(0, child);
    }
    t.end(0);
    t.close();
    out.drain(&mut t);
    out.file.flush().expect("writing the trace");
    println!("{} bytes in {path}", out.written);
}

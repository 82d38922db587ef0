//! The static table of one instrumented module: its functions, blocks and memory operations. The pass writes it into
//! the object file, the runtime copies it into the trace, and the middle layer reads it.

use contech_program::wire::{put_bytes, put_varint};
use contech_program::{MemOp, OpKind};

use crate::fast::FastFunction;
use crate::{Error, Reader, Result};

/// First bytes of an encoded table.
pub const TABLE_MAGIC: u32 = 0x544d_5443; // "CTMT"
/// Version of the encoding below.
pub const TABLE_VERSION: u32 = 3;

/// The block is the entry of its function.
pub const BLOCK_ENTRY: u8 = 1;
/// The block ends by returning from its function.
pub const BLOCK_RETURN: u8 = 2;
/// The block starts a basic block that is a loop header.
pub const BLOCK_LOOP_HEADER: u8 = 4;
/// The block continues its basic block after a call (it is a later piece).
pub const BLOCK_CONTINUED: u8 = 8;
/// The block is a landing pad or another exception entry.
pub const BLOCK_LANDING: u8 = 16;
/// The block is also recorded in naive form, in the check stream (`--contech-check`).
pub const BLOCK_CHECKED: u8 = 32;

/// A function of the module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Function {
    /// Linkage name.
    pub name: String,
    /// Source file; empty if it is not known.
    pub file: String,
    /// Line of the definition; 0 if it is not known.
    pub line: u32,
}

/// The boundary call that ends a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Linkage name of the callee; empty for an indirect call.
    pub callee: String,
    /// Line of the call.
    pub line: u32,
}

/// A block: a basic block or a piece of one between boundary calls. Its index is its id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Index of the block's function.
    pub function: u32,
    /// First source line; 0 if it is not known.
    pub line: u32,
    /// `BLOCK_*` bits.
    pub flags: u8,
    /// Number of the program's IR instructions in the block (before instrumentation).
    pub ir_ops: u32,
    /// The boundary call that ends the block, if one does.
    pub call: Option<Call>,
    /// Memory operations in program order.
    pub ops: Vec<MemOp>,
}

impl Block {
    /// Bytes of the operands in the block's record (the id comes after them).
    #[must_use]
    pub fn operand_bytes(&self) -> usize {
        self.ops.iter().map(MemOp::record_bytes).sum()
    }
}

/// Everything static about one module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModuleTable {
    /// Source file name of the module.
    pub name: String,
    pub functions: Vec<Function>,
    /// The blocks, by their ids.
    pub blocks: Vec<Block>,
    /// Reasons why something could not be recorded, each with the number of places.
    pub unrecorded: Vec<(String, u64)>,
    /// Functions in fast form. Their path ids follow the ids of all blocks.
    pub fast: Vec<FastFunction>,
}

impl ModuleTable {
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut strings = Strings::default();
        let mut body = Vec::new();
        put_varint(&mut body, self.functions.len() as u64);
        for f in &self.functions {
            put_varint(&mut body, strings.index(&f.name));
            put_varint(&mut body, strings.index(&f.file));
            put_varint(&mut body, u64::from(f.line));
        }
        put_varint(&mut body, self.blocks.len() as u64);
        for b in &self.blocks {
            put_block(&mut body, b, &mut strings);
        }
        put_varint(&mut body, self.unrecorded.len() as u64);
        for (reason, n) in &self.unrecorded {
            put_varint(&mut body, strings.index(reason));
            put_varint(&mut body, *n);
        }
        put_varint(&mut body, self.fast.len() as u64);
        self.fast.iter().for_each(|f| f.encode(&mut body));
        let mut out = Vec::with_capacity(body.len() + 64);
        out.extend_from_slice(&TABLE_MAGIC.to_le_bytes());
        out.extend_from_slice(&TABLE_VERSION.to_le_bytes());
        put_bytes(&mut out, self.name.as_bytes());
        put_varint(&mut out, strings.list.len() as u64);
        for s in &strings.list {
            put_bytes(&mut out, s.as_bytes());
        }
        out.extend_from_slice(&body);
        out
    }

    /// Decodes a table.
    ///
    /// # Errors
    /// [`Error`] if the bytes are not what [`ModuleTable::encode`] writes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut w = Reader::new("module table", bytes);
        if w.u32()? != TABLE_MAGIC {
            return Err(w.error("module table magic: expected CTMT"));
        }
        let version = w.u32()?;
        if version != TABLE_VERSION {
            return Err(Error::Version {
                got: version,
                expected: TABLE_VERSION,
            });
        }
        let name = string(&mut w)?;
        let strings = w.list(string)?;
        let get = |w: &mut Reader<'_>, what| -> Result<String> {
            let i = w.varint()?;
            usize::try_from(i)
                .ok()
                .and_then(|i| strings.get(i))
                .cloned()
                .ok_or_else(|| w.error(format!("{what}: string index out of range")))
        };
        let mut functions = Vec::new();
        for _ in 0..w.count(w.remaining())? {
            functions.push(Function {
                name: get(&mut w, "function name")?,
                file: get(&mut w, "function file")?,
                line: w.varint32()?,
            });
        }
        let mut blocks = Vec::new();
        for _ in 0..w.count(w.remaining())? {
            blocks.push(take_block(&mut w, functions.len(), &get)?);
        }
        let mut unrecorded = Vec::new();
        for _ in 0..w.count(w.remaining())? {
            unrecorded.push((get(&mut w, "reason")?, w.varint()?));
        }
        let fast = w.list(FastFunction::decode)?;
        Ok(ModuleTable {
            name,
            functions,
            blocks,
            unrecorded,
            fast,
        })
    }
}

#[derive(Default)]
struct Strings {
    list: Vec<String>,
    by_name: std::collections::HashMap<String, u64>,
}

impl Strings {
    fn index(&mut self, s: &str) -> u64 {
        if let Some(i) = self.by_name.get(s) {
            return *i;
        }
        let i = self.list.len() as u64;
        self.list.push(s.to_owned());
        self.by_name.insert(s.to_owned(), i);
        i
    }
}

const HAS_CALL: u8 = 0x80;

fn put_block(out: &mut Vec<u8>, b: &Block, strings: &mut Strings) {
    put_varint(out, u64::from(b.function));
    put_varint(out, u64::from(b.line));
    out.push(b.flags & !HAS_CALL | if b.call.is_some() { HAS_CALL } else { 0 });
    put_varint(out, u64::from(b.ir_ops));
    if let Some(c) = &b.call {
        put_varint(out, strings.index(&c.callee));
        put_varint(out, u64::from(c.line));
    }
    put_varint(out, b.ops.len() as u64);
    for op in &b.ops {
        out.push(op.kind as u8);
        out.push(op.flags);
        put_varint(out, u64::from(op.size));
        put_varint(out, u64::from(op.lanes));
        put_varint(out, op.const_len);
        put_varint(out, u64::from(op.line));
    }
}

fn take_block(
    w: &mut Reader<'_>,
    functions: usize,
    get: &dyn Fn(&mut Reader<'_>, &'static str) -> Result<String>,
) -> Result<Block> {
    let function = w.varint32()?;
    if function as usize >= functions {
        return Err(w.error("block function: function index out of range"));
    }
    let line = w.varint32()?;
    let flags = w.u8()?;
    let ir_ops = w.varint32()?;
    let call = if flags & HAS_CALL == 0 {
        None
    } else {
        Some(Call {
            callee: get(w, "callee")?,
            line: w.varint32()?,
        })
    };
    let mut ops = Vec::new();
    for _ in 0..w.count(w.remaining())? {
        ops.push(take_op(w)?);
    }
    Ok(Block {
        function,
        line,
        flags: flags & !HAS_CALL,
        ir_ops,
        call,
        ops,
    })
}

/// Reads a string. Names are bytes to a linker, so what is not UTF-8 is replaced.
fn string(w: &mut Reader<'_>) -> Result<String> {
    Ok(String::from_utf8_lossy(w.bytes()?).into_owned())
}

fn take_op(w: &mut Reader<'_>) -> Result<MemOp> {
    let head = w.array::<2>()?;
    let kind = OpKind::from_u8(head[0])
        .ok_or_else(|| w.error("operation kind: unknown kind of memory operation"))?;
    let op = MemOp {
        kind,
        flags: head[1],
        size: w.varint32()?,
        lanes: u16::try_from(w.varint()?).unwrap_or(u16::MAX),
        const_len: w.varint()?,
        line: w.varint32()?,
    };
    if op.lanes > MemOp::MAX_LANES {
        return Err(w.error("an operation of more than 64 lanes"));
    }
    if op.flags & MemOp::CONST_LEN != 0 && !op.has_length() {
        return Err(w.error("a constant length of an operation that has none"));
    }
    if op.size > MemOp::MAX_SIZE {
        return Err(w.error("operation size: more bytes than one operation accesses"));
    }
    Ok(op)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn sample() -> ModuleTable {
        let op = |kind, size, lanes, flags| MemOp {
            kind,
            size,
            lanes,
            flags,
            const_len: 9,
            line: 3,
        };
        ModuleTable {
            name: "a.c".into(),
            functions: vec![Function {
                name: "main".into(),
                file: "a.c".into(),
                line: 7,
            }],
            blocks: vec![
                Block {
                    flags: BLOCK_ENTRY,
                    line: 8,
                    ir_ops: 4,
                    ..Block::default()
                },
                Block {
                    call: Some(Call {
                        callee: "malloc".into(),
                        line: 9,
                    }),
                    ops: vec![
                        op(OpKind::Load, 8, 0, MemOp::ATOMIC),
                        op(OpKind::Copy, 0, 0, 0),
                        op(OpKind::Set, 0, 0, MemOp::CONST_LEN),
                        op(OpKind::Gather, 4, 8, 0),
                    ],
                    ..Block::default()
                },
            ],
            unrecorded: vec![("inline assembly".into(), 2)],
            fast: Vec::new(),
        }
    }

    #[test]
    fn a_table_survives_encoding() {
        let t = sample();
        assert_eq!(ModuleTable::decode(&t.encode()).unwrap(), t);
        assert_eq!(t.blocks[1].operand_bytes(), 6 + 18 + 6 + 8 + 48);
    }

    #[test]
    fn an_operation_of_gigabytes_is_refused() {
        let mut t = sample();
        t.blocks[1].ops[0].size = MemOp::MAX_SIZE + 1;
        let error = ModuleTable::decode(&t.encode()).unwrap_err();
        assert!(error.to_string().contains("operation size"), "{error}");
    }

    #[test]
    fn no_cut_or_flipped_table_panics() {
        let bytes = sample().encode();
        for n in 0..bytes.len() {
            assert!(ModuleTable::decode(&bytes[..n]).is_err(), "cut at {n}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut b = bytes.clone();
            b[bit / 8] ^= 1 << (bit % 8);
            let _ = ModuleTable::decode(&b);
        }
    }
}

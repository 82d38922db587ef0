//! The static table of one instrumented module: its functions, blocks and memory operations. The
//! pass writes it into the object file, the runtime copies it into the trace, and the middle layer
//! reads it.

pub use contech_program::CallSite as Call;
use contech_program::wire::{put_bytes, put_varint};
use contech_program::{MemOp, OpKind};

use crate::fast::FastFunction;
use crate::{Error, Reader, Result, put};

/// First bytes of an encoded table.
pub const TABLE_MAGIC: u32 = 0x544d_5443; // "CTMT"
/// Version of the encoding below.
pub const TABLE_VERSION: u32 = 4;

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

/// A call that the compiler inlined. Of the calls of libraries, only those are in the table that
/// come right below a function of the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Inlined {
    /// Linkage name of the function called.
    pub name: String,
    /// Source file of the function called; empty if it is not known.
    pub file: String,
    /// Line of the call; 0 if it is not known.
    pub line: u32,
    /// The inlined call whose function calls, as in [`Block::inlined`].
    pub within: u32,
}

/// A block: a basic block or a piece of one between boundary calls. Its index is its id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Index of the block's function.
    pub function: u32,
    /// First source line; 0 if it is not known.
    pub line: u32,
    /// The inlined function that the line is in: 0 for none, n for entry n - 1 of
    /// [`ModuleTable::inlined`].
    pub inlined: u32,
    /// `BLOCK_*` bits.
    pub flags: u8,
    /// Number of the program's IR instructions in the block (before instrumentation).
    pub ir_ops: u32,
    /// The boundary call that ends the block, if one does, with the linkage name of the callee.
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
    /// Inlined calls; one that contains another comes before it.
    pub inlined: Vec<Inlined>,
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
            put(&mut body, [strings.index(&f.name), strings.index(&f.file), f.line.into()]);
        }
        put_varint(&mut body, self.inlined.len() as u64);
        for call in &self.inlined {
            put(&mut body, [strings.index(&call.name), strings.index(&call.file)]);
            put(&mut body, [call.line.into(), call.within.into()]);
        }
        put_varint(&mut body, self.blocks.len() as u64);
        for b in &self.blocks {
            put_block(&mut body, b, &mut strings);
        }
        put_varint(&mut body, self.unrecorded.len() as u64);
        for (reason, n) in &self.unrecorded {
            put(&mut body, [strings.index(reason), *n]);
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
            return Err(Error::Version { got: version, expected: TABLE_VERSION });
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
        let functions = w.list(|w| {
            let (name, file) = (get(w, "function name")?, get(w, "function file")?);
            Ok(Function { name, file, line: w.varint32()? })
        })?;
        let mut inlined = Vec::new();
        for _ in 0..w.count(w.remaining())? {
            inlined.push(Inlined {
                name: get(&mut w, "inlined function")?,
                file: get(&mut w, "file of an inlined function")?,
                line: w.varint32()?,
                within: within(w.varint32()?, inlined.len(), &w)?,
            });
        }
        let counts = (functions.len(), inlined.len());
        let blocks = w.list(|w| take_block(w, counts, &get))?;
        let unrecorded = w.list(|w| Ok((get(w, "reason")?, w.varint()?)))?;
        let fast = w.list(FastFunction::decode)?;
        Ok(ModuleTable { name, functions, inlined, blocks, unrecorded, fast })
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
/// The block's line is in an inlined function.
const HAS_INLINED: u8 = 0x40;
/// Bit of an operation's flags: its line is not in the same inlined function as the block's.
const OP_INLINED: u8 = 0x80;

/// The number of an inlined call, of which there are `calls`.
fn within(number: u32, calls: usize, w: &Reader<'_>) -> Result<u32> {
    match number as usize <= calls {
        true => Ok(number),
        false => Err(w.error("inlined call out of range")),
    }
}

fn put_block(out: &mut Vec<u8>, b: &Block, strings: &mut Strings) {
    put(out, [b.function.into(), b.line.into()]);
    let bit = |bit, set| if set { bit } else { 0 };
    let bits = bit(HAS_CALL, b.call.is_some()) | bit(HAS_INLINED, b.inlined != 0);
    out.push(b.flags & !(HAS_CALL | HAS_INLINED) | bits);
    if b.inlined != 0 {
        put_varint(out, u64::from(b.inlined));
    }
    put_varint(out, u64::from(b.ir_ops));
    if let Some(c) = &b.call {
        put(out, [strings.index(&c.callee), c.line.into(), c.inlined.into()]);
    }
    put_varint(out, b.ops.len() as u64);
    for op in &b.ops {
        out.push(op.kind as u8);
        let elsewhere = op.inlined != b.inlined;
        out.push(op.flags & !OP_INLINED | bit(OP_INLINED, elsewhere));
        put(out, [op.size.into(), op.lanes.into(), op.const_len, op.line.into()]);
        if elsewhere {
            put_varint(out, u64::from(op.inlined));
        }
    }
}

fn take_block(
    w: &mut Reader<'_>,
    (functions, calls): (usize, usize),
    get: &dyn Fn(&mut Reader<'_>, &'static str) -> Result<String>,
) -> Result<Block> {
    let function = w.varint32()?;
    if function as usize >= functions {
        return Err(w.error("block function: function index out of range"));
    }
    let line = w.varint32()?;
    let flags = w.u8()?;
    let mut inlined = 0;
    if flags & HAS_INLINED != 0 {
        inlined = within(w.varint32()?, calls, w)?;
    }
    let ir_ops = w.varint32()?;
    let call = if flags & HAS_CALL == 0 {
        None
    } else {
        Some(Call {
            callee: get(w, "callee")?,
            line: w.varint32()?,
            inlined: within(w.varint32()?, calls, w)?,
        })
    };
    let ops = w.list(|w| take_op(w, inlined, calls))?;
    Ok(Block {
        function,
        line,
        inlined,
        flags: flags & !(HAS_CALL | HAS_INLINED),
        ir_ops,
        call,
        ops,
    })
}

/// Reads a string. Names are bytes to a linker, so what is not UTF-8 is replaced.
fn string(w: &mut Reader<'_>) -> Result<String> {
    Ok(String::from_utf8_lossy(w.bytes()?).into_owned())
}

fn take_op(w: &mut Reader<'_>, inlined: u32, calls: usize) -> Result<MemOp> {
    let head = w.array::<2>()?;
    let kind = OpKind::from_u8(head[0])
        .ok_or_else(|| w.error("operation kind: unknown kind of memory operation"))?;
    let mut op = MemOp {
        kind,
        flags: head[1] & !OP_INLINED,
        size: w.varint32()?,
        lanes: u16::try_from(w.varint()?).unwrap_or(u16::MAX),
        const_len: w.varint()?,
        line: w.varint32()?,
        inlined,
    };
    if head[1] & OP_INLINED != 0 {
        op.inlined = within(w.varint32()?, calls, w)?;
    }
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
            inlined: u32::from(lanes != 0),
        };
        ModuleTable {
            name: "a.c".into(),
            functions: vec![Function { name: "main".into(), file: "a.c".into(), line: 7 }],
            inlined: vec![
                Inlined { name: "f".into(), file: "a.h".into(), line: 4, within: 0 },
                Inlined { within: 1, ..Inlined::default() },
            ],
            blocks: vec![
                Block { inlined: 2, flags: BLOCK_ENTRY, line: 8, ir_ops: 4, ..Block::default() },
                Block {
                    call: Some(Call { callee: "malloc".into(), line: 9, inlined: 1 }),
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

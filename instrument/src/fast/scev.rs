//! What LLVM's ScalarEvolution, LoopInfo and dominators say about a function, through
//! `shim/scev.cpp`.
#![allow(unsafe_code, reason = "calls of shim/scev.cpp")]

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

use crate::ir::{Operand, Visit, visited};
use crate::memop::Value;

/// A loop of the function; outer loops come before inner ones.
#[repr(C)]
pub(crate) struct RawLoop {
    pub(crate) header: LLVMBasicBlockRef,
    /// The preheader of a loop without boundary calls, or null.
    pub(crate) preheader: LLVMBasicBlockRef,
    /// Negative if there is none.
    pub(crate) parent: i64,
}

#[repr(C)]
#[derive(Default)]
struct RawLeaf {
    base: u64,
    offset: u64,
    bits: u64,
    active: u64,
}

unsafe extern "C" {
    fn contech_fast_open(f: LLVMValueRef, calling: *mut LLVMBasicBlockRef, n: usize)
    -> *mut c_void;
    fn contech_fast_close(h: *mut c_void);
    fn contech_fast_loops(h: *mut c_void, visit: Visit<RawLoop>, context: *mut c_void);
    fn contech_fast_loop_of(h: *mut c_void, block: LLVMBasicBlockRef) -> i64;
    fn contech_fast_frequency(h: *mut c_void, block: LLVMBasicBlockRef) -> f64;
    fn contech_fast_value(
        h: *mut c_void,
        v: LLVMValueRef,
        at: LLVMValueRef,
        add: Visit<u64>,
        context: *mut c_void,
    ) -> c_int;
    fn contech_fast_count(h: *mut c_void, i: usize, add: Visit<u64>, context: *mut c_void)
    -> c_int;
    fn contech_fast_leaf(
        h: *mut c_void,
        v: LLVMValueRef,
        out: *mut RawLeaf,
        kill: Visit<LLVMValueRef>,
        context: *mut c_void,
    );
}

/// An expression whose leaves are still LLVM values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sym {
    Const(u64),
    /// A leaf of which the low `need` bits matter.
    Leaf {
        source: Value,
        need: u8,
    },
    Iter(u32),
    Global(Operand),
    Add(Vec<Sym>),
    Mul(Box<Sym>, Box<Sym>),
    Zext(u8, Box<Sym>),
    Sext(u8, Box<Sym>),
    Udiv(u8, Box<Sym>, Box<Sym>),
}

impl Sym {
    /// Calls `f` with every leaf.
    pub(crate) fn for_each_leaf(&self, f: &mut impl FnMut(Value, u8)) {
        match self {
            Sym::Leaf { source, need } => f(*source, *need),
            Sym::Const(_) | Sym::Iter(_) | Sym::Global(_) => {}
            Sym::Add(terms) => terms.iter().for_each(|t| t.for_each_leaf(f)),
            Sym::Zext(_, a) | Sym::Sext(_, a) => a.for_each_leaf(f),
            Sym::Mul(a, b) | Sym::Udiv(_, a, b) => {
                a.for_each_leaf(f);
                b.for_each_leaf(f);
            }
        }
    }
}

/// What is known of a leaf.
#[derive(Debug, Clone)]
pub(crate) struct LeafFacts {
    /// Values with the same base differ by the difference of their offsets. The second part tells
    /// the lanes of a vector apart.
    pub(crate) base: (u64, u32),
    pub(crate) offset: u64,
    /// Bits of the leaf's type.
    pub(crate) bits: u8,
    /// Bits that may be set.
    pub(crate) active: u8,
    /// The instructions after which a recorded leaf is stale.
    pub(crate) kills: Vec<Operand>,
}

/// The open analyses of one function, which must not change while they are open.
#[derive(Debug)]
pub(crate) struct Analysis<'m> {
    handle: *mut c_void,
    function: PhantomData<FunctionValue<'m>>,
}

impl Drop for Analysis<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle comes from open and is closed once.
        unsafe { contech_fast_close(self.handle) }
    }
}

impl<'m> Analysis<'m> {
    /// Opens the analyses. Loops that contain none of the `calling` blocks get preheaders and exits
    /// of their own first.
    pub(crate) fn open(f: FunctionValue<'m>, calling: &[BasicBlock<'m>]) -> Self {
        let mut raw: Vec<_> = calling.iter().map(|b| b.as_mut_ptr()).collect();
        // SAFETY: the function has a body, and the blocks are the function's.
        let handle = unsafe { contech_fast_open(f.as_value_ref(), raw.as_mut_ptr(), raw.len()) };
        Analysis { handle, function: PhantomData }
    }

    pub(crate) fn loops(&self) -> Vec<RawLoop> {
        // SAFETY: the handle is open.
        visited(|visit, list| unsafe { contech_fast_loops(self.handle, visit, list) })
    }

    /// Innermost loop of a block.
    pub(crate) fn loop_of(&self, block: BasicBlock<'m>) -> Option<usize> {
        // SAFETY: the handle is open, and the block is the function's.
        usize::try_from(unsafe { contech_fast_loop_of(self.handle, block.as_mut_ptr()) }).ok()
    }

    /// How often a block is expected to execute in a call of the function.
    pub(crate) fn frequency(&self, block: BasicBlock<'m>) -> f64 {
        // SAFETY: the handle is open, and the block is the function's.
        unsafe { contech_fast_frequency(self.handle, block.as_mut_ptr()) }
    }

    /// An expression for the address or length `v` at the instruction `at`; a leaf where nothing
    /// better exists.
    pub(crate) fn value(&self, v: Operand, at: InstructionValue<'m>) -> Option<Sym> {
        let (v, at) = (v.as_raw(), at.as_value_ref());
        // SAFETY: the handle is open; the value and the instruction are the function's.
        parsed(|add, list| unsafe { contech_fast_value(self.handle, v, at, add, list) })
    }

    /// How often the back edge of loop `i` is taken, where this follows from what is known before
    /// the loop.
    pub(crate) fn count(&self, i: usize) -> Option<Sym> {
        // SAFETY: the handle is open, and the index is one of its loops.
        parsed(|add, list| unsafe { contech_fast_count(self.handle, i, add, list) })
    }

    pub(crate) fn leaf(&self, source: Value) -> LeafFacts {
        let mut raw = RawLeaf::default();
        let (v, out) = (source.operand().as_raw(), &raw mut raw);
        // SAFETY: the handle is open, and the value is the function's.
        let kills = visited(|kill, list| unsafe {
            contech_fast_leaf(self.handle, v, out, kill, list);
        });
        let bits = |n: u64| u8::try_from(n.min(64)).unwrap_or(64);
        LeafFacts {
            base: (raw.base, 0),
            offset: raw.offset,
            bits: bits(raw.bits),
            active: bits(raw.active),
            kills: kills.into_iter().map(Operand::from_raw).collect(),
        }
    }
}

/// The expression that the shim writes, if it does.
fn parsed(write: impl FnOnce(Visit<u64>, *mut c_void) -> c_int) -> Option<Sym> {
    let mut ok = 0;
    let tokens = visited(|add, list| ok = write(add, list));
    (ok != 0).then(|| parse(&mut tokens.into_iter())).flatten()
}

/// Reads the shim's prefix code.
fn parse(tokens: &mut dyn Iterator<Item = u64>) -> Option<Sym> {
    let boxed = |t: &mut dyn Iterator<Item = u64>| parse(t).map(Box::new);
    let value =
        |t: &mut dyn Iterator<Item = u64>| Some(Operand::from_raw(t.next()? as LLVMValueRef));
    let bits = |n: u64| u8::try_from(n).ok();
    Some(match tokens.next()? {
        0 => Sym::Const(tokens.next()?),
        1 => Sym::Leaf { source: Value::Plain(value(tokens)?), need: bits(tokens.next()?)? },
        2 => Sym::Iter(u32::try_from(tokens.next()?).ok()?),
        3 => Sym::Global(value(tokens)?),
        4 => {
            let n = tokens.next()?;
            Sym::Add((0..n).map(|_| parse(tokens)).collect::<Option<_>>()?)
        }
        5 => Sym::Mul(boxed(tokens)?, boxed(tokens)?),
        6 => Sym::Zext(bits(tokens.next()?)?, boxed(tokens)?),
        7 => Sym::Sext(bits(tokens.next()?)?, boxed(tokens)?),
        8 => Sym::Udiv(bits(tokens.next()?)?, boxed(tokens)?, boxed(tokens)?),
        _ => return None,
    })
}

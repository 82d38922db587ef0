//! What LLVM's ScalarEvolution, LoopInfo and dominators say about a function, through
//! `shim/scev.cpp`.
#![allow(unsafe_code, reason = "calls of shim/scev.cpp")]

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

use contech_program::path::Expr;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

use super::index;
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

/// An expression in which slots and globals are the LLVM values of two lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sym {
    pub(crate) expr: Expr,
    /// The leaves, and how many low bits of each matter.
    pub(crate) leaves: Vec<(Value, u8)>,
    pub(crate) globals: Vec<Operand>,
}

impl Sym {
    pub(crate) fn leaf(source: Value, need: u8) -> Self {
        Sym { expr: Expr::Slot(0), leaves: vec![(source, need)], globals: Vec::new() }
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

    /// What is known of a leaf, of a lane, or of a mask of lanes.
    pub(crate) fn facts(&self, source: Value) -> LeafFacts {
        let mut raw = RawLeaf::default();
        let (v, out) = (source.operand().as_raw(), &raw mut raw);
        // SAFETY: the handle is open, and the value is the function's.
        let kills = visited(|kill, list| unsafe {
            contech_fast_leaf(self.handle, v, out, kill, list);
        });
        let bits = |n: u64| u8::try_from(n.min(64)).unwrap_or(64);
        let mut facts = LeafFacts {
            base: (raw.base, 0),
            offset: raw.offset,
            bits: bits(raw.bits),
            active: bits(raw.active),
            kills: kills.into_iter().map(Operand::from_raw).collect(),
        };
        match source {
            Value::Plain(_) => {}
            Value::Lane(_, i) => {
                facts.base.1 = i + 1;
                (facts.bits, facts.active) = (64, 64);
            }
            Value::Mask(v) => {
                let lanes = bits(v.lanes().unwrap_or(64).into());
                (facts.bits, facts.active) = (lanes, lanes);
            }
        }
        facts
    }
}

/// The expression that the shim writes, if it does.
fn parsed(write: impl FnOnce(Visit<u64>, *mut c_void) -> c_int) -> Option<Sym> {
    let mut ok = 0;
    let tokens = visited(|add, list| ok = write(add, list)).into_iter();
    let mut code = Code { tokens, leaves: Vec::new(), globals: Vec::new() };
    let expr = code.expr().filter(|_| ok != 0)?;
    Some(Sym { expr, leaves: code.leaves, globals: code.globals })
}

/// The shim's prefix code, and the values that were in it.
struct Code {
    tokens: std::vec::IntoIter<u64>,
    leaves: Vec<(Value, u8)>,
    globals: Vec<Operand>,
}

impl Code {
    fn expr(&mut self) -> Option<Expr> {
        Some(match self.tokens.next()? {
            0 => Expr::Const(self.tokens.next()?),
            1 => {
                let leaf = (Value::Plain(self.value()?), self.bits()?);
                self.leaves.push(leaf);
                Expr::Slot(index(self.leaves.len() - 1))
            }
            2 => Expr::Iter(u32::try_from(self.tokens.next()?).ok()?),
            3 => {
                let global = self.value()?;
                self.globals.push(global);
                Expr::Global(index(self.globals.len() - 1))
            }
            4 => {
                let n = self.tokens.next()?;
                Expr::Add((0..n).map(|_| self.expr()).collect::<Option<_>>()?)
            }
            5 => Expr::Mul(self.boxed()?, self.boxed()?),
            6 => Expr::Zext(self.bits()?, self.boxed()?),
            7 => Expr::Sext(self.bits()?, self.boxed()?),
            8 => Expr::Udiv(self.bits()?, self.boxed()?, self.boxed()?),
            _ => return None,
        })
    }

    fn boxed(&mut self) -> Option<Box<Expr>> {
        self.expr().map(Box::new)
    }

    fn value(&mut self) -> Option<Operand> {
        Some(Operand::from_raw(self.tokens.next()? as LLVMValueRef))
    }

    fn bits(&mut self) -> Option<u8> {
        u8::try_from(self.tokens.next()?).ok()
    }
}

//! What LLVM's ScalarEvolution, LoopInfo and dominators say about a function, through
//! `shim/scev.cpp`.
#![allow(unsafe_code, reason = "calls of shim/scev.cpp")]

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::LLVMIsAInstruction;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue, InstructionValue, PointerValue};

use crate::ir::Operand;

type Push = unsafe extern "C" fn(*mut c_void, u64);

#[repr(C)]
struct RawLoop {
    header: LLVMBasicBlockRef,
    preheader: LLVMBasicBlockRef,
    parent: i64,
    depth: u64,
    tracked: u64,
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
    fn contech_fast_loop_count(h: *mut c_void) -> usize;
    fn contech_fast_loop(h: *mut c_void, i: usize, out: *mut RawLoop);
    fn contech_fast_loop_of(h: *mut c_void, block: LLVMBasicBlockRef) -> i64;
    fn contech_fast_frequency(h: *mut c_void, block: LLVMBasicBlockRef) -> f64;
    fn contech_fast_value(
        h: *mut c_void,
        v: LLVMValueRef,
        at: LLVMValueRef,
        add: Push,
        context: *mut c_void,
    ) -> c_int;
    fn contech_fast_count(h: *mut c_void, i: usize, add: Push, context: *mut c_void) -> c_int;
    fn contech_fast_leaf(
        h: *mut c_void,
        v: LLVMValueRef,
        out: *mut RawLeaf,
        kill: Push,
        context: *mut c_void,
    );
    fn contech_fast_split_edge(from: LLVMBasicBlockRef, to: LLVMBasicBlockRef)
    -> LLVMBasicBlockRef;
    fn contech_fast_promote(allocas: *mut LLVMValueRef, n: usize);
}

/// Identity of an LLVM value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Val(LLVMValueRef);

impl Val {
    pub(crate) fn of(v: &impl AsValueRef) -> Self {
        Val(v.as_value_ref())
    }

    /// The value, which must have a type that can be stored.
    pub(crate) fn basic<'m>(self) -> BasicValueEnum<'m> {
        // SAFETY: a Val is a live value of integer, pointer or vector type: the pass makes Vals
        // from memory operands, and the shim from the sources of expressions.
        unsafe { BasicValueEnum::new(self.0) }
    }

    /// The instruction, if the value is one.
    pub(crate) fn instruction<'m>(self) -> Option<InstructionValue<'m>> {
        // SAFETY: a Val is a live value, and the instruction is made only if the value is one.
        unsafe { (!LLVMIsAInstruction(self.0).is_null()).then(|| InstructionValue::new(self.0)) }
    }

    pub(crate) fn operand(self) -> Operand {
        Operand::from_raw(self.0)
    }

    /// The global that the value is, for [`Sym::Global`].
    pub(crate) fn global<'m>(self) -> PointerValue<'m> {
        // SAFETY: the shim gives only globals here, which are pointers.
        unsafe { PointerValue::new(self.0) }
    }
}

impl From<Operand> for Val {
    fn from(o: Operand) -> Self {
        Val(o.as_raw())
    }
}

/// A value that can be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// An integer or pointer.
    Value(Val),
    /// One lane of a vector of pointers.
    Lane(Val, u32),
    /// A vector of `i1`.
    Mask(Val),
}

impl Source {
    /// The LLVM value it is taken from.
    pub(crate) fn val(self) -> Val {
        match self {
            Source::Value(v) | Source::Lane(v, _) | Source::Mask(v) => v,
        }
    }
}

/// An expression whose leaves are still LLVM values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sym {
    Const(u64),
    /// A leaf of which the low `need` bits matter.
    Leaf {
        source: Source,
        need: u8,
    },
    Iter(u32),
    Global(Val),
    Add(Vec<Sym>),
    Mul(Box<Sym>, Box<Sym>),
    Zext(u8, Box<Sym>),
    Sext(u8, Box<Sym>),
    Udiv(u8, Box<Sym>, Box<Sym>),
}

impl Sym {
    /// Calls `f` with every leaf.
    pub(crate) fn for_each_leaf(&self, f: &mut impl FnMut(Source, u8)) {
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

/// A loop of the function; outer loops come before inner ones.
#[derive(Debug, Clone)]
pub(crate) struct LoopFacts<'m> {
    pub(crate) header: BasicBlock<'m>,
    /// The preheader of a loop without boundary calls, whose iterations can be counted.
    pub(crate) preheader: Option<BasicBlock<'m>>,
    pub(crate) parent: Option<usize>,
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
    pub(crate) kills: Vec<Kill>,
}

/// The event after which a recorded leaf is stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kill {
    /// This instruction executes.
    Instruction(Val),
    /// This block is entered.
    Block(LLVMBasicBlockRef),
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

unsafe extern "C" fn push(context: *mut c_void, x: u64) {
    // SAFETY: `context` is the Vec that the callers below pass; it is alive during the call.
    unsafe { &mut *context.cast::<Vec<u64>>() }.push(x);
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

    pub(crate) fn loops(&self) -> Vec<LoopFacts<'m>> {
        // SAFETY: the handle is open, the indices are below the count, and headers are never null.
        unsafe {
            (0..contech_fast_loop_count(self.handle))
                .filter_map(|i| {
                    let mut raw = RawLoop {
                        header: std::ptr::null_mut(),
                        preheader: std::ptr::null_mut(),
                        parent: -1,
                        depth: 0,
                        tracked: 0,
                    };
                    contech_fast_loop(self.handle, i, &raw mut raw);
                    Some(LoopFacts {
                        header: BasicBlock::new(raw.header)?,
                        preheader: BasicBlock::new(raw.preheader),
                        parent: usize::try_from(raw.parent).ok(),
                    })
                })
                .collect()
        }
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
    pub(crate) fn value(&self, v: Val, at: InstructionValue<'m>) -> Option<Sym> {
        let mut tokens: Vec<u64> = Vec::new();
        // SAFETY: the handle is open; the value and the instruction are the function's.
        let ok = unsafe {
            contech_fast_value(self.handle, v.0, at.as_value_ref(), push, (&raw mut tokens).cast())
        };
        (ok != 0).then(|| parse(&mut tokens.into_iter())).flatten()
    }

    /// How often the back edge of loop `i` is taken, where this follows from what is known before
    /// the loop.
    pub(crate) fn count(&self, i: usize) -> Option<Sym> {
        let mut tokens: Vec<u64> = Vec::new();
        // SAFETY: the handle is open, and the index is one of its loops.
        let ok = unsafe { contech_fast_count(self.handle, i, push, (&raw mut tokens).cast()) };
        (ok != 0).then(|| parse(&mut tokens.into_iter())).flatten()
    }

    pub(crate) fn leaf(&self, source: Source) -> LeafFacts {
        let mut raw = RawLeaf::default();
        let mut kills: Vec<u64> = Vec::new();
        // SAFETY: the handle is open, and the value is the function's.
        unsafe {
            contech_fast_leaf(
                self.handle,
                source.val().0,
                &raw mut raw,
                push,
                (&raw mut kills).cast(),
            );
        }
        let kills = kills.into_iter().map(|k| {
            if k & 1 == 1 {
                Kill::Block((k & !1) as LLVMBasicBlockRef)
            } else {
                Kill::Instruction(Val(k as LLVMValueRef))
            }
        });
        let bits = |n: u64| u8::try_from(n.min(64)).unwrap_or(64);
        LeafFacts {
            base: (raw.base, 0),
            offset: raw.offset,
            bits: bits(raw.bits),
            active: bits(raw.active),
            kills: kills.collect(),
        }
    }
}

/// Reads the shim's prefix code.
fn parse(tokens: &mut dyn Iterator<Item = u64>) -> Option<Sym> {
    let boxed = |t: &mut dyn Iterator<Item = u64>| parse(t).map(Box::new);
    let bits = |n: u64| u8::try_from(n).ok();
    Some(match tokens.next()? {
        0 => Sym::Const(tokens.next()?),
        1 => Sym::Leaf {
            source: Source::Value(Val(tokens.next()? as LLVMValueRef)),
            need: bits(tokens.next()?)?,
        },
        2 => Sym::Iter(u32::try_from(tokens.next()?).ok()?),
        3 => Sym::Global(Val(tokens.next()? as LLVMValueRef)),
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

/// Puts an empty block on all edges from `from` to `to`.
pub(crate) fn split_edge<'m>(from: BasicBlock<'m>, to: BasicBlock<'m>) -> Option<BasicBlock<'m>> {
    // SAFETY: the callers pass an edge of a branch or switch, and no analysis is open.
    unsafe { BasicBlock::new(contech_fast_split_edge(from.as_mut_ptr(), to.as_mut_ptr())) }
}

/// Turns allocas that are only loaded and stored into SSA registers.
pub(crate) fn promote(allocas: &[PointerValue<'_>]) {
    let mut raw: Vec<_> = allocas.iter().map(AsValueRef::as_value_ref).collect();
    // SAFETY: the allocas are of one function, and only loads and stores of their type use them
    // (callers' contract).
    unsafe { contech_fast_promote(raw.as_mut_ptr(), raw.len()) }
}

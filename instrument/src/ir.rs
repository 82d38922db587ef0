//! Safe wrappers over the parts of LLVM that inkwell lacks: raw operands, callees, debug locations
//! and the C++ shim. All other modules of the pass are free of `unsafe`.
#![allow(unsafe_code, reason = "calls of the LLVM C API and of shim/shim.cpp")]

use std::collections::HashSet;
use std::ffi::{CString, c_char, c_int, c_void};

use inkwell::AddressSpace;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::llvm_sys::core::{
    LLVMBuildBitCast, LLVMBuildExtractElement, LLVMBuildIntCast2, LLVMConstInt,
    LLVMConstIntGetZExtValue, LLVMGetCalledValue, LLVMGetElementType, LLVMGetFirstGlobalIFunc,
    LLVMGetGlobalIFuncResolver, LLVMGetInlineAsmAsmString, LLVMGetInlineAsmConstraintString,
    LLVMGetNextGlobalIFunc, LLVMGetNormalDest, LLVMGetNumArgOperands, LLVMGetNumSuccessors,
    LLVMGetOperand, LLVMGetOrdering, LLVMGetPointerAddressSpace, LLVMGetSuccessor, LLVMGetTypeKind,
    LLVMGetUnwindDest, LLVMGetValueName2, LLVMGetVectorSize, LLVMGetVolatile, LLVMIntTypeInContext,
    LLVMIsAConstantInt, LLVMIsAFunction, LLVMIsAGlobalValue, LLVMIsAInlineAsm, LLVMTypeOf,
    LLVMValueAsBasicBlock,
};
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMTypeKind};
use inkwell::module::Module;
use inkwell::types::AsTypeRef;
use inkwell::values::{
    AsValueRef, FunctionValue, GlobalValue, InstructionValue, IntValue, PointerValue,
};

type Visit = unsafe extern "C" fn(*mut c_void, LLVMValueRef);
type VisitLoop = unsafe extern "C" fn(*mut c_void, u32, LLVMValueRef, u64);

unsafe extern "C" {
    fn contech_shim_error(module: LLVMModuleRef, text: *const c_char, length: usize);
    fn contech_shim_hoist_allocas(function: LLVMValueRef);
    fn contech_shim_fold_tail_returns(function: LLVMValueRef);
    fn contech_shim_split_edge(from: LLVMBasicBlockRef, to: LLVMBasicBlockRef)
    -> LLVMBasicBlockRef;
    fn contech_shim_split_unlikely(condition: LLVMValueRef) -> LLVMValueRef;
    fn contech_shim_promote(alloca: LLVMValueRef);
    fn contech_shim_touches_memory(call: LLVMValueRef) -> c_int;
    fn contech_shim_drop_function_attributes(function: LLVMValueRef);
    fn contech_shim_drop_call_attributes(call: LLVMValueRef);
    fn contech_shim_never_returns(call: LLVMValueRef) -> c_int;
    fn contech_shim_byval_size(module: LLVMModuleRef, call: LLVMValueRef, argument: u32) -> u64;
    fn contech_shim_is_swift_error(value: LLVMValueRef) -> c_int;
    fn contech_shim_is_library_function(function: LLVMValueRef) -> c_int;
    fn contech_shim_store_size(module: LLVMModuleRef, ty: LLVMTypeRef) -> u64;
    fn contech_shim_is_eh_funclet_user(function: LLVMValueRef) -> c_int;
    fn contech_shim_each_annotated(
        module: LLVMModuleRef,
        text: *const c_char,
        length: usize,
        visit: Visit,
        context: *mut c_void,
    );
    fn contech_shim_comdat_caller(
        module: LLVMModuleRef,
        name: *const c_char,
        callee: LLVMValueRef,
        start: LLVMValueRef,
        stop: LLVMValueRef,
    ) -> LLVMValueRef;
    fn contech_shim_loops(function: LLVMValueRef, visit: VisitLoop, context: *mut c_void);
    fn contech_shim_mark_workshares(module: LLVMModuleRef) -> c_int;
    fn contech_shim_has_fence(module: LLVMModuleRef) -> c_int;
    fn contech_shim_wrap_atomics(
        function: LLVMValueRef,
        relaxed: c_int,
        begin: LLVMValueRef,
        end: LLVMValueRef,
        fence: LLVMValueRef,
        visit: Visit,
        context: *mut c_void,
    );
    fn contech_shim_carry(module: LLVMModuleRef, list: *mut RawCarried, n: usize, at: LLVMValueRef);
    fn contech_shim_append_ctor(module: LLVMModuleRef, function: LLVMValueRef);
    fn contech_shim_append_dtor(module: LLVMModuleRef, function: LLVMValueRef);
    fn contech_shim_append_used(module: LLVMModuleRef, value: LLVMValueRef);
}

#[repr(C)]
struct RawCarried {
    function: LLVMValueRef,
    slot: LLVMValueRef,
    takes: u64,
}

/// An operand of any type, which inkwell's enums may not cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand(LLVMValueRef);

/// What a call instruction calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Callee<'m> {
    Function(FunctionValue<'m>),
    Asm {
        text: String,
        constraints: String,
    },
    /// A function pointer, or a global alias of this name.
    Other(String),
}

// ---- calls -------------------------------------------------------------------------------------

/// What the call, invoke or callbr calls.
pub(crate) fn callee<'m>(call: InstructionValue<'m>) -> Callee<'m> {
    // SAFETY: the instruction is a call of some kind (callers match on the opcode), so it has a
    // called value; every string returned lives as long as the value and comes with its length.
    unsafe {
        let value = LLVMGetCalledValue(call.as_value_ref());
        if !LLVMIsAFunction(value).is_null()
            && let Some(f) = FunctionValue::new(value)
        {
            return Callee::Function(f);
        }
        if !LLVMIsAInlineAsm(value).is_null() {
            let mut n = 0;
            let text = bytes(LLVMGetInlineAsmAsmString(value, &raw mut n), n);
            let mut n = 0;
            let constraints = bytes(LLVMGetInlineAsmConstraintString(value, &raw mut n), n);
            return Callee::Asm { text, constraints };
        }
        if LLVMIsAGlobalValue(value).is_null() {
            return Callee::Other(String::new());
        }
        let mut n = 0;
        Callee::Other(bytes(LLVMGetValueName2(value, &raw mut n), n))
    }
}

/// Copies `n` bytes of text.
///
/// # Safety
/// `text` is null or points to `n` readable bytes.
unsafe fn bytes(text: *const c_char, n: usize) -> String {
    if text.is_null() || n == 0 {
        return String::new();
    }
    // SAFETY: by this function's contract.
    let raw = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), n) };
    String::from_utf8_lossy(raw).into_owned()
}

/// Name of a function.
pub(crate) fn name(f: FunctionValue<'_>) -> String {
    f.get_name().to_string_lossy().into_owned()
}

/// Number of arguments of a call.
pub(crate) fn arg_count(call: InstructionValue<'_>) -> u32 {
    // SAFETY: callers pass call instructions.
    unsafe { LLVMGetNumArgOperands(call.as_value_ref()) }
}

/// Whether the call may read or write memory the program can see.
pub(crate) fn touches_memory(call: InstructionValue<'_>) -> bool {
    // SAFETY: callers pass call instructions.
    unsafe { contech_shim_touches_memory(call.as_value_ref()) != 0 }
}

/// Whether the call is known not to return.
pub(crate) fn never_returns(call: InstructionValue<'_>) -> bool {
    // SAFETY: callers pass call instructions.
    unsafe { contech_shim_never_returns(call.as_value_ref()) != 0 }
}

/// Bytes that the call copies because argument `i` points to them (`byval`); 0 if it does not.
pub(crate) fn byval_size(module: &Module<'_>, call: InstructionValue<'_>, i: u32) -> u64 {
    // SAFETY: callers pass call instructions of the module and arguments they have.
    unsafe { contech_shim_byval_size(module.as_mut_ptr(), call.as_value_ref(), i) }
}

/// Drops attributes of the call that do not hold when the callee records.
pub(crate) fn drop_call_attributes(call: InstructionValue<'_>) {
    // SAFETY: callers pass call instructions.
    unsafe { contech_shim_drop_call_attributes(call.as_value_ref()) }
}

// ---- functions ---------------------------------------------------------------------------------

/// Drops attributes of the function that do not hold when it records.
pub(crate) fn drop_function_attributes(f: FunctionValue<'_>) {
    // SAFETY: a FunctionValue is a live function.
    unsafe { contech_shim_drop_function_attributes(f.as_value_ref()) }
}

/// Whether this is the C library function of its name, prototype included.
pub(crate) fn is_library_function(f: FunctionValue<'_>) -> bool {
    // SAFETY: a FunctionValue is a live function.
    unsafe { contech_shim_is_library_function(f.as_value_ref()) != 0 }
}

/// Whether the function uses Windows-style exception pads.
pub(crate) fn uses_funclets(f: FunctionValue<'_>) -> bool {
    // SAFETY: a FunctionValue is a live function.
    unsafe { contech_shim_is_eh_funclet_user(f.as_value_ref()) != 0 }
}

/// Makes functions take the cursor that may, and calls hand it to them; puts the functions that have the
/// bodies now into `chosen`, and returns for each its slot and whether it takes the cursor. `at` is the
/// thread-local cursor.
pub(crate) fn carry<'m>(
    module: &Module<'m>,
    chosen: &mut [FunctionValue<'m>],
    at: PointerValue<'m>,
) -> Vec<(FunctionValue<'m>, Option<PointerValue<'m>>, bool)> {
    let raw = |f: &FunctionValue<'m>| RawCarried {
        function: f.as_value_ref(),
        slot: std::ptr::null_mut(),
        takes: 0,
    };
    let mut list: Vec<_> = chosen.iter().map(raw).collect();
    // SAFETY: distinct functions of the module with bodies, in a list of this length.
    unsafe {
        contech_shim_carry(
            module.as_mut_ptr(),
            list.as_mut_ptr(),
            list.len(),
            at.as_value_ref(),
        );
    }
    for (f, raw) in chosen.iter_mut().zip(&list) {
        // SAFETY: the shim leaves live functions of the module, which replace those it removed.
        *f = unsafe { FunctionValue::new(raw.function) }.expect("a function");
    }
    let result = chosen.iter().zip(&list).map(|(f, raw)| {
        // SAFETY: a slot that is not null is an alloca.
        let slot = (!raw.slot.is_null()).then(|| unsafe { PointerValue::new(raw.slot) });
        (*f, slot, raw.takes != 0)
    });
    result.collect()
}

/// Moves static allocas of a defined function to the head of its entry block.
pub(crate) fn hoist_allocas(f: FunctionValue<'_>) {
    // SAFETY: callers pass functions with a body.
    unsafe { contech_shim_hoist_allocas(f.as_value_ref()) }
}

/// Turns `tail call; br` to a shared return into `tail call; ret`.
pub(crate) fn fold_tail_returns(f: FunctionValue<'_>) {
    // SAFETY: callers pass functions with a body.
    unsafe { contech_shim_fold_tail_returns(f.as_value_ref()) }
}

/// Makes a call that is no `musttail` one never a tail call.
pub(crate) fn forbid_tail_call(call: InstructionValue<'_>) {
    use inkwell::llvm_sys::LLVMTailCallKind;
    use inkwell::llvm_sys::core::{LLVMGetTailCallKind, LLVMSetTailCallKind};
    // SAFETY: callers pass call instructions (not invokes), which have a tail call kind.
    unsafe {
        let kind = LLVMGetTailCallKind(call.as_value_ref());
        if !matches!(kind, LLVMTailCallKind::LLVMTailCallKindMustTail) {
            LLVMSetTailCallKind(
                call.as_value_ref(),
                LLVMTailCallKind::LLVMTailCallKindNoTail,
            );
        }
    }
}

/// Whether this is a call that must be a tail call.
pub(crate) fn is_must_tail(inst: InstructionValue<'_>) -> bool {
    use inkwell::llvm_sys::LLVMTailCallKind;
    use inkwell::llvm_sys::core::LLVMGetTailCallKind;
    use inkwell::values::InstructionOpcode;
    inst.get_opcode() == InstructionOpcode::Call
        && matches!(
            // SAFETY: a call instruction, which has a tail call kind.
            unsafe { LLVMGetTailCallKind(inst.as_value_ref()) },
            LLVMTailCallKind::LLVMTailCallKindMustTail
        )
}

/// Resolvers of the module's ifuncs.
pub(crate) fn ifunc_resolvers<'m>(module: &Module<'m>) -> Vec<FunctionValue<'m>> {
    let mut found = Vec::new();
    // SAFETY: the module is live; the list is walked to its null end; a resolver that is not
    // itself a function (an alias) is left out.
    unsafe {
        let mut ifunc = LLVMGetFirstGlobalIFunc(module.as_mut_ptr());
        while !ifunc.is_null() {
            let resolver = LLVMGetGlobalIFuncResolver(ifunc);
            if !resolver.is_null() && !LLVMIsAFunction(resolver).is_null() {
                found.extend(FunctionValue::new(resolver));
            }
            ifunc = LLVMGetNextGlobalIFunc(ifunc);
        }
    }
    found
}

/// Functions with `__attribute__((annotate(text)))`.
pub(crate) fn annotated<'m>(module: &Module<'m>, text: &str) -> Vec<FunctionValue<'m>> {
    unsafe extern "C" fn push(context: *mut c_void, f: LLVMValueRef) {
        // SAFETY: `context` is the Vec passed below, alive during the call.
        let list = unsafe { &mut *context.cast::<Vec<LLVMValueRef>>() };
        list.push(f);
    }
    let mut list: Vec<LLVMValueRef> = Vec::new();
    // SAFETY: text and length describe one string; `push` gets the list it expects.
    unsafe {
        contech_shim_each_annotated(
            module.as_mut_ptr(),
            text.as_ptr().cast(),
            text.len(),
            push,
            (&raw mut list).cast(),
        );
    }
    // SAFETY: the shim visits functions of the module only.
    list.into_iter()
        .filter_map(|f| unsafe { FunctionValue::new(f) })
        .collect()
}

// ---- OpenMP ------------------------------------------------------------------------------------

/// Marks the locations of OpenMP worksharing calls with the kind of work they share, where the compiler has not
/// (flang); returns whether there were any. libomp warns on standard error of unmarked ones once a tool listens.
pub(crate) fn mark_workshares(module: &Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { contech_shim_mark_workshares(module.as_mut_ptr()) != 0 }
}

/// What [`work_sharing_loops`] tells, in this order: blocks it added, blocks before loops over chunks, and for each loop
/// its beginning (with the call that shares its iterations, and flags), the block before it, the blocks that end an
/// iteration, the blocks behind it, and its blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LoopEvent<'m> {
    Begins(InstructionValue<'m>, u64),
    Preheader(BasicBlock<'m>),
    Latch(BasicBlock<'m>),
    Exit(BasicBlock<'m>),
    Member(BasicBlock<'m>),
    Chunks(BasicBlock<'m>),
    Added(BasicBlock<'m>),
    /// Instead of all these: a call that the loop became, of a function that sets or copies memory.
    Bulk(InstructionValue<'m>),
    /// A call that shares iterations of which no loop is left.
    Unseen(InstructionValue<'m>),
}

/// Finds the loops over the iterations of work-sharing constructs in a defined function, and splits edges so that each
/// has blocks of its own before it and behind it, and iterations end in blocks whose branch leads nowhere else within.
pub(crate) fn work_sharing_loops<'m>(f: FunctionValue<'m>) -> Vec<LoopEvent<'m>> {
    unsafe extern "C" fn push(context: *mut c_void, what: u32, value: LLVMValueRef, flags: u64) {
        // SAFETY: `context` is the Vec passed below, alive during the call.
        let list = unsafe { &mut *context.cast::<Vec<(u32, LLVMValueRef, u64)>>() };
        list.push((what, value, flags));
    }
    let mut list: Vec<(u32, LLVMValueRef, u64)> = Vec::new();
    // SAFETY: callers pass a function with a body; `push` gets the list it expects.
    unsafe { contech_shim_loops(f.as_value_ref(), push, (&raw mut list).cast()) };
    let event = |(what, value, flags)| {
        if matches!(what, 0 | 7 | 8) {
            // SAFETY: the shim visits a call with these numbers.
            let call = unsafe { InstructionValue::new(value) };
            return Some(match what {
                0 => LoopEvent::Begins(call, flags),
                8 => LoopEvent::Unseen(call),
                _ => LoopEvent::Bulk(call),
            });
        }
        // SAFETY: with all others it visits a block as a value.
        let block = unsafe { BasicBlock::new(LLVMValueAsBasicBlock(value)) }?;
        Some(match what {
            1 => LoopEvent::Preheader(block),
            2 => LoopEvent::Latch(block),
            3 => LoopEvent::Exit(block),
            4 => LoopEvent::Member(block),
            5 => LoopEvent::Chunks(block),
            _ => LoopEvent::Added(block),
        })
    };
    list.into_iter().filter_map(event).collect()
}

// ---- atomic operations ---------------------------------------------------------------------------

/// Whether the module has a fence between threads.
pub(crate) fn has_fence(module: &Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { contech_shim_has_fence(module.as_mut_ptr()) != 0 }
}

/// Puts the atomic operations of a defined function (those of relaxed order if asked for) between
/// calls of the first two functions, and a call of the third after its fences; returns what was added.
pub(crate) fn wrap_atomics<'m>(
    f: FunctionValue<'m>,
    relaxed: bool,
    [begin, end, fence]: [FunctionValue<'m>; 3],
) -> HashSet<InstructionValue<'m>> {
    unsafe extern "C" fn push(context: *mut c_void, inst: LLVMValueRef) {
        // SAFETY: `context` is the Vec passed below, alive during the call.
        let list = unsafe { &mut *context.cast::<Vec<LLVMValueRef>>() };
        list.push(inst);
    }
    let mut list: Vec<LLVMValueRef> = Vec::new();
    // SAFETY: callers pass a function with a body and three of its module's with the types of the
    // contract; `push` gets the list it expects.
    unsafe {
        contech_shim_wrap_atomics(
            f.as_value_ref(),
            c_int::from(relaxed),
            begin.as_value_ref(),
            end.as_value_ref(),
            fence.as_value_ref(),
            push,
            (&raw mut list).cast(),
        );
    }
    // SAFETY: the shim visits instructions only.
    list.into_iter()
        .map(|i| unsafe { InstructionValue::new(i) })
        .collect()
}

// ---- control flow ------------------------------------------------------------------------------

/// Successors of a terminator, duplicates included.
pub(crate) fn successors<'m>(terminator: InstructionValue<'m>) -> Vec<BasicBlock<'m>> {
    // SAFETY: callers pass terminators; indices are below the count; successors are blocks.
    unsafe {
        let t = terminator.as_value_ref();
        (0..LLVMGetNumSuccessors(t))
            .filter_map(|i| BasicBlock::new(LLVMGetSuccessor(t, i)))
            .collect()
    }
}

/// Normal and unwind destination of an invoke.
pub(crate) fn invoke_targets<'m>(
    invoke: InstructionValue<'m>,
) -> Option<(BasicBlock<'m>, BasicBlock<'m>)> {
    // SAFETY: callers pass invoke instructions, which have both.
    unsafe {
        let normal = BasicBlock::new(LLVMGetNormalDest(invoke.as_value_ref()))?;
        let unwind = BasicBlock::new(LLVMGetUnwindDest(invoke.as_value_ref()))?;
        Some((normal, unwind))
    }
}

/// Puts an empty block on the edge.
pub(crate) fn split_edge<'m>(from: BasicBlock<'m>, to: BasicBlock<'m>) -> Option<BasicBlock<'m>> {
    // SAFETY: callers pass an existing edge whose target is no exception pad.
    unsafe { BasicBlock::new(contech_shim_split_edge(from.as_mut_ptr(), to.as_mut_ptr())) }
}

/// Splits after `condition` (an instruction); the returned terminator ends the block that runs when
/// it is true, which is marked unlikely.
pub(crate) fn split_unlikely<'m>(condition: IntValue<'m>) -> InstructionValue<'m> {
    // SAFETY: callers pass the result of a compare instruction that is not last in its block; the
    // shim returns a branch.
    unsafe { InstructionValue::new(contech_shim_split_unlikely(condition.as_value_ref())) }
}

/// Turns the alloca, used by loads and stores only, into SSA registers.
pub(crate) fn promote(alloca: PointerValue<'_>) {
    // SAFETY: callers pass an alloca that only loads and stores of its own type use.
    unsafe { contech_shim_promote(alloca.as_value_ref()) }
}

// ---- operands and types ------------------------------------------------------------------------

/// Operand `i`; for a call the arguments come first.
pub(crate) fn operand(inst: InstructionValue<'_>, i: u32) -> Operand {
    // SAFETY: callers ask for operands the opcode has.
    Operand(unsafe { LLVMGetOperand(inst.as_value_ref(), i) })
}

impl Operand {
    /// For modules with LLVM calls of their own.
    pub(crate) fn from_raw(value: LLVMValueRef) -> Self {
        Operand(value)
    }

    /// The LLVM value.
    pub(crate) fn as_raw(self) -> LLVMValueRef {
        self.0
    }

    fn kind(self) -> LLVMTypeKind {
        // SAFETY: an Operand is a live value.
        unsafe { LLVMGetTypeKind(LLVMTypeOf(self.0)) }
    }

    fn element_type(self) -> LLVMTypeRef {
        // SAFETY: callers have checked that this is a vector.
        unsafe { LLVMGetElementType(LLVMTypeOf(self.0)) }
    }

    /// The operand as a pointer of the default address space, or why it cannot be recorded.
    pub(crate) fn pointer<'m>(self) -> Result<PointerValue<'m>, String> {
        if !matches!(self.kind(), LLVMTypeKind::LLVMPointerTypeKind) {
            return Err("operand that is no pointer".into());
        }
        // SAFETY: the operand is a live value of pointer type.
        unsafe {
            match LLVMGetPointerAddressSpace(LLVMTypeOf(self.0)) {
                0 if contech_shim_is_swift_error(self.0) != 0 => Err("swifterror slot".into()),
                0 => Ok(PointerValue::new(self.0)),
                n => Err(format!("address space {n}")),
            }
        }
    }

    /// Number of lanes if this is a fixed vector of pointers of the default address space.
    pub(crate) fn pointer_lanes(self) -> Option<u32> {
        if !matches!(self.kind(), LLVMTypeKind::LLVMVectorTypeKind) {
            return None;
        }
        // SAFETY: the operand is a live value of vector type; the address space is only asked of
        // a pointer type.
        unsafe {
            let element = self.element_type();
            let pointers = matches!(LLVMGetTypeKind(element), LLVMTypeKind::LLVMPointerTypeKind)
                && LLVMGetPointerAddressSpace(element) == 0;
            pointers.then(|| LLVMGetVectorSize(LLVMTypeOf(self.0)))
        }
    }

    /// Number of lanes of a fixed vector, whatever its elements.
    pub(crate) fn lanes(self) -> Option<u32> {
        matches!(self.kind(), LLVMTypeKind::LLVMVectorTypeKind)
            // SAFETY: the operand is a live value of vector type.
            .then(|| unsafe { LLVMGetVectorSize(LLVMTypeOf(self.0)) })
    }

    /// Value of a constant integer (truncated to 64 bits).
    pub(crate) fn constant(self) -> Option<u64> {
        // SAFETY: the operand is a live value, and asked for its value only if it is a constant.
        unsafe { (!LLVMIsAConstantInt(self.0).is_null()).then(|| LLVMConstIntGetZExtValue(self.0)) }
    }

    /// Bytes that a load or store of this operand's type accesses; None for scalable vectors.
    pub(crate) fn store_size(self, module: &Module<'_>) -> Option<u64> {
        // SAFETY: the operand is a live, sized value of the module.
        let n = unsafe { contech_shim_store_size(module.as_mut_ptr(), LLVMTypeOf(self.0)) };
        (n != u64::MAX).then_some(n)
    }

    /// Bytes of one element of this fixed vector.
    pub(crate) fn element_size(self, module: &Module<'_>) -> Option<u64> {
        self.lanes()?;
        // SAFETY: a vector of the module; its element type is sized.
        let n = unsafe { contech_shim_store_size(module.as_mut_ptr(), self.element_type()) };
        (n != u64::MAX).then_some(n)
    }
}

/// The value an instruction computes, as an operand.
pub(crate) fn result(inst: InstructionValue<'_>) -> Operand {
    Operand(inst.as_value_ref())
}

/// Whether a load, store or other memory instruction is atomic.
pub(crate) fn is_atomic(inst: InstructionValue<'_>) -> bool {
    // SAFETY: callers pass loads and stores.
    let ordering = unsafe { LLVMGetOrdering(inst.as_value_ref()) };
    !matches!(ordering, LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic)
}

/// Whether a load, store, atomicrmw or cmpxchg is volatile.
pub(crate) fn is_volatile(inst: InstructionValue<'_>) -> bool {
    // SAFETY: callers pass one of these four.
    unsafe { LLVMGetVolatile(inst.as_value_ref()) != 0 }
}

// ---- building ----------------------------------------------------------------------------------

/// `base + offset` bytes.
pub(crate) fn offset<'m>(
    builder: &Builder<'m>,
    base: PointerValue<'m>,
    bytes: u64,
) -> Result<PointerValue<'m>, BuilderError> {
    if bytes == 0 {
        return Ok(base);
    }
    let context = base.get_type().get_context();
    let n = context.i64_type().const_int(bytes, false);
    // SAFETY: the cursor has at least the slack's room behind it, so the result is in the buffer.
    unsafe { builder.build_gep(context.i8_type(), base, &[n], "") }
}

/// The constant `global + offset` bytes.
pub(crate) fn global_offset(global: GlobalValue<'_>, bytes: u64) -> PointerValue<'_> {
    let base = global.as_pointer_value();
    let context = base.get_type().get_context();
    let n = context.i64_type().const_int(bytes, false);
    // SAFETY: callers stay within the global's array.
    unsafe { base.const_gep(context.i8_type(), &[n]) }
}

/// Lane `i` of a vector of pointers.
pub(crate) fn lane<'m>(builder: &Builder<'m>, vector: Operand, i: u32) -> PointerValue<'m> {
    // SAFETY: the operand is a vector of pointers with more than `i` lanes (`pointer_lanes`), and
    // the builder stands where it is available.
    unsafe {
        let element = vector.element_type();
        let context = inkwell::llvm_sys::core::LLVMGetTypeContext(element);
        let index = LLVMConstInt(LLVMIntTypeInContext(context, 32), u64::from(i), 0);
        let value = LLVMBuildExtractElement(builder.as_mut_ptr(), vector.0, index, c"".as_ptr());
        PointerValue::new(value)
    }
}

/// An integer operand as 64 bits, unsigned.
pub(crate) fn to_u64<'m>(
    builder: &Builder<'m>,
    value: Operand,
    i64_type: impl AsTypeRef,
) -> IntValue<'m> {
    // SAFETY: callers pass integers and the 64-bit type; the builder stands where it is available.
    unsafe {
        IntValue::new(LLVMBuildIntCast2(
            builder.as_mut_ptr(),
            value.0,
            i64_type.as_type_ref(),
            0,
            c"".as_ptr(),
        ))
    }
}

/// A vector of up to 64 `i1` as an integer, lane 0 in bit 0.
pub(crate) fn mask_to_u64<'m>(
    builder: &Builder<'m>,
    mask: Operand,
    i64_type: impl AsTypeRef,
) -> IntValue<'m> {
    // SAFETY: callers pass a vector of i1 (the mask of a masked intrinsic), so the bitcast is to an
    // integer of as many bits.
    unsafe {
        let vector = LLVMTypeOf(mask.0);
        let context = inkwell::llvm_sys::core::LLVMGetTypeContext(vector);
        let bits = LLVMIntTypeInContext(context, LLVMGetVectorSize(vector));
        let int = LLVMBuildBitCast(builder.as_mut_ptr(), mask.0, bits, c"".as_ptr());
        to_u64(builder, Operand(int), i64_type)
    }
}

/// The default pointer type.
pub(crate) fn ptr_type<'m>(module: &Module<'m>) -> inkwell::types::PointerType<'m> {
    module.get_context().ptr_type(AddressSpace::default())
}

// ---- modules -----------------------------------------------------------------------------------

/// Reports a compile error; the host then writes no object file and fails.
pub(crate) fn report_error(module: &Module<'_>, text: &str) {
    // SAFETY: text and length describe one string, copied by LLVM.
    unsafe { contech_shim_error(module.as_mut_ptr(), text.as_ptr().cast(), text.len()) }
}

/// A hidden comdat function `void name()` that calls `callee(start, stop)`.
pub(crate) fn comdat_caller<'m>(
    module: &Module<'m>,
    name: &str,
    callee: FunctionValue<'m>,
    start: GlobalValue<'m>,
    stop: GlobalValue<'m>,
) -> Option<FunctionValue<'m>> {
    let name = CString::new(name).ok()?;
    // SAFETY: all values belong to the module; the callee takes two pointers.
    unsafe {
        FunctionValue::new(contech_shim_comdat_caller(
            module.as_mut_ptr(),
            name.as_ptr(),
            callee.as_value_ref(),
            start.as_value_ref(),
            stop.as_value_ref(),
        ))
    }
}

/// Runs the function before the program's constructors.
pub(crate) fn append_ctor(module: &Module<'_>, f: FunctionValue<'_>) {
    // SAFETY: a function of the module without arguments.
    unsafe { contech_shim_append_ctor(module.as_mut_ptr(), f.as_value_ref()) }
}

/// Runs the function after the program's destructors.
pub(crate) fn append_dtor(module: &Module<'_>, f: FunctionValue<'_>) {
    // SAFETY: a function of the module without arguments.
    unsafe { contech_shim_append_dtor(module.as_mut_ptr(), f.as_value_ref()) }
}

/// Keeps the global through every optimisation and section collection (`llvm.used`).
pub(crate) fn append_used(module: &Module<'_>, global: GlobalValue<'_>) {
    // SAFETY: a global of the module.
    unsafe { contech_shim_append_used(module.as_mut_ptr(), global.as_value_ref()) }
}

//! What a call means for the recording: whether it ends its block, whether it may be ignored, what
//! it touches.

use inkwell::values::{FunctionValue, InstructionValue};

use crate::ir::{self, Callee};
use crate::known;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    /// The callee may run instrumented code, unwind, or reach the runtime: the block ends here.
    Boundary { callee: String },
    /// The LLVM intrinsic does none of these.
    Intrinsic { name: String },
    /// The library function does none of these.
    Pure,
    /// The inline assembly stays within the block.
    Asm { touches_memory: bool },
    /// The call does nothing at run time: it is a hint for the debugger or the optimiser.
    Nothing,
}

impl Call {
    /// The callee's name if the call ends its block.
    pub(crate) fn boundary(&self) -> Option<&str> {
        match self {
            Call::Boundary { callee } => Some(callee),
            _ => None,
        }
    }
}

/// Intrinsics that call functions, switch stacks or jump.
const CALLING_INTRINSICS: &[&str] = &[
    "llvm.coro.await",
    "llvm.coro.destroy",
    "llvm.coro.resume",
    "llvm.eh.sjlj.longjmp",
    "llvm.eh.sjlj.setjmp",
    "llvm.experimental.deoptimize",
    "llvm.experimental.gc.statepoint",
    "llvm.experimental.patchpoint",
    "llvm.icall.branch.funnel",
];

/// Intrinsics for which the machine executes no instruction.
const HINTS: &[&str] = &[
    "llvm.annotation",
    "llvm.assume",
    "llvm.dbg.",
    "llvm.donothing",
    "llvm.experimental.noalias.scope.decl",
    "llvm.fake.use",
    "llvm.invariant.",
    "llvm.lifetime.",
    "llvm.pseudoprobe",
    "llvm.ptr.annotation",
    "llvm.sideeffect",
    "llvm.var.annotation",
];

pub(crate) fn classify(call: InstructionValue<'_>) -> Call {
    match ir::callee(call) {
        Callee::Function(f) => classify_function(call, f),
        Callee::Asm { text, constraints } => classify_asm(call, &text, &constraints),
        Callee::Other(callee) => Call::Boundary { callee },
    }
}

fn classify_function(call: InstructionValue<'_>, f: FunctionValue<'_>) -> Call {
    let name = ir::source_name(f);
    if name.starts_with("llvm.") {
        if HINTS.iter().any(|h| name.starts_with(h)) {
            return Call::Nothing;
        }
        let calls = CALLING_INTRINSICS.iter().any(|c| name.starts_with(c));
        if calls || ir::never_returns(call) {
            return Call::Boundary { callee: name };
        }
        return Call::Intrinsic { name };
    }
    if is_pure(f, &name) { Call::Pure } else { Call::Boundary { callee: name } }
}

/// Whether a call of the function, which has this name in the source, leaves its block open.
pub(crate) fn is_pure(f: FunctionValue<'_>, name: &str) -> bool {
    f.count_basic_blocks() == 0
        && (known::is_pure_reserved(name) || known::is_pure(name) && ir::is_library_function(f))
}

/// Assembly that calls, jumps or moves the stack pointer may run other code on this thread. That
/// code can record, as the cursor is in thread-local storage during a boundary call.
fn classify_asm(call: InstructionValue<'_>, text: &str, constraints: &str) -> Call {
    let leaves = ["call", "jmp", "ret", "%rsp", "%esp", "int "].iter().any(|w| text.contains(w));
    if leaves {
        return Call::Boundary { callee: "inline assembly".into() };
    }
    let touches_memory = !text.is_empty()
        && (constraints.contains('*') || constraints.contains("~{memory}"))
        && ir::touches_memory(call);
    Call::Asm { touches_memory }
}

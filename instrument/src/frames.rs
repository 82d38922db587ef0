//! Calls that must keep their caller's frame.
//!
//! The runtime tells the program's own synchronisation from that of libraries by the return
//! address. If a callback that a library calls ended in `pthread_mutex_unlock(&m)` as a tail call,
//! the return address would be the library's, and the release would be lost.

use inkwell::values::{FunctionValue, InstructionOpcode};

use crate::ir::{self, Callee};
use crate::known;

/// Forbids tail calls of the functions that the runtime intercepts.
pub(crate) fn keep(f: FunctionValue<'_>) {
    for call in f.get_basic_block_iter().flat_map(|b| b.get_instructions()) {
        if call.get_opcode() != InstructionOpcode::Call {
            continue;
        }
        let Callee::Function(callee) = ir::callee(call) else {
            continue;
        };
        let external = callee.count_basic_blocks() == 0;
        if external && known::is_intercepted(&ir::name(callee)) {
            ir::forbid_tail_call(call);
        }
    }
}

//! Safe wrappers over the parts of LLVM that inkwell lacks: raw operands, callees, debug locations
//! and the C++ shim. All other modules of the pass are free of `unsafe`.
#![allow(unsafe_code, reason = "calls of the LLVM C API and of shim/shim.cpp")]

mod build;
mod calls;
mod functions;
mod module;
mod operands;
mod shim;

pub(crate) use build::{
    PRESERVE_ALL, addresses, allow_assembly, bits_type, global_offset, offset, ptr_type,
};
pub(crate) use calls::{
    Callee, arg_count, byval_size, called, callee, forbid_tail_call, is_call, is_must_tail,
    never_returns, text, touches_memory,
};
pub(crate) use functions::{
    add_attributes, carry, drop_call_attributes, drop_function_attributes, fold_tail_returns,
    function_of, has_attribute, has_fence, hoist_allocas, instructions, is_library_function,
    is_speculated, mark_waits, name, promote, source_name, split_edge, split_unlikely, successors,
    wrap_atomics,
};
pub(crate) use module::{
    annotated, append_ctor, append_dtor, append_used, hide_ours, ifunc_resolvers, mark_program,
    mark_workshares, report_error,
};
pub(crate) use operands::{Operand, constant_text, is_constant_data, operand};
pub(crate) use shim::{Visit, visited};

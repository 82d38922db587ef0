//! Safe wrappers over the parts of LLVM that inkwell lacks: raw operands, callees, debug locations
//! and the C++ shim. All other modules of the pass are free of `unsafe`.
#![allow(unsafe_code, reason = "calls of the LLVM C API and of shim/shim.cpp")]

mod atomics;
mod build;
mod calls;
mod flow;
mod functions;
mod module;
mod openmp;
mod operands;
mod shim;

pub(crate) use atomics::{
    has_fence, is_atomic, is_speculated, is_volatile, mark_waits, wrap_atomics,
};
pub(crate) use build::{
    PRESERVE_ALL, allow_assembly, flush, global_offset, lane, load, mask_to_u64, offset, ptr_type,
    put, to_u64,
};
pub(crate) use calls::{
    Callee, arg_count, byval_size, callee, drop_call_attributes, forbid_tail_call, is_must_tail,
    never_returns, touches_memory,
};
pub(crate) use flow::{invoke_targets, promote, split_edge, split_unlikely, successors};
pub(crate) use functions::{
    carry, drop_function_attributes, fold_tail_returns, hoist_allocas, is_library_function, name,
    source_name, uses_funclets,
};
pub(crate) use module::{
    annotated, append_ctor, append_dtor, append_used, comdat_caller, hide_ours, ifunc_resolvers,
    mark_program, report_error,
};
pub(crate) use openmp::mark_workshares;
pub(crate) use operands::{Operand, constant_text, is_constant_data, of_value, operand, result};

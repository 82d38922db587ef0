//! The functions of shim/shim.cpp, which do what neither inkwell nor the LLVM C API can.

use std::ffi::{c_char, c_int, c_void};

use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};

pub(super) type Visit = unsafe extern "C" fn(*mut c_void, LLVMValueRef);

unsafe extern "C" {
    pub(super) fn contech_shim_error(module: LLVMModuleRef, text: *const c_char, length: usize);
    pub(super) fn contech_shim_hoist_allocas(function: LLVMValueRef);
    pub(super) fn contech_shim_fold_tail_returns(function: LLVMValueRef);
    pub(super) fn contech_shim_split_edge(
        from: LLVMBasicBlockRef,
        to: LLVMBasicBlockRef,
    ) -> LLVMBasicBlockRef;
    pub(super) fn contech_shim_split_unlikely(condition: LLVMValueRef) -> LLVMValueRef;
    pub(super) fn contech_shim_allow_assembly();
    pub(super) fn contech_shim_promote(alloca: LLVMValueRef);
    pub(super) fn contech_shim_touches_memory(call: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_drop_function_attributes(function: LLVMValueRef);
    pub(super) fn contech_shim_drop_call_attributes(call: LLVMValueRef);
    pub(super) fn contech_shim_never_returns(call: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_byval_size(
        module: LLVMModuleRef,
        call: LLVMValueRef,
        argument: u32,
    ) -> u64;
    pub(super) fn contech_shim_is_swift_error(value: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_is_library_function(function: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_store_size(module: LLVMModuleRef, ty: LLVMTypeRef) -> u64;
    pub(super) fn contech_shim_is_eh_funclet_user(function: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_each_annotated(
        module: LLVMModuleRef,
        text: *const c_char,
        length: usize,
        visit: Visit,
        context: *mut c_void,
    );
    pub(super) fn contech_shim_comdat_caller(
        module: LLVMModuleRef,
        name: *const c_char,
        callee: LLVMValueRef,
        start: LLVMValueRef,
        stop: LLVMValueRef,
    ) -> LLVMValueRef;
    pub(super) fn contech_shim_mark_workshares(module: LLVMModuleRef) -> c_int;
    pub(super) fn contech_shim_has_fence(module: LLVMModuleRef) -> c_int;
    pub(super) fn contech_shim_is_speculated(access: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_wrap_atomics(
        function: LLVMValueRef,
        relaxed: c_int,
        begin: LLVMValueRef,
        end: LLVMValueRef,
        loaded: LLVMValueRef,
        fence: LLVMValueRef,
        visit: Visit,
        context: *mut c_void,
    );
    pub(super) fn contech_shim_mark_waits(
        function: LLVMValueRef,
        turn: LLVMValueRef,
        visit: Visit,
        context: *mut c_void,
    );
    pub(super) fn contech_shim_carry(
        module: LLVMModuleRef,
        list: *mut RawCarried,
        n: usize,
        at: LLVMValueRef,
    );
    pub(super) fn contech_shim_mark_program(module: LLVMModuleRef);
    pub(super) fn contech_shim_hide_ours(module: LLVMModuleRef);
    pub(super) fn contech_shim_append_ctor(module: LLVMModuleRef, function: LLVMValueRef);
    pub(super) fn contech_shim_append_dtor(module: LLVMModuleRef, function: LLVMValueRef);
    pub(super) fn contech_shim_append_used(module: LLVMModuleRef, value: LLVMValueRef);
}

#[repr(C)]
pub(super) struct RawCarried {
    pub(super) function: LLVMValueRef,
    pub(super) slot: LLVMValueRef,
    pub(super) takes: u64,
}

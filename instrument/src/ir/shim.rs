//! The functions of shim/shim.cpp, which do what neither inkwell nor the LLVM C API can.

use std::ffi::{c_char, c_int, c_void};

use inkwell::llvm_sys::prelude::{
    LLVMBasicBlockRef, LLVMMetadataRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef,
};

/// What the shim calls with each of several items, handing back the pointer it was given.
pub(crate) type Visit<T> = unsafe extern "C" fn(*mut c_void, T);

/// The items that the shim visits in a call.
pub(crate) fn visited<T>(call: impl FnOnce(Visit<T>, *mut c_void)) -> Vec<T> {
    unsafe extern "C" fn push<T>(list: *mut c_void, item: T) {
        // SAFETY: `list` is the Vec below, which is alive during the call.
        unsafe { &mut *list.cast::<Vec<T>>() }.push(item);
    }
    let mut list: Vec<T> = Vec::new();
    call(push, (&raw mut list).cast());
    list
}

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
    pub(super) fn contech_shim_promote(allocas: *mut LLVMValueRef, n: usize);
    pub(super) fn contech_shim_touches_memory(call: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_never_returns(call: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_byval_size(
        module: LLVMModuleRef,
        call: LLVMValueRef,
        argument: u32,
    ) -> u64;
    pub(super) fn contech_shim_is_swift_error(value: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_is_library_function(function: LLVMValueRef) -> c_int;
    pub(super) fn contech_shim_function_of(scope: LLVMMetadataRef, n: *mut usize) -> *const c_char;
    pub(super) fn contech_shim_store_size(module: LLVMModuleRef, ty: LLVMTypeRef) -> u64;
    pub(super) fn contech_shim_each_annotated(
        module: LLVMModuleRef,
        text: *const c_char,
        length: usize,
        visit: Visit<LLVMValueRef>,
        context: *mut c_void,
    );
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
    );
    pub(super) fn contech_shim_mark_waits(function: LLVMValueRef, turn: LLVMValueRef);
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

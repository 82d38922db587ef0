//! What belongs to the module as a whole: errors, constructors and destructors, what must be kept,
//! ifuncs and annotations.

use std::ffi::{CString, c_void};

use inkwell::llvm_sys::core::{
    LLVMGetFirstGlobalIFunc, LLVMGetGlobalIFuncResolver, LLVMGetNextGlobalIFunc, LLVMIsAFunction,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};

use super::shim::{
    contech_shim_append_ctor, contech_shim_append_dtor, contech_shim_append_used,
    contech_shim_comdat_caller, contech_shim_each_annotated, contech_shim_error,
    contech_shim_hide_ours, contech_shim_mark_program,
};

/// Reports a compile error; the host then writes no object file and fails.
pub(crate) fn report_error(module: &Module<'_>, text: &str) {
    // SAFETY: text and length describe one string, which LLVM copies.
    unsafe { contech_shim_error(module.as_mut_ptr(), text.as_ptr().cast(), text.len()) }
}

/// Marks the program's own instructions in functions that a sanitizer will see, before anything is
/// inserted.
pub(crate) fn mark_program(module: &Module<'_>) {
    // SAFETY: the module is live.
    unsafe { contech_shim_mark_program(module.as_mut_ptr()) }
}

/// Hides from sanitizers what was inserted since [`mark_program`], and removes the marks.
pub(crate) fn hide_ours(module: &Module<'_>) {
    // SAFETY: the module is live.
    unsafe { contech_shim_hide_ours(module.as_mut_ptr()) }
}

/// Adds a hidden comdat function `void name()` that calls `callee(start, stop)`.
pub(crate) fn comdat_caller<'m>(
    module: &Module<'m>,
    name: &str,
    callee: FunctionValue<'m>,
    start: GlobalValue<'m>,
    stop: GlobalValue<'m>,
) -> Option<FunctionValue<'m>> {
    let name = CString::new(name).ok()?;
    // SAFETY: all values belong to the module, and the callee takes two pointers.
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
    // SAFETY: the function is the module's and takes no arguments.
    unsafe { contech_shim_append_ctor(module.as_mut_ptr(), f.as_value_ref()) }
}

/// Runs the function after the program's destructors.
pub(crate) fn append_dtor(module: &Module<'_>, f: FunctionValue<'_>) {
    // SAFETY: the function is the module's and takes no arguments.
    unsafe { contech_shim_append_dtor(module.as_mut_ptr(), f.as_value_ref()) }
}

/// Keeps the global through every optimisation and section collection (`llvm.used`).
pub(crate) fn append_used(module: &Module<'_>, global: GlobalValue<'_>) {
    // SAFETY: the global is the module's.
    unsafe { contech_shim_append_used(module.as_mut_ptr(), global.as_value_ref()) }
}

/// The resolvers of the module's ifuncs.
pub(crate) fn ifunc_resolvers<'m>(module: &Module<'m>) -> Vec<FunctionValue<'m>> {
    let mut found = Vec::new();
    // SAFETY: the module is live and the list is walked to its null end. A resolver that is not
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

/// The functions with `__attribute__((annotate(text)))`.
pub(crate) fn annotated<'m>(module: &Module<'m>, text: &str) -> Vec<FunctionValue<'m>> {
    unsafe extern "C" fn push(context: *mut c_void, f: LLVMValueRef) {
        // SAFETY: `context` is the Vec passed below, which is alive during the call.
        let list = unsafe { &mut *context.cast::<Vec<LLVMValueRef>>() };
        list.push(f);
    }
    let mut list: Vec<LLVMValueRef> = Vec::new();
    // SAFETY: text and length describe one string, and `push` gets the list it expects.
    unsafe {
        contech_shim_each_annotated(
            module.as_mut_ptr(),
            text.as_ptr().cast(),
            text.len(),
            push,
            (&raw mut list).cast(),
        );
    }
    // SAFETY: the shim visits only functions of the module.
    list.into_iter().filter_map(|f| unsafe { FunctionValue::new(f) }).collect()
}

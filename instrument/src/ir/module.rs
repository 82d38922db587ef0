//! What belongs to the module as a whole: errors, constructors and destructors, what must be kept,
//! ifuncs, annotations and OpenMP.

use inkwell::llvm_sys::core::{
    LLVMGetFirstGlobalIFunc, LLVMGetGlobalIFuncResolver, LLVMGetNextGlobalIFunc, LLVMIsAFunction,
};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};

use super::shim::{
    contech_shim_append_ctor, contech_shim_append_dtor, contech_shim_append_used,
    contech_shim_each_annotated, contech_shim_error, contech_shim_hide_ours,
    contech_shim_mark_program, contech_shim_mark_workshares, visited,
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

/// Marks the locations of OpenMP worksharing calls with the kind of work they share, where the
/// compiler has not done so (flang). Returns whether there were any. Once a tool listens, libomp
/// warns on standard error about unmarked locations.
pub(crate) fn mark_workshares(module: &Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { contech_shim_mark_workshares(module.as_mut_ptr()) != 0 }
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
    let (m, text, n) = (module.as_mut_ptr(), text.as_ptr().cast(), text.len());
    // SAFETY: text and length describe one string.
    let all =
        visited(|visit, list| unsafe { contech_shim_each_annotated(m, text, n, visit, list) });
    // SAFETY: the shim visits only functions of the module.
    all.into_iter().filter_map(|f| unsafe { FunctionValue::new(f) }).collect()
}

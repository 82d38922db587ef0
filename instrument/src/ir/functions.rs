//! Functions: their names and attributes, and changes of a whole function.

use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, PointerValue};

use super::shim::{
    RawCarried, contech_shim_carry, contech_shim_drop_function_attributes,
    contech_shim_fold_tail_returns, contech_shim_hoist_allocas, contech_shim_is_eh_funclet_user,
    contech_shim_is_library_function,
};

pub(crate) fn name(f: FunctionValue<'_>) -> String {
    f.get_name().to_string_lossy().into_owned()
}

/// The function's name in the source: without what [`carry`] appends to that of a function with the
/// body.
pub(crate) fn source_name(f: FunctionValue<'_>) -> String {
    let name = name(f);
    name.strip_suffix(".carried").unwrap_or(&name).to_owned()
}

/// Drops attributes of the function that no longer hold when it records.
pub(crate) fn drop_function_attributes(f: FunctionValue<'_>) {
    // SAFETY: a FunctionValue is a live function.
    unsafe { contech_shim_drop_function_attributes(f.as_value_ref()) }
}

/// Whether this is the C library's function of its name, prototype included.
pub(crate) fn is_library_function(f: FunctionValue<'_>) -> bool {
    // SAFETY: a FunctionValue is a live function.
    unsafe { contech_shim_is_library_function(f.as_value_ref()) != 0 }
}

/// Whether the function uses Windows-style exception pads.
pub(crate) fn uses_funclets(f: FunctionValue<'_>) -> bool {
    // SAFETY: a FunctionValue is a live function.
    unsafe { contech_shim_is_eh_funclet_user(f.as_value_ref()) != 0 }
}

/// Makes the functions take the cursor that can, and lets their callers hand it to them. Puts the
/// functions that now have the bodies into `chosen`, and returns for each its slot and whether it
/// takes the cursor. `at` is the thread-local cursor.
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
    // SAFETY: the list has this length and holds distinct functions of the module that have bodies.
    unsafe {
        contech_shim_carry(module.as_mut_ptr(), list.as_mut_ptr(), list.len(), at.as_value_ref());
    }
    for (f, raw) in chosen.iter_mut().zip(&list) {
        // SAFETY: the shim leaves live functions of the module in place of those it removed.
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
    // SAFETY: the callers pass functions with a body.
    unsafe { contech_shim_hoist_allocas(f.as_value_ref()) }
}

/// Turns `tail call; br` to a shared return into `tail call; ret`.
pub(crate) fn fold_tail_returns(f: FunctionValue<'_>) {
    // SAFETY: the callers pass functions with a body.
    unsafe { contech_shim_fold_tail_returns(f.as_value_ref()) }
}

//! Where code comes from: file and line of functions and instructions.
#![allow(
    unsafe_code,
    reason = "debug-location queries of the LLVM C API that inkwell lacks"
)]

use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDILocationGetInlinedAt,
    LLVMDILocationGetLine, LLVMDIScopeGetFile, LLVMDISubprogramGetLine, LLVMGetSubprogram,
};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

/// Line of the instruction in the function that now contains it: of the call site where it was
/// inlined, since the table has one file per function. 0 where unknown.
pub(crate) fn line(inst: InstructionValue<'_>) -> u32 {
    let Some(location) = inst.get_debug_location() else {
        return 0;
    };
    let mut at = location.as_mut_ptr();
    // SAFETY: `at` is a DILocation throughout; the chain of call sites ends with null.
    unsafe {
        loop {
            let outer = LLVMDILocationGetInlinedAt(at);
            if outer.is_null() {
                return LLVMDILocationGetLine(at);
            }
            at = outer;
        }
    }
}

/// File (absolute where the compiler knows its directory) and line of a function's definition.
pub(crate) fn definition(module: &Module<'_>, f: FunctionValue<'_>) -> (String, u32) {
    // SAFETY: a live function; the subprogram and file are asked only when there is one.
    unsafe {
        let subprogram = LLVMGetSubprogram(f.as_value_ref());
        if subprogram.is_null() {
            return (
                module.get_source_file_name().to_string_lossy().into_owned(),
                0,
            );
        }
        let line = LLVMDISubprogramGetLine(subprogram);
        let file = LLVMDIScopeGetFile(subprogram);
        let path = if file.is_null() {
            String::new()
        } else {
            path(file)
        };
        (path, line)
    }
}

/// Path of a DIFile.
///
/// # Safety
/// `file` is a live DIFile.
unsafe fn path(file: LLVMMetadataRef) -> String {
    type Get = unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const std::ffi::c_char;
    let text = |get: Get| {
        let mut n = 0;
        // SAFETY: a live DIFile; the string lives as long and has `n` bytes.
        let raw = unsafe {
            let start = get(file, &raw mut n);
            if start.is_null() || n == 0 {
                return String::new();
            }
            std::slice::from_raw_parts(start.cast::<u8>(), n as usize)
        };
        String::from_utf8_lossy(raw).into_owned()
    };
    let (directory, name) = (text(LLVMDIFileGetDirectory), text(LLVMDIFileGetFilename));
    if name.starts_with('/') || directory.is_empty() {
        return name;
    }
    format!("{directory}/{}", name.trim_start_matches("./"))
}

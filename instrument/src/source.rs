//! Where code comes from: file and line of functions and instructions.
#![allow(
    unsafe_code,
    reason = "debug-location queries of the LLVM C API that inkwell lacks"
)]

use inkwell::attributes::AttributeLoc;
use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDILocationGetInlinedAt,
    LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMDISubprogramGetLine,
    LLVMGetSubprogram,
};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

/// Attribute of a library function whose code is the program's after inlining: the file of that code, and its first
/// line.
const TAKEN_IN: (&str, &str) = ("contech-file", "contech-line");

/// The line of the instruction in the file of the function that now contains it, since the table has one file per
/// function. Code that was inlined from another file has the line of its call site. 0 means unknown.
pub(crate) fn line(inst: InstructionValue<'_>) -> u32 {
    let function = inst.get_parent().and_then(|block| block.get_parent());
    let given = function.and_then(|f| attribute(f, TAKEN_IN.0));
    let own = function.and_then(|f| own_file(f));
    let mut outermost = 0;
    for (file, line) in frames(inst) {
        let here = match &given {
            // SAFETY: the file is live, being that of the instruction's debug location.
            Some(given) => !file.is_null() && unsafe { path(file) } == *given,
            None => own == Some(file),
        };
        if here && line != 0 {
            return line;
        }
        outermost = line;
    }
    // The instruction is from another file than the function, so none of its lines applies.
    if given.is_some() { 0 } else { outermost }
}

/// Where the instruction comes from, innermost first: file (may be null) and line.
fn frames(inst: InstructionValue<'_>) -> impl Iterator<Item = (LLVMMetadataRef, u32)> {
    let mut next = inst
        .get_debug_location()
        .map(|location| location.as_mut_ptr());
    std::iter::from_fn(move || {
        let at = next?;
        // SAFETY: `at` is always a DILocation, and the chain of call sites ends with null.
        unsafe {
            let outer = LLVMDILocationGetInlinedAt(at);
            next = (!outer.is_null()).then_some(outer);
            let file = LLVMDIScopeGetFile(LLVMDILocationGetScope(at));
            Some((file, LLVMDILocationGetLine(at)))
        }
    })
}

fn own_file(f: FunctionValue<'_>) -> Option<LLVMMetadataRef> {
    // SAFETY: the function is live, and it is asked for its file only when it has a subprogram.
    let file = unsafe {
        let subprogram = LLVMGetSubprogram(f.as_value_ref());
        (!subprogram.is_null()).then(|| LLVMDIScopeGetFile(subprogram))
    };
    file.filter(|file| !file.is_null())
}

fn attribute(f: FunctionValue<'_>, name: &str) -> Option<String> {
    let found = f.get_string_attribute(AttributeLoc::Function, name)?;
    Some(found.get_string_value().to_string_lossy().into_owned())
}

/// Finds out whether a function that a library's header defines consists of the program's code. (A thread's lambda is
/// inlined into `std::thread::_State_impl<...>::_M_run`.) Its place is then that of the code, since nobody looks for
/// it in the header.
pub(crate) fn find_program(module: &Module<'_>, f: FunctionValue<'_>) {
    // SAFETY: the file is live, being that of a live function.
    let library =
        own_file(f).is_some_and(|file| workspan::source::is_library(&unsafe { path(file) }));
    if !library {
        return;
    }
    let all = f
        .get_basic_block_iter()
        .flat_map(|block| block.get_instructions());
    let found = all.flat_map(frames).find_map(|(file, line)| {
        // SAFETY: the file is live, being that of a debug location.
        let from = (!file.is_null() && line != 0).then(|| unsafe { path(file) })?;
        (!workspan::source::is_library(&from)).then_some((from, line))
    });
    if let Some((file, line)) = found {
        let context = module.get_context();
        for (name, value) in [(TAKEN_IN.0, file), (TAKEN_IN.1, line.to_string())] {
            let attribute = context.create_string_attribute(name, &value);
            f.add_attribute(AttributeLoc::Function, attribute);
        }
    }
}

/// The file (absolute where the compiler knows its directory) and the line of a function's definition, or of the
/// program's code that a library function consists of.
pub(crate) fn definition(module: &Module<'_>, f: FunctionValue<'_>) -> (String, u32) {
    if let (Some(file), Some(line)) = (attribute(f, TAKEN_IN.0), attribute(f, TAKEN_IN.1)) {
        return (file, line.parse().unwrap_or(0));
    }
    // SAFETY: the function is live; the subprogram and the file are asked for only when there is one.
    unsafe {
        let subprogram = LLVMGetSubprogram(f.as_value_ref());
        if subprogram.is_null() {
            // flang makes functions of regions, and such a function has no line, but its code has lines.
            let line = f
                .get_basic_block_iter()
                .flat_map(|block| block.get_instructions())
                .flat_map(frames)
                .map(|(_, line)| line)
                .find(|line| *line != 0);
            return (
                module.get_source_file_name().to_string_lossy().into_owned(),
                line.unwrap_or(0),
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

/// The path of a DIFile.
///
/// # Safety
/// `file` is a live DIFile.
unsafe fn path(file: LLVMMetadataRef) -> String {
    type Get = unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const std::ffi::c_char;
    let text = |get: Get| {
        let mut n = 0;
        // SAFETY: the DIFile is live, and its string lives as long and has `n` bytes.
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

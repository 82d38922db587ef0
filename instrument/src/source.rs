//! Where code comes from: file and line of functions and instructions.
#![allow(unsafe_code, reason = "debug-location queries of the LLVM C API that inkwell lacks")]

use std::collections::HashMap;

use contech_trace::table::Inlined;
use inkwell::attributes::AttributeLoc;
use inkwell::llvm_sys::core::{
    LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands, LLVMGetMDString, LLVMGetValueContext,
    LLVMMetadataAsValue, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDILocationGetInlinedAt,
    LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMDISubprogramGetLine,
    LLVMGetMetadataKind, LLVMGetSubprogram, LLVMMetadataKind,
};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

/// Attribute of a library function whose code is the program's after inlining: the file of that
/// code, and its first line.
const TAKEN_IN: (&str, &str) = ("contech-file", "contech-line");

/// A line, and the inlined function that it is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// 0 means unknown.
    pub(crate) number: u32,
    /// As in `contech_trace::table::Block::inlined`.
    pub(crate) inlined: u32,
}

/// The inlined calls of a module, for its table.
#[derive(Debug, Default)]
pub(crate) struct Inlining {
    pub(crate) calls: Vec<Inlined>,
    numbers: HashMap<Inlined, u32>,
    /// The line of each debug location in each function so far.
    known: HashMap<(LLVMValueRef, LLVMMetadataRef), Line>,
}

/// A function that executes at an instruction.
struct Frame {
    scope: LLVMMetadataRef,
    file: String,
    line: u32,
}

impl Frame {
    fn is_own(&self) -> bool {
        !workspan::source::is_library(&self.file)
    }
}

impl Inlining {
    /// Where the instruction comes from.
    pub(crate) fn line(&mut self, inst: InstructionValue<'_>) -> Line {
        let function = inst.get_parent().and_then(|block| block.get_parent());
        let (Some(function), Some(location)) = (function, inst.get_debug_location()) else {
            return Line::default();
        };
        let key = (function.as_value_ref(), location.as_mut_ptr());
        if let Some(line) = self.known.get(&key) {
            return *line;
        }
        // SAFETY: the instruction is live.
        let context = unsafe { LLVMGetValueContext(inst.as_value_ref()) };
        let line = self
            .of_frames(kept(context, function, inst), context)
            .unwrap_or_else(|| Line { number: line(inst), inlined: 0 });
        self.known.insert(key, line);
        line
    }

    /// The line of the innermost of these frames.
    fn of_frames(&mut self, kept: Vec<Frame>, context: LLVMContextRef) -> Option<Line> {
        let number = kept.first()?.line;
        let mut inlined = 0;
        for pair in kept.windows(2).rev() {
            let [inner, outer] = pair else { continue };
            let call = Inlined {
                name: name(context, subprogram(context, inner.scope)),
                file: inner.file.clone(),
                line: outer.line,
                within: inlined,
            };
            inlined = match self.numbers.get(&call) {
                Some(known) => *known,
                None => {
                    self.calls.push(call.clone());
                    let next = u32::try_from(self.calls.len()).ok()?;
                    self.numbers.insert(call, next);
                    next
                }
            };
        }
        Some(Line { number, inlined })
    }
}

/// The frames of an instruction that the table has, the innermost first; none if the program has no
/// line there. They are the program's own functions, what the innermost of them calls of a library,
/// and the function that contains the instruction. (What libraries call in turn says little, and
/// their names are long.)
fn kept(
    context: LLVMContextRef,
    function: FunctionValue<'_>,
    inst: InstructionValue<'_>,
) -> Vec<Frame> {
    let mut all: Vec<Frame> = Vec::new();
    for (scope, file, line) in scopes(inst) {
        let file = match file.is_null() {
            true => String::new(),
            // SAFETY: the file is live, being that of a live scope.
            false => unsafe { path(file) },
        };
        // A region of OpenMP is a function of the compiler's, not of the program's.
        match all.last_mut() {
            Some(inner) if name(context, subprogram(context, inner.scope)).contains(OUTLINED) => {
                inner.scope = scope;
            }
            _ => all.push(Frame { scope, file, line }),
        }
    }
    let Some(own) = all.iter().position(|f| f.is_own() && f.line != 0) else {
        return Vec::new();
    };
    // Where the function has the file of the program's code in it, the line is in that file, or
    // none.
    if let (Some(given), Some(outermost)) = (attribute(function, TAKEN_IN.0), all.last_mut())
        && outermost.file != given
    {
        outermost.line = 0;
    }
    let called = own.checked_sub(1).filter(|at| !all[*at].is_own() && all[*at].line != 0);
    let last = all.len() - 1;
    let frames = (0..)
        .zip(all)
        .filter(|(at, frame)| Some(*at) == called || *at == last || *at >= own && frame.is_own());
    frames.map(|(_, frame)| frame).collect()
}

/// What the names of functions have in them that clang makes of regions of OpenMP.
const OUTLINED: &str = ".omp_outlined";

/// The node of metadata that `number` of another one is, if it is one.
fn operand(context: LLVMContextRef, node: LLVMMetadataRef, number: usize) -> Option<LLVMValueRef> {
    // SAFETY: the node is live, and the array has room for its operands.
    unsafe {
        let value = LLVMMetadataAsValue(context, node);
        let mut all = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
        LLVMGetMDNodeOperands(value, all.as_mut_ptr());
        all.get(number).copied().filter(|operand| !operand.is_null())
    }
}

/// The function that a scope is in.
fn subprogram(context: LLVMContextRef, scope: LLVMMetadataRef) -> LLVMMetadataRef {
    let mut scope = scope;
    loop {
        // SAFETY: the scope is live.
        match unsafe { LLVMGetMetadataKind(scope) } {
            LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
            | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind => {}
            _ => return scope,
        }
        let Some(outer) = operand(context, scope, 1) else {
            return scope;
        };
        // SAFETY: the operand is live.
        scope = unsafe { LLVMValueAsMetadata(outer) };
    }
}

/// The linkage name of a DISubprogram or, if it has none, its name.
fn name(context: LLVMContextRef, subprogram: LLVMMetadataRef) -> String {
    let text = |number| {
        let operand = operand(context, subprogram, number)?;
        let mut n = 0;
        // SAFETY: the operand is live, and a string of metadata lives as long and has `n` bytes.
        let bytes = unsafe {
            let start = LLVMGetMDString(operand, &raw mut n);
            if start.is_null() {
                return None;
            }
            std::slice::from_raw_parts(start.cast::<u8>(), n as usize)
        };
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    text(3).or_else(|| text(2)).unwrap_or_default()
}

/// The line of the instruction in the file of the function that now contains it. Code that was
/// inlined from another file has the line of its call site. 0 means unknown.
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
    scopes(inst).map(|(_, file, line)| (file, line))
}

/// Where the instruction comes from, innermost first: scope, file (may be null) and line.
fn scopes(
    inst: InstructionValue<'_>,
) -> impl Iterator<Item = (LLVMMetadataRef, LLVMMetadataRef, u32)> {
    let mut next = inst.get_debug_location().map(|location| location.as_mut_ptr());
    std::iter::from_fn(move || {
        let at = next?;
        // SAFETY: `at` is always a DILocation, and the chain of call sites ends with null.
        unsafe {
            let outer = LLVMDILocationGetInlinedAt(at);
            next = (!outer.is_null()).then_some(outer);
            let scope = LLVMDILocationGetScope(at);
            Some((scope, LLVMDIScopeGetFile(scope), LLVMDILocationGetLine(at)))
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

/// Finds out whether a function that a library's header defines consists of the program's code. (A
/// thread's lambda is inlined into `std::thread::_State_impl<...>::_M_run`.) Its place is then that
/// of the code, since nobody looks for it in the header.
pub(crate) fn find_program(module: &Module<'_>, f: FunctionValue<'_>) {
    // SAFETY: the file is live, being that of a live function.
    let library =
        own_file(f).is_some_and(|file| workspan::source::is_library(&unsafe { path(file) }));
    if !library {
        return;
    }
    let all = f.get_basic_block_iter().flat_map(|block| block.get_instructions());
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

/// The file (absolute where the compiler knows its directory) and the line of a function's
/// definition, or of the program's code that a library function consists of.
pub(crate) fn definition(module: &Module<'_>, f: FunctionValue<'_>) -> (String, u32) {
    if let (Some(file), Some(line)) = (attribute(f, TAKEN_IN.0), attribute(f, TAKEN_IN.1)) {
        return (file, line.parse().unwrap_or(0));
    }
    // SAFETY: the function is live; the subprogram and the file are asked for only when there is
    // one.
    unsafe {
        let subprogram = LLVMGetSubprogram(f.as_value_ref());
        if subprogram.is_null() {
            // flang makes functions of regions, and such a function has no line, but its code has
            // lines.
            let line = f
                .get_basic_block_iter()
                .flat_map(|block| block.get_instructions())
                .flat_map(frames)
                .map(|(_, line)| line)
                .find(|line| *line != 0);
            let name = module.get_source_file_name().to_string_lossy();
            let file = if workspan::source::is_file(&name) { &*name } else { "" };
            return (file.to_owned(), line.unwrap_or(0));
        }
        let line = LLVMDISubprogramGetLine(subprogram);
        let file = LLVMDIScopeGetFile(subprogram);
        let path = if file.is_null() { String::new() } else { path(file) };
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

//! Where code comes from: file and line of functions and instructions.
#![allow(unsafe_code, reason = "debug-location queries of the LLVM C API that inkwell lacks")]

use std::collections::HashMap;

use contech_trace::table::Inlined;
use inkwell::attributes::AttributeLoc;
use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDILocationGetInlinedAt,
    LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMDISubprogramGetLine,
    LLVMGetSubprogram,
};
use inkwell::llvm_sys::prelude::{LLVMMetadataRef, LLVMValueRef};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

use crate::ir;

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
        let line = self
            .of_frames(kept(function, inst))
            .unwrap_or_else(|| Line { number: line(inst), inlined: 0 });
        self.known.insert(key, line);
        line
    }

    /// The line of the innermost of these frames.
    fn of_frames(&mut self, kept: Vec<Frame>) -> Option<Line> {
        let number = kept.first()?.line;
        let mut inlined = 0;
        for pair in kept.windows(2).rev() {
            let [inner, outer] = pair else { continue };
            let call = Inlined {
                name: ir::function_of(inner.scope),
                file: inner.file.clone(),
                line: outer.line,
                within: inlined,
            };
            let next = u32::try_from(self.calls.len() + 1).ok()?;
            inlined = *self.numbers.entry(call.clone()).or_insert(next);
            if inlined == next {
                self.calls.push(call);
            }
        }
        Some(Line { number, inlined })
    }
}

/// The frames of an instruction that the table has, the innermost first; none if the program has no
/// line there. They are the program's own functions, what the innermost of them calls of a library,
/// and the function that contains the instruction. (What libraries call in turn says little, and
/// their names are long.)
fn kept(function: FunctionValue<'_>, inst: InstructionValue<'_>) -> Vec<Frame> {
    let mut all: Vec<Frame> = Vec::new();
    for (scope, file, line) in scopes(inst) {
        let file = file.map_or_else(String::new, File::path);
        // A region of OpenMP is a function of the compiler's, not of the program's.
        match all.last_mut() {
            Some(inner) if ir::function_of(inner.scope).contains(OUTLINED) => {
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

/// The line of the instruction in the file of the function that now contains it. Code that was
/// inlined from another file has the line of its call site. 0 means unknown.
pub(crate) fn line(inst: InstructionValue<'_>) -> u32 {
    let function = inst.get_parent().and_then(|block| block.get_parent());
    let given = function.and_then(|f| attribute(f, TAKEN_IN.0));
    let own = function.and_then(subprogram).and_then(File::of);
    let mut outermost = 0;
    for (_, file, line) in scopes(inst) {
        let here = match &given {
            Some(given) => file.is_some_and(|file| file.path() == *given),
            None => own.is_some() && own == file,
        };
        if here && line != 0 {
            return line;
        }
        outermost = line;
    }
    // The instruction is from another file than the function, so none of its lines applies.
    if given.is_some() { 0 } else { outermost }
}

/// Where the instruction comes from, innermost first: scope, file and line.
fn scopes(
    inst: InstructionValue<'_>,
) -> impl Iterator<Item = (LLVMMetadataRef, Option<File>, u32)> {
    let mut next = inst.get_debug_location().map(|location| location.as_mut_ptr());
    std::iter::from_fn(move || {
        let at = next?;
        // SAFETY: `at` is always a DILocation, and the chain of call sites ends with null.
        unsafe {
            let outer = LLVMDILocationGetInlinedAt(at);
            next = (!outer.is_null()).then_some(outer);
            let scope = LLVMDILocationGetScope(at);
            Some((scope, File::of(scope), LLVMDILocationGetLine(at)))
        }
    })
}

/// The function in the source, if it is there.
fn subprogram(f: FunctionValue<'_>) -> Option<LLVMMetadataRef> {
    // SAFETY: the function is live.
    let subprogram = unsafe { LLVMGetSubprogram(f.as_value_ref()) };
    (!subprogram.is_null()).then_some(subprogram)
}

fn attribute(f: FunctionValue<'_>, name: &str) -> Option<String> {
    let found = f.get_string_attribute(AttributeLoc::Function, name)?;
    Some(found.get_string_value().to_string_lossy().into_owned())
}

/// Finds out whether a function that a library's header defines consists of the program's code. (A
/// thread's lambda is inlined into `std::thread::_State_impl<...>::_M_run`.) Its place is then that
/// of the code, since nobody looks for it in the header.
pub(crate) fn find_program(module: &Module<'_>, f: FunctionValue<'_>) {
    let own = subprogram(f).and_then(File::of);
    if !own.is_some_and(|file| workspan::source::is_library(&file.path())) {
        return;
    }
    let found = ir::instructions(f).flat_map(scopes).find_map(|(_, file, line)| {
        let from = file.filter(|_| line != 0)?.path();
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
    let Some(subprogram) = subprogram(f) else {
        // flang makes functions of regions, and such a function has no line, but its code has
        // lines.
        let mut lines = ir::instructions(f).flat_map(scopes).map(|(_, _, line)| line);
        let line = lines.find(|line| *line != 0);
        let name = module.get_source_file_name().to_string_lossy();
        let file = if workspan::source::is_file(&name) { &*name } else { "" };
        return (file.to_owned(), line.unwrap_or(0));
    };
    // SAFETY: the subprogram is that of a live function.
    let line = unsafe { LLVMDISubprogramGetLine(subprogram) };
    (File::of(subprogram).map_or_else(String::new, File::path), line)
}

/// A DIFile of the module.
#[derive(Clone, Copy, PartialEq, Eq)]
struct File(LLVMMetadataRef);

impl File {
    fn of(scope: LLVMMetadataRef) -> Option<Self> {
        // SAFETY: the scope is live, being that of a function or an instruction.
        let file = unsafe { LLVMDIScopeGetFile(scope) };
        (!file.is_null()).then_some(File(file))
    }

    fn path(self) -> String {
        // SAFETY: the DIFile is live, and its texts live as long.
        let (directory, name) = unsafe {
            (
                ir::text(|n| LLVMDIFileGetDirectory(self.0, n)),
                ir::text(|n| LLVMDIFileGetFilename(self.0, n)),
            )
        };
        if name.starts_with('/') || directory.is_empty() {
            return name;
        }
        format!("{directory}/{}", name.trim_start_matches("./"))
    }
}

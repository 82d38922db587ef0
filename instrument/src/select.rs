//! Which functions of a module record, and why the others do not.

use std::collections::HashSet;

use inkwell::attributes::AttributeLoc;
use inkwell::module::{Linkage, Module};
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};

use crate::ir;
use crate::known;

/// Attribute of functions that already record: with LTO a module passes through the plugin again
/// after the link.
pub(crate) const MARK: &str = "contech-instrumented";

/// Text of the `__attribute__((annotate(...)))` that keeps a function out.
const OPT_OUT: &str = "no_contech";

/// Calling conventions of code that has no normal stack frame: GHC and x86 interrupt handlers.
const FOREIGN_CONVENTIONS: [u32; 2] = [10, 83];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Record,
    /// The function stays as it is, and nothing of the program is lost.
    Ignore,
    /// The function runs unrecorded, and the table gives this reason.
    Refuse(&'static str),
}

/// Decides for each function.
#[derive(Debug)]
pub(crate) struct Selector<'m> {
    early: HashSet<FunctionValue<'m>>,
    opted_out: HashSet<FunctionValue<'m>>,
}

impl<'m> Selector<'m> {
    /// Collects what the decisions need from the module.
    pub(crate) fn new(module: &Module<'m>) -> Self {
        Selector {
            early: reachable(ir::ifunc_resolvers(module)),
            opted_out: ir::annotated(module, OPT_OUT).into_iter().collect(),
        }
    }

    pub(crate) fn choose(&self, f: FunctionValue<'m>) -> Choice {
        let name = ir::name(f);
        if f.count_basic_blocks() == 0
            || f.get_linkage() == Linkage::AvailableExternally
            || name.starts_with("__contech")
            || f.get_string_attribute(AttributeLoc::Function, MARK).is_some()
        {
            return Choice::Ignore;
        }
        let local = matches!(f.get_linkage(), Linkage::Internal | Linkage::Private);
        if ir::has_attribute(f, "naked") {
            Choice::Refuse("function without a frame (naked)")
        } else if ir::has_attribute(f, "presplitcoroutine") {
            Choice::Refuse("coroutine that is not split yet")
        } else if self.early.contains(&f) {
            Choice::Refuse("function that runs before thread-local storage exists (ifunc resolver)")
        } else if self.opted_out.contains(&f) {
            Choice::Refuse("function annotated no_contech")
        } else if FOREIGN_CONVENTIONS.contains(&f.get_call_conventions()) {
            Choice::Refuse("function of a calling convention without a normal frame")
        } else if ir::instructions(f).any(is_funclet_pad) {
            Choice::Refuse("function with funclet exception handling")
        } else if !local && known::is_pure(&name) && ir::is_library_function(f) {
            Choice::Refuse("definition of a library function that the compiler may call anywhere")
        } else {
            Choice::Record
        }
    }
}

/// Whether the instruction is an exception pad of Windows.
fn is_funclet_pad(inst: InstructionValue<'_>) -> bool {
    use InstructionOpcode::{CatchPad, CatchSwitch, CleanupPad};
    matches!(inst.get_opcode(), CatchPad | CatchSwitch | CleanupPad)
}

/// The given functions and every function of the module that they reach by direct calls.
fn reachable<'m>(roots: Vec<FunctionValue<'m>>) -> HashSet<FunctionValue<'m>> {
    let mut seen: HashSet<_> = roots.iter().copied().collect();
    let mut work = roots;
    while let Some(f) = work.pop() {
        work.extend(ir::instructions(f).filter_map(ir::called).filter(|f| seen.insert(*f)));
    }
    seen
}

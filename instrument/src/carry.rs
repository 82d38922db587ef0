//! The cursor carried through calls.
//!
//! Between instrumented functions of one module the cursor need not go through thread-local
//! storage, where each call would wait twice for what was just stored. The callee takes the cursor
//! as a `swifterror` argument, which x86-64 passes and returns in a register (r12) and which
//! changes nothing else of the calling convention. A function that others call too (it is not
//! local, or its address is taken) keeps its name and becomes a few instructions around a second
//! function, which has the body and takes the cursor. All other calls find the cursor in
//! thread-local storage, and so do landing pads, since unwinding leaves through such calls.
//!
//! Functions on a cycle of tail calls do not take the cursor, because a function that takes it
//! makes no tail calls.

use std::collections::HashMap;

use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue, PointerValue};

use crate::ir;

/// Where one function has the cursor around calls that take it, and at its own entry and return.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried<'m> {
    /// The function's last argument, if the function takes the cursor.
    pub(crate) argument: Option<PointerValue<'m>>,
    /// The slot that holds the cursor during the calls that take it.
    pub(crate) slot: Option<PointerValue<'m>>,
}

/// The slot of each function that calls one with the cursor, and whether it takes the cursor itself.
#[derive(Debug, Default)]
pub(crate) struct Carry<'m>(HashMap<FunctionValue<'m>, (Option<PointerValue<'m>>, bool)>);

impl<'m> Carry<'m> {
    /// Lets functions of `chosen` take the cursor, and changes the calls of them. Afterwards
    /// `chosen` holds the functions with the bodies. `cursor` is where the thread has it.
    pub(crate) fn add(
        module: &Module<'m>,
        chosen: &mut [FunctionValue<'m>],
        cursor: PointerValue<'m>,
    ) -> Self {
        Carry(ir::carry(module, chosen, cursor))
    }

    /// Where `f` has the cursor.
    pub(crate) fn of(&self, f: FunctionValue<'m>) -> Carried<'m> {
        let (slot, takes) = self.0.get(&f).copied().unwrap_or_default();
        let last = f.get_last_param().filter(|_| takes);
        Carried { argument: last.map(|p| p.into_pointer_value()), slot }
    }

    /// Whether the call takes the cursor.
    pub(crate) fn is_taken_by(&self, call: InstructionValue<'m>) -> bool {
        ir::called(call).is_some_and(|f| self.0.get(&f).is_some_and(|(_, takes)| *takes))
    }
}

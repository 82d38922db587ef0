//! The cursor carried through calls.
//!
//! Between instrumented functions of one module the cursor need not go through thread-local storage,
//! where each call would wait twice for what was just stored: the callee takes it as a `swifterror`
//! argument, which x86-64 passes and returns in a register (r12) and which changes nothing else of the
//! calling convention. A function that others call too (it is not local, or its address is taken)
//! keeps its name and becomes a few instructions around the one that takes the cursor. All other calls
//! find the cursor in thread-local storage as ever, and so do landing pads: what unwinds was called so.
//!
//! Not for functions on a cycle of tail calls: one that takes the cursor makes none.

use std::collections::{HashMap, HashSet};

use inkwell::values::{FunctionValue, GlobalValue, InstructionValue, PointerValue};

use crate::ir::{self, Callee};
use crate::plan::{Entered, FunctionPlan};

/// What a function that stays under its name calls the one with its body.
const SUFFIX: &str = ".carried";

/// The name in the source of a function that may have been moved.
pub(crate) fn source_name(name: &str) -> &str {
    name.strip_suffix(SUFFIX).unwrap_or(name)
}

/// Where one function has the cursor around calls that take it, and at its own entry and return.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried<'m> {
    /// Its last argument, if it takes the cursor.
    pub(crate) argument: Option<PointerValue<'m>>,
    /// The slot for its calls.
    pub(crate) slot: Option<PointerValue<'m>>,
}

/// The functions of a module that take the cursor.
#[derive(Debug, Default)]
pub(crate) struct Carry<'m> {
    taking: HashSet<FunctionValue<'m>>,
    slots: HashMap<FunctionValue<'m>, PointerValue<'m>>,
}

impl<'m> Carry<'m> {
    /// Changes the functions of `chosen` that will take the cursor, and the calls of them; `chosen`
    /// then has the functions with the bodies.
    pub(crate) fn add(
        module: &inkwell::module::Module<'m>,
        chosen: &mut [FunctionValue<'m>],
        tls: GlobalValue<'m>,
        cursor: u64,
    ) -> Self {
        let mut carry = Carry::default();
        for (f, slot, takes) in ir::carry(module, chosen, ir::global_offset(tls, cursor)) {
            if takes {
                carry.taking.insert(f);
            }
            carry.slots.extend(slot.map(|slot| (f, slot)));
        }
        carry
    }

    /// Of one function.
    pub(crate) fn of(&self, f: FunctionValue<'m>) -> Carried<'m> {
        let last = f.get_last_param().filter(|_| self.taking.contains(&f));
        Carried {
            argument: last.map(|p| p.into_pointer_value()),
            slot: self.slots.get(&f).copied(),
        }
    }

    fn is_taken(&self, call: InstructionValue<'m>) -> bool {
        matches!(ir::callee(call), Callee::Function(f) if self.taking.contains(&f))
    }

    /// Marks the calls of a plan that take the cursor.
    pub(crate) fn mark(&self, plan: &mut FunctionPlan<'m>) {
        for piece in &mut plan.pieces {
            piece.carries = piece.ends_with_call() && self.is_taken(piece.last);
        }
        let mut normal = HashSet::new();
        for block in &plan.blocks {
            let last = plan.pieces[block.pieces.clone()].last();
            if last.is_some_and(|p| p.carries && p.last == block.terminator)
                && let Some((to, _)) = ir::invoke_targets(block.terminator)
            {
                normal.insert(to);
            }
        }
        for block in &mut plan.blocks {
            if block.entered == Entered::Invoke
                && block
                    .terminator
                    .get_parent()
                    .is_some_and(|b| normal.contains(&b))
            {
                block.entered = Entered::Carried;
            }
        }
    }
}

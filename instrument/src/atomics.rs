//! Atomic operations as order: each stands between two calls of the runtime, which give it its place
//! among all operations on its address.
//!
//! The access itself stays where and as the compiler made it, and is recorded as any other; what is
//! recorded of the order follows it, so the second call ends the block.

use std::collections::HashSet;

use contech_trace::abi::{ATOMIC_BEGIN, ATOMIC_END, FENCE};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue};

use crate::descriptor::runtime_fn;
use crate::ir;
use crate::options::{Atomics, Options};

/// What a module's functions get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'m> {
    begin: FunctionValue<'m>,
    end: FunctionValue<'m>,
    fence: FunctionValue<'m>,
    /// Relaxed operations, too: they order nothing by themselves, but fences make them.
    relaxed: bool,
}

impl<'m> Order<'m> {
    /// For the module, `None` where atomics are accesses only.
    pub(crate) fn of(module: &Module<'m>, options: Options) -> Option<Self> {
        let relaxed = match options.atomics {
            Atomics::None => return None,
            Atomics::Ordered => ir::has_fence(module),
            Atomics::All => true,
        };
        Some(Order {
            begin: runtime_fn(module, &ATOMIC_BEGIN),
            end: runtime_fn(module, &ATOMIC_END),
            fence: runtime_fn(module, &FENCE),
            relaxed,
        })
    }

    /// Adds the calls to a function; returns the instructions added.
    pub(crate) fn add(self, f: FunctionValue<'m>) -> HashSet<InstructionValue<'m>> {
        ir::wrap_atomics(f, self.relaxed, [self.begin, self.end, self.fence])
    }
}

/// How the callee of a block's last call is named, where it is one of these.
pub(crate) fn display(callee: &str) -> Option<&'static str> {
    if callee == ATOMIC_END.symbol {
        Some("atomic operation")
    } else if callee == FENCE.symbol {
        Some("fence")
    } else {
        None
    }
}

//! Atomic operations as order: each atomic operation stands between two calls of the runtime, which
//! give it its place among all operations on its address. A load needs only one call, after it: the
//! runtime reads the variable again and knows the place of that, and the program goes on with the
//! value that the runtime found.
//!
//! A loop that only waits for what another thread writes without such an operation (a volatile
//! variable, or a relaxed load) has a call at the end of each turn. The runtime records turns that
//! are the same as a count.
//!
//! The access itself stays as the compiler made it, and is recorded as any other. The record of the
//! order follows the access, so the second call ends the block.

use contech_trace::abi::{ATOMIC_BEGIN, ATOMIC_END, ATOMIC_LOADED, FENCE, TURN};
use inkwell::module::Module;
use inkwell::values::FunctionValue;

use crate::descriptor::runtime_fn;
use crate::ir;
use crate::options::{Atomics, Options};

/// The runtime functions that a module's atomic operations call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'m> {
    /// Begin, end, load and fence.
    functions: [FunctionValue<'m>; 4],
    /// Whether relaxed operations are ordered too: alone they order nothing, but a fence makes them
    /// do so.
    relaxed: bool,
}

impl<'m> Order<'m> {
    /// Declares the functions in the module; `None` where atomic operations are accesses only.
    pub(crate) fn of(module: &Module<'m>, options: Options) -> Option<Self> {
        let relaxed = match options.atomics {
            Atomics::None => return None,
            Atomics::Ordered => ir::has_fence(module),
            Atomics::All => true,
        };
        let functions = [&ATOMIC_BEGIN, &ATOMIC_END, &ATOMIC_LOADED, &FENCE];
        Some(Order { functions: functions.map(|f| runtime_fn(module, f)), relaxed })
    }

    /// Adds the calls to a function.
    pub(crate) fn add(self, f: FunctionValue<'m>) {
        ir::wrap_atomics(f, self.relaxed, self.functions);
    }
}

/// The name that a user sees for a callee that the pass inserted; `None` for any other callee.
pub(crate) fn display(callee: &str) -> Option<&'static str> {
    match callee {
        _ if callee == ATOMIC_END.symbol || callee == ATOMIC_LOADED.symbol => {
            Some("atomic operation")
        }
        _ if callee == FENCE.symbol => Some("fence"),
        _ if callee == TURN.symbol => Some("turn of a wait"),
        _ => None,
    }
}

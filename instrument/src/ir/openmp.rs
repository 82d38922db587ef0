//! OpenMP: work-sharing calls.

use inkwell::module::Module;

use super::shim::contech_shim_mark_workshares;

/// Marks the locations of OpenMP worksharing calls with the kind of work they share, where the
/// compiler has not done so (flang). Returns whether there were any. Once a tool listens, libomp
/// warns on standard error about unmarked locations.
pub(crate) fn mark_workshares(module: &Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { contech_shim_mark_workshares(module.as_mut_ptr()) != 0 }
}

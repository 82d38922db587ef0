//! The marks of `contech/cilk.h`. A recorded program calls them, and the recorded calls are all
//! that is needed.

/// Marks that the next call is a spawn.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_cilk_spawn() {}

/// Marks that the function waits for what it spawned.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_cilk_sync() {}

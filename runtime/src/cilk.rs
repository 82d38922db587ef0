//! The marks of `contech/cilk.h`: a recorded program calls them, and the calls are all there is to record.

/// Marks that the next call is a spawn.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_cilk_spawn() {}

/// Marks that the function waits for what it spawned.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_cilk_sync() {}

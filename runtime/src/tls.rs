//! The thread-local block, and the function that finds the calling thread's.

use contech_interpose::thread_block;
use contech_runtime_core::TlsBlock;

thread_block! {
    /// The block itself, for instrumented code and the stubs.
    static __contech_tls: TlsBlock;
    /// Returns the calling thread's block.
    pub(crate) fn block();
}

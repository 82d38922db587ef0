//! The thread-local block, and how this library finds the calling thread's.

use std::arch::asm;

use contech_runtime_core::TlsBlock;

#[repr(C, align(64))]
pub(crate) struct Zero([u64; contech_trace::abi::TLS_SIZE / 8]);

/// The block itself. Its section makes it a thread-local symbol of the linker: stable Rust has no
/// exported thread-locals of its own. Only its per-thread copies are ever used, by [`block`] and by
/// instrumented code.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".tbss")]
pub(crate) static __contech_tls: Zero = Zero([0; contech_trace::abi::TLS_SIZE / 8]);

/// The calling thread's block.
#[inline(always)]
pub(crate) fn block() -> &'static TlsBlock {
    let address: *const TlsBlock;
    // SAFETY: initial-exec access as the linker defines it for x86-64: the offset of the symbol from
    // the thread pointer, and the thread pointer at fs:0. Reads memory, writes none.
    unsafe {
        asm!(
            "mov {a}, qword ptr [rip + __contech_tls@GOTTPOFF]",
            "add {a}, qword ptr fs:[0]",
            a = out(reg) address,
            options(pure, readonly, nostack)
        );
    }
    // SAFETY: the symbol is this crate's, of that size and alignment, all zero at first, which is a
    // valid block; it lives as long as the thread, and the reference does not leave it except in the
    // registry, which knows when the thread ends.
    unsafe { &*address }
}

//! Thread-local blocks that code that is not Rust finds by their symbol.

/// Defines a thread-local block and the function that returns the calling thread's block. The block is a symbol for
/// the linker, which stable Rust cannot declare as thread-local, so its section makes it thread-local. Its initial
/// value must be all zero.
#[macro_export]
macro_rules! thread_block {
    (
        $(#[$about:meta])*
        static $symbol:ident: $ty:ty = $zero:expr;
        $(#[$what:meta])*
        $vis:vis fn $block:ident();
    ) => {
        $(#[$about])*
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".tbss")]
        static $symbol: $ty = $zero;

        $(#[$what])*
        #[inline(always)]
        $vis fn $block() -> &'static $ty {
            let address: *const $ty;
            // SAFETY: this is the initial-exec access that the linker defines for AArch64: the offset of the symbol
            // from the thread pointer, plus the thread pointer. It reads memory and writes none.
            unsafe {
                ::std::arch::asm!(
                    concat!("adrp {a}, :gottprel:", stringify!($symbol)),
                    concat!("ldr {a}, [{a}, :gottprel_lo12:", stringify!($symbol), "]"),
                    "mrs {t}, tpidr_el0",
                    "add {a}, {a}, {t}",
                    a = out(reg) address,
                    t = out(reg) _,
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
            // SAFETY: the symbol above has that type, and its initial value of all zeros is valid; it lives as long as
            // the thread, and no reference to it is used later.
            unsafe { &*address }
        }
    };
}

//! Thread-local blocks that code outside of Rust finds by their symbol.

/// Defines a thread-local block and the function that gives the calling thread's. The block is a symbol for the linker, which
/// stable Rust has no way to say; its section makes it thread-local. Its initial value must be all zero.
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
            // SAFETY: initial-exec access as the linker defines it for x86-64: the offset of the symbol from the thread
            // pointer, and the thread pointer at fs:0. Reads memory, writes none.
            unsafe {
                ::std::arch::asm!(
                    concat!("mov {a}, qword ptr [rip + ", stringify!($symbol), "@GOTTPOFF]"),
                    "add {a}, qword ptr fs:[0]",
                    a = out(reg) address,
                    options(pure, readonly, nostack)
                );
            }
            // SAFETY: the symbol is above, of that type, all zero at first, which is a value of it; it lives as long as the
            // thread, and no reference to it is used later.
            unsafe { &*address }
        }
    };
}

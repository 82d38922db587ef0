//! Thread-local blocks that code that is not Rust finds by their symbol.

/// Defines a thread-local block and the function that returns the calling thread's block. The block
/// is a symbol for the linker, which stable Rust cannot declare as thread-local, so its section
/// makes it thread-local. It begins as zero, which must be a value of its type.
#[macro_export]
macro_rules! thread_block {
    (
        $(#[$about:meta])*
        static $symbol:ident: $ty:ty;
        $(#[$what:meta])*
        $vis:vis fn $block:ident();
    ) => {
        $(#[$about])*
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".tbss")]
        // SAFETY: zero is a value of the type.
        static $symbol: $ty = unsafe { ::std::mem::zeroed() };

        $(#[$what])*
        #[inline(always)]
        $vis fn $block() -> &'static $ty {
            let address: *const $ty;
            // SAFETY: this is the initial-exec access that the linker defines for x86-64: the
            // offset of the symbol from the thread pointer, plus the thread pointer at fs:0. It
            // reads memory and writes none.
            unsafe {
                ::std::arch::asm!(
                    concat!("mov {a}, qword ptr [rip + ", stringify!($symbol), "@GOTTPOFF]"),
                    "add {a}, qword ptr fs:[0]",
                    a = out(reg) address,
                    options(pure, readonly, nostack)
                );
            }
            // SAFETY: the symbol above has that type. It lives as long as the thread, and no
            // reference to it is used later.
            unsafe { &*address }
        }
    };
}

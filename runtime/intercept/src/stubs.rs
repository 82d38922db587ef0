//! The stubs by which symbols are exported.

/// Exports symbols. Each is a stub that jumps to a function; where a number of arguments is given, the stub adds one
/// more: the address of the caller, which says whose call it is.
#[macro_export]
macro_rules! exports {
    ($($name:ident $([$kind:ident $($count:tt)?])? = $target:path;)*) => {$(
        $crate::exports!(@ $name $([$kind $($count)?])? = $target);
    )*};
    (@ $name:ident = $target:path) => {
        $crate::exports!(# $name, $target, "jmp {target}");
    };
    (@ $name:ident [caller 0] = $target:path) => {
        $crate::exports!(# $name, $target, "mov rdi, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 1] = $target:path) => {
        $crate::exports!(# $name, $target, "mov rsi, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 2] = $target:path) => {
        $crate::exports!(# $name, $target, "mov rdx, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 3] = $target:path) => {
        $crate::exports!(# $name, $target, "mov rcx, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 4] = $target:path) => {
        $crate::exports!(# $name, $target, "mov r8, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 5] = $target:path) => {
        $crate::exports!(# $name, $target, "mov r9, qword ptr [rsp]", "jmp {target}");
    };
    // Calls the target with the first argument, then jumps to the function it returns with all
    // arguments as they were: for functions whose arguments cannot be passed on, or that never return.
    (@ $name:ident [before] = $target:path) => {
        $crate::exports!(# $name, $target,
            "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
            ".cfi_adjust_cfa_offset 56",
            "call {target}",
            "mov r11, rax",
            "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            ".cfi_adjust_cfa_offset -56",
            "jmp r11");
    };
    (# $name:ident, $target:path, $($line:literal),*) => {
        #[doc = concat!("Exported as `", stringify!($name), "`; see `", stringify!($target), "`.")]
        #[allow(non_snake_case, reason = "the symbol's name")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) extern "C-unwind" fn $name() {
            ::std::arch::naked_asm!(".cfi_startproc", $($line,)* ".cfi_endproc", target = sym $target)
        }
    };
}

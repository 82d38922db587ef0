//! The stubs that export symbols.

/// Exports symbols. Each is a stub that jumps to a function with all arguments unchanged:
///
/// | before the `=` | what the stub does |
/// |---|---|
/// | nothing | jumps |
/// | `[after ARGUMENTS]` | adds the address of its caller as one more argument, after those that are named |
/// | `[caller in BLOCK OFFSET]` | stores that address in the calling thread's block |
/// | `[before]` | calls the function with the first argument and the caller's stack pointer, then jumps to what it returns: for functions whose arguments cannot be passed on, or that never return |
/// | `[keeping]` | calls the function, with every general register as it was afterwards |
/// | `[elsewhere]` | jumps to the symbol of another library |
#[macro_export]
macro_rules! exports {
    ($($name:ident $([$($kind:tt)+])? = $target:tt $(:: $rest:ident)*;)*) => {$(
        $crate::exports!(@ $name [$($($kind)+)?] $target $(:: $rest)*);
    )*};
    (@ $name:ident [] $target:path) => {
        $crate::exports!(# $name "jmp {target}"; target = sym $target);
    };
    (@ $name:ident [after $($argument:ident)*] $target:path) => {
        $crate::exports!(% $name [$($argument)*] ["rdi" "rsi" "rdx" "rcx" "r8" "r9"] $target);
    };
    (@ $name:ident [caller in $block:ident $offset:expr] $target:path) => {
        $crate::exports!(# $name
            concat!("mov rax, qword ptr [rip + ", stringify!($block), "@GOTTPOFF]"),
            "mov r11, qword ptr [rsp]",
            "mov qword ptr fs:[rax + {offset}], r11",
            "jmp {target}";
            offset = const $offset, target = sym $target);
    };
    (@ $name:ident [before] $target:path) => {
        $crate::exports!(# $name
            "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
            ".cfi_adjust_cfa_offset 56",
            "lea rsi, [rsp + 64]",
            "call {target}",
            "mov r11, rax",
            "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            ".cfi_adjust_cfa_offset -56",
            "jmp r11";
            target = sym $target);
    };
    (@ $name:ident [keeping] $target:path) => {
        $crate::exports!(# $name
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "push rax", "push rcx", "push rdx", "push rsi", "push rdi", "push r8", "push r9", "push r10",
            "call {target}",
            "pop r10", "pop r9", "pop r8", "pop rdi", "pop rsi", "pop rdx", "pop rcx", "pop rax",
            "pop rbp",
            ".cfi_def_cfa rsp, 8",
            "ret";
            target = sym $target);
    };
    (@ $name:ident [elsewhere] $target:ident) => {
        $crate::exports!(# $name concat!("jmp ", stringify!($target), "@PLT"););
    };
    // The registers are those of the arguments that are left.
    (% $name:ident [$argument:ident $($more:ident)*] [$register:literal $($others:literal)*] $target:path) => {
        $crate::exports!(% $name [$($more)*] [$($others)*] $target);
    };
    (% $name:ident [] [$register:literal $($others:literal)*] $target:path) => {
        $crate::exports!(# $name concat!("mov ", $register, ", qword ptr [rsp]"), "jmp {target}"; target = sym $target);
    };
    (% $name:ident [] [] $target:path) => {
        $crate::exports!(# $name
            "push qword ptr [rsp]",
            ".cfi_adjust_cfa_offset 8",
            "call {target}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "ret";
            target = sym $target);
    };
    (# $name:ident $($line:expr),*; $($operand:tt)*) => {
        #[doc = concat!("Exported as `", stringify!($name), "`.")]
        #[allow(non_snake_case, reason = "the symbol's name")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) extern "C-unwind" fn $name() {
            ::std::arch::naked_asm!(".cfi_startproc", $($line,)* ".cfi_endproc", $($operand)*)
        }
    };
}

//! Calls the slow path from instrumented code at any point, and returns with every register
//! unchanged.

use std::arch::naked_asm;
use std::sync::atomic::AtomicU32;

/// State components to save with XSAVE: 0 before they are known, [`FXSAVE`] if there is no XSAVE.
static COMPONENTS: AtomicU32 = AtomicU32::new(0);
/// A value that no set of components has: bit 31 is no component.
const FXSAVE: u32 = 1 << 31;
/// x87, SSE, AVX, and AVX-512's masks, upper halves and upper registers. AMX is not saved: its
/// tiles are 8 KiB, and nothing here uses them.
const WANTED: u32 = 0b1110_0111;
/// Bytes of the standard XSAVE area up to these components, including them.
const AREA: u32 = 2688;

/// Defines the functions that instrumented code calls when its buffer is full: `flush` takes the
/// cursor in rdi and returns the next one in rax, `check_flush` does the same for the second
/// cursor. Every register except rax, r11 and the flags is unchanged (`preserve_all`). The operands
/// are offsets in the calling thread's block; `slow` is the slow path, which takes a cursor and
/// returns one.
#[macro_export]
macro_rules! flush_stubs {
    ($block:ident; $($name:ident {$($operand:tt)*})*) => {$(
        #[unsafe(naked)]
        pub(crate) extern "C" fn $name(cursor: *mut u8) -> *mut u8 {
            ::std::arch::naked_asm!(
                concat!("mov r11, qword ptr [rip + ", stringify!($block), "@GOTTPOFF]"),
                "cmp dword ptr fs:[r11 + {role}], {ended}",
                "je 3f",
                "2:",
                "lea rax, [rip + {slow}]",
                "mov r11, qword ptr fs:[r11 + {stack}]",
                "jmp {preserving}",
                "3:",
                // The scratch memory is used from the start again, because this thread may not be
                // allowed any system call any more.
                "mov rax, qword ptr fs:[r11 + {limit}]",
                "sub rax, {scratch}",
                "jb 2b",
                "mov qword ptr fs:[r11 + {cursor}], rax",
                "ret",
                $($operand)*
                preserving = sym $crate::arch::keeping_all,
            )
        }
    )*};
}

/// Calls the function in rax with the argument in rdi and returns its result in rax. Every other
/// register is unchanged. r11 is the top of an [`own_stack`](super::on_own_stack) to use, or 0: the
/// current stack may be a small one of the program's signal handlers.
#[unsafe(naked)]
pub extern "C" fn keeping_all() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        ".cfi_offset rbx, -24",
        "push rcx; push rdx; push rsi; push rdi",
        "push r8; push r9; push r10",
        // The function, all signals, and the mask from before.
        "push rax",
        "push -1",
        "push 0",
        "mov r8, r11",
        "mov r9, rdi",
        // Signals are blocked and released here, outside of all Rust frames, because a pending
        // asynchronous cancellation unwinds from the second system call.
        "mov edi, {set_mask}",
        "lea rsi, [rbp - 80]",
        "lea rdx, [rbp - 88]",
        "mov r10d, 8",
        "mov eax, {sigprocmask}",
        "syscall",
        "test r8, r8",
        "jz 2f",
        // The recorder may call code of the program (an allocator) on its own stack, which comes
        // back here.
        "mov rax, r8",
        "sub rax, rsp",
        "cmp rax, {own_stack}",
        "cmovbe r8, rsp",
        "mov rsp, r8",
        "2:",
        "sub rsp, {area}",
        "and rsp, -64",
        "mov eax, dword ptr [rip + {components}]",
        "test eax, eax",
        "jnz 4f",
        // The enabled components are looked up; CPUID changes rbx, rcx and rdx, which are saved
        // above.
        "mov eax, 1",
        "xor ecx, ecx",
        "cpuid",
        "mov eax, {fxsave}",
        "bt ecx, 27",
        "jnc 3f",
        "xor ecx, ecx",
        "xgetbv",
        "and eax, {wanted}",
        "3:",
        "mov dword ptr [rip + {components}], eax",
        "4:",
        "mov rdi, r9",
        "test eax, eax",
        "js 6f",
        // XSAVE reads the header that it finds, which must be zero.
        "xor edx, edx",
        "mov qword ptr [rsp + 512], rdx",
        "mov qword ptr [rsp + 520], rdx",
        "mov qword ptr [rsp + 528], rdx",
        "mov qword ptr [rsp + 536], rdx",
        "mov qword ptr [rsp + 544], rdx",
        "mov qword ptr [rsp + 552], rdx",
        "mov qword ptr [rsp + 560], rdx",
        "mov qword ptr [rsp + 568], rdx",
        "xsave64 [rsp]",
        "call qword ptr [rbp - 72]",
        "mov rbx, rax",
        "mov eax, dword ptr [rip + {components}]",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "5:",
        "lea rsp, [rbp - 88]",
        "mov edi, {set_mask}",
        "mov rsi, rsp",
        "xor edx, edx",
        "mov r10d, 8",
        "mov eax, {sigprocmask}",
        "syscall",
        "mov rax, rbx",
        "lea rsp, [rbp - 64]",
        "pop r10; pop r9; pop r8",
        "pop rdi; pop rsi; pop rdx; pop rcx",
        "pop rbx",
        "pop rbp",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, 8",
        "ret",
        "6:",
        ".cfi_restore_state",
        "fxsave64 [rsp]",
        "call qword ptr [rbp - 72]",
        "mov rbx, rax",
        "fxrstor64 [rsp]",
        "jmp 5b",
        ".cfi_endproc",
        area = const AREA,
        own_stack = const super::OWN_STACK,
        fxsave = const FXSAVE,
        wanted = const WANTED,
        components = sym COMPONENTS,
        set_mask = const libc::SIG_SETMASK,
        sigprocmask = const libc::SYS_rt_sigprocmask,
    )
}

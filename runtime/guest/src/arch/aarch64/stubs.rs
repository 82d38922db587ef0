//! The stubs that export symbols.

/// Exports symbols. Each is a stub that jumps to a function with all arguments unchanged; the table of the kinds stands
/// beside the macro for x86-64. A stub may change x16 and x17, as the linker's own stubs do.
#[macro_export]
macro_rules! exports {
    ($($name:ident $([$($kind:tt)+])? = $target:tt $(:: $rest:ident)*;)*) => {$(
        $crate::exports!(@ $name [$($($kind)+)?] $target $(:: $rest)*);
    )*};
    (@ $name:ident [] $target:path) => {
        $crate::exports!(# $name "b {target}"; target = sym $target);
    };
    (@ $name:ident [caller $number:literal] $target:path) => {
        $crate::exports!(# $name concat!("mov x", $number, ", x30"), "b {target}"; target = sym $target);
    };
    (@ $name:ident [after] $target:path) => { $crate::exports!(@ $name [caller 0] $target); };
    (@ $name:ident [after $a:ident] $target:path) => { $crate::exports!(@ $name [caller 1] $target); };
    (@ $name:ident [after $a:ident $b:ident] $target:path) => { $crate::exports!(@ $name [caller 2] $target); };
    (@ $name:ident [after $a:ident $b:ident $c:ident] $target:path) => { $crate::exports!(@ $name [caller 3] $target); };
    (@ $name:ident [after $a:ident $b:ident $c:ident $d:ident] $target:path) => {
        $crate::exports!(@ $name [caller 4] $target);
    };
    (@ $name:ident [after $a:ident $b:ident $c:ident $d:ident $e:ident] $target:path) => {
        $crate::exports!(@ $name [caller 5] $target);
    };
    (@ $name:ident [after $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident] $target:path) => {
        $crate::exports!(@ $name [caller 6] $target);
    };
    (@ $name:ident [caller in $place:path] $target:path) => {
        $crate::exports!(# $name
            "adrp x16, {place}",
            "str x30, [x16, :lo12:{place}]",
            "b {target}";
            place = sym $place, target = sym $target);
    };
    (@ $name:ident [caller in $block:ident $offset:expr] $target:path) => {
        $crate::exports!(# $name
            concat!("adrp x16, :gottprel:", stringify!($block)),
            concat!("ldr x16, [x16, :gottprel_lo12:", stringify!($block), "]"),
            "mrs x17, tpidr_el0",
            "add x16, x16, x17",
            "str x30, [x16, {offset}]",
            "b {target}";
            offset = const $offset, target = sym $target);
    };
    (@ $name:ident [before] $target:path) => {
        $crate::exports!(# $name
            "stp x29, x30, [sp, #-96]!",
            ".cfi_def_cfa_offset 96",
            ".cfi_offset x29, -96",
            ".cfi_offset x30, -88",
            "stp x0, x1, [sp, #16]", "stp x2, x3, [sp, #32]", "stp x4, x5, [sp, #48]", "stp x6, x7, [sp, #64]",
            "str x8, [sp, #80]",
            "add x1, sp, #96",
            "bl {target}",
            "mov x16, x0",
            "ldr x8, [sp, #80]",
            "ldp x6, x7, [sp, #64]", "ldp x4, x5, [sp, #48]", "ldp x2, x3, [sp, #32]", "ldp x0, x1, [sp, #16]",
            "ldp x29, x30, [sp], #96",
            ".cfi_def_cfa_offset 0", ".cfi_restore x29", ".cfi_restore x30",
            "br x16";
            target = sym $target);
    };
    (@ $name:ident [keeping] $target:path) => {
        $crate::exports!(# $name
            "stp x29, x30, [sp, #-160]!",
            ".cfi_def_cfa_offset 160",
            ".cfi_offset x29, -160",
            ".cfi_offset x30, -152",
            "stp x0, x1, [sp, #16]", "stp x2, x3, [sp, #32]", "stp x4, x5, [sp, #48]", "stp x6, x7, [sp, #64]",
            "stp x8, x9, [sp, #80]", "stp x10, x11, [sp, #96]", "stp x12, x13, [sp, #112]",
            "stp x14, x15, [sp, #128]", "str x18, [sp, #144]",
            "bl {target}",
            "ldr x18, [sp, #144]", "ldp x14, x15, [sp, #128]",
            "ldp x12, x13, [sp, #112]", "ldp x10, x11, [sp, #96]", "ldp x8, x9, [sp, #80]",
            "ldp x6, x7, [sp, #64]", "ldp x4, x5, [sp, #48]", "ldp x2, x3, [sp, #32]", "ldp x0, x1, [sp, #16]",
            "ldp x29, x30, [sp], #160",
            ".cfi_def_cfa_offset 0", ".cfi_restore x29", ".cfi_restore x30",
            "ret";
            target = sym $target);
    };
    (@ $name:ident [through] $real:path) => {
        $crate::exports!(# $name
            "adrp x16, {real}", "ldr x16, [x16, :lo12:{real}]", "br x16";
            real = sym $real);
    };
    (@ $name:ident [counted $block:ident $offset:expr, $slow:path] $real:path) => {
        $crate::exports!(@ $name [counted $block $offset, "b {slow}", $slow] $real);
    };
    (@ $name:ident [counted $block:ident $offset:expr, $slow:path, caller 1] $real:path) => {
        $crate::exports!(@ $name [counted $block $offset, "mov x1, x30\nb {slow}", $slow] $real);
    };
    (@ $name:ident [counted $block:ident $offset:expr, $to_slow:literal, $slow:path] $real:path) => {
        $crate::exports!(# $name
            concat!("adrp x16, :gottprel:", stringify!($block)),
            concat!("ldr x16, [x16, :gottprel_lo12:", stringify!($block), "]"),
            "mrs x17, tpidr_el0",
            "add x16, x16, x17",
            "ldr w17, [x16, {left}]",
            "subs w17, w17, #1",
            "str w17, [x16, {left}]",
            "b.lo 2f",
            "adrp x16, {real}", "ldr x16, [x16, :lo12:{real}]", "br x16",
            "2:",
            $to_slow;
            left = const $offset, slow = sym $slow, real = sym $real);
    };
    (@ $name:ident [elsewhere] $target:ident) => {
        $crate::exports!(# $name concat!("b ", stringify!($target)););
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

/// Exports a function that takes a mutex. It counts down a word of the calling thread's block; if the word was zero, it
/// jumps to `timed`. Otherwise it calls `attempt` and jumps to `wait` if the result is `busy`, or at once if the mutex is
/// robust ([`crate::functions::is_robust`]). `timed` and `wait` take the mutex and the address of the caller.
#[macro_export]
macro_rules! export_lock {
    ($name:ident [$block:ident $offset:expr]: $attempt:path, $busy:expr => $wait:path, $timed:path) => {
        $crate::exports!(# $name
            concat!("adrp x16, :gottprel:", stringify!($block)),
            concat!("ldr x16, [x16, :gottprel_lo12:", stringify!($block), "]"),
            "mrs x17, tpidr_el0",
            "add x16, x16, x17",
            "ldr w17, [x16, {left}]",
            "subs w17, w17, #1",
            "str w17, [x16, {left}]",
            "b.lo 2f",
            "mov x16, x0",
            "ldr w17, [x0, #16]",
            "tbnz w17, #4, 3f",
            "stp x0, x30, [sp, #-16]!",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset x30, -8",
            "adrp x16, {attempt}", "ldr x16, [x16, :lo12:{attempt}]", "blr x16",
            "ldp x16, x30, [sp], #16",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore x30",
            "cmp w0, {busy}",
            "b.eq 3f",
            "ret",
            "2:",
            "mov x1, x30",
            "b {timed}",
            "3:",
            "mov x0, x16",
            "mov x1, x30",
            "b {wait}";
            left = const $offset, attempt = sym $attempt, busy = const $busy, timed = sym $timed, wait = sym $wait);
    };
}

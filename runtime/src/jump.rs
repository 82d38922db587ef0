//! longjmp: harmless, but for jumps out of signal handlers, which never return to us.

use std::arch::asm;

use crate::atomic;
use crate::real::real;
use crate::start::{self, guarded};
use crate::tls::block;

/// Word of a jump buffer that holds the stack pointer (JB_RSP of the C library).
const STACK_POINTER: usize = 6;
/// Rotation the C library mangles it with, on top of the thread's guard at fs:0x30.
const ROTATION: u32 = 0x11;

unsafe fn before(buffer: *const u64) {
    let tls = block();
    atomic::abandon(tls);
    if tls.handlers() == 0 {
        return;
    }
    let Some(recorder) = start::recorder() else {
        return;
    };
    let guard: u64;
    // SAFETY: reads the pointer guard, which the C library keeps at this place of every thread's
    // control block.
    unsafe {
        asm!("mov {g}, qword ptr fs:[0x30]", g = out(reg) guard, options(nostack, readonly, pure));
    }
    // SAFETY: a jump buffer has eight words before its signal mask.
    let mangled = unsafe { buffer.add(STACK_POINTER).read() };
    let target = mangled.rotate_right(ROTATION) ^ guard;
    guarded(|| recorder.jump(tls, usize::try_from(target).unwrap_or(0)));
}

macro_rules! jumps {
    ($($name:ident($real:ident);)*) => {$(
        /// Does what is to be done before, returns the real function for the stub to jump to.
        pub(crate) unsafe extern "C" fn $name(buffer: *const u64) -> usize {
            // SAFETY: the caller's jump buffer.
            unsafe { before(buffer) };
            real().$real as usize
        }
    )*};
}

jumps! {
    before_longjmp(longjmp);
    before_underscore_longjmp(_longjmp);
    before_siglongjmp(siglongjmp);
    before_longjmp_chk(__longjmp_chk);
}

//! longjmp needs care only when it jumps out of a signal handler, which then never returns to the
//! wrapper.

use contech_interpose::{arch, exports};

use crate::atomic;
use crate::current::{self, guarded};
use crate::real::real;
use crate::tls::block;

unsafe fn before(buffer: *const u64) {
    let tls = block();
    atomic::abandon(tls);
    if tls.handlers() == 0 {
        return;
    }
    let Some(recorder) = current::recorder() else {
        return;
    };
    // SAFETY: the caller passes a valid jump buffer.
    let target = unsafe { arch::jump_target(buffer) };
    guarded(|| recorder.jump(tls, target));
}

macro_rules! jumps {
    ($($name:ident)*) => {$(
        const _: () = {
            /// Does what must be done before the jump, and returns the real function for the stub to
            /// jump to.
            unsafe extern "C" fn hook(buffer: *const u64) -> usize {
                // SAFETY: the caller passes a valid jump buffer.
                unsafe { before(buffer) };
                real().$name as usize
            }
            exports! { $name [before] = hook; }
        };
    )*};
}

jumps! { longjmp _longjmp siglongjmp __longjmp_chk }

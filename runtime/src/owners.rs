//! The numbers of the program's threads: who owns what in the order of operations.

use contech_interpose::mask::Blocked;
use contech_runtime_core::TlsBlock;
use contech_runtime_core::bias::Me;
use contech_runtime_core::owners::Owners;

/// The numbers of threads, in the words of stripes among others.
pub(crate) static OWNERS: Owners = Owners::new();

/// The calling thread, which gets a number if it has none.
#[inline(always)]
pub(crate) fn me(tls: &TlsBlock) -> Me<'static> {
    OWNERS.thread(match tls.owner() {
        0 => draw(tls),
        owner => owner,
    })
}

#[cold]
fn draw(tls: &TlsBlock) -> u64 {
    // If a handler drew a number in between, that number would be forgotten.
    let _blocked = Blocked::new();
    if tls.owner() == 0 {
        tls.set_owner(OWNERS.draw());
    }
    tls.owner()
}

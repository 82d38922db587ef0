//! Hands what all threads have recorded so far to the writer while they go on, because ids are
//! about to change their meaning.

use std::sync::atomic::Ordering::Relaxed;

use crate::append::encode_at;
use crate::recorder::Recorder;
use crate::registry;
use crate::thread::{NO_CONTEXT, Thread};
use crate::tls::TlsBlock;

impl Recorder {
    /// Hands over what every thread has recorded, up to its thread-local cursor. A thread records
    /// beyond that cursor only until its next call. Returns false if this is impossible, because a
    /// thread does not let go of its state, or because another thread is in a context that is not
    /// its own, which the thread's next chunk would have to begin with.
    pub(crate) fn hand_over_so_far(&'static self, tls: &TlsBlock) -> bool {
        let own = registry::current(tls);
        let is_own = |thread: &Thread| own.is_some_and(|own| std::ptr::eq(own, thread));
        let apart = || {
            let mut others = self.registry.iter().filter(|thread| !is_own(thread));
            others.all(|thread| thread.entered.load(Relaxed) == NO_CONTEXT)
        };
        let before = apart();
        let whole = self.close_all(tls, None, true);
        self.serve();
        if let Some(stay) = own.and_then(|own| own.stay(self.clock.now()))
            && !tls.cursor().is_null()
        {
            if tls.handlers() > 0 {
                return false;
            }
            // The slack has room for the event, wherever the cursor is.
            tls.set_cursor(encode_at(tls.cursor(), &stay));
        }
        before && whole && apart()
    }
}

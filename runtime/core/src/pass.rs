//! How a thread passes the gate ([`crate::gate`]): at an event, or where it gets another buffer.

use contech_trace::event::{Event, Recorded};

use crate::append::encode_at;
use crate::recorder::Recorder;
use crate::tls::{self, TlsBlock};

impl Recorder {
    /// Begins or ends the region of interest by the program's own mark. Nested regions are part of
    /// the outermost one.
    pub fn mark_region(&'static self, tls: &TlsBlock, begins: bool) {
        if self.gate.mark(begins) {
            let at = self.clock.now();
            self.put(tls, &Event::Roi { begin: begins, at });
        }
    }

    /// Does at an event what the gate wants: takes back what is not to be recorded, or notes in the
    /// stream that this begins or ends. Returns the cursor.
    #[inline(never)]
    pub(crate) fn look_at_gate(&'static self, tls: &TlsBlock) -> *mut u8 {
        let cursor = tls.cursor();
        // Where a buffer is due, whoever gets it looks at the gate.
        if cursor.is_null() || tls.limit().is_null() || tls.is_quiet() || tls.role() != tls::PROGRAM
        {
            return cursor;
        }
        if tls.is_gated() {
            tls.spin().drop_back(tls.slot());
        }
        if tls.handlers() == 0
            && self.asks_gate(tls)
            && let Some(switch) = self.pass_gate(tls)
        {
            tls.set_cursor(encode_at(tls.cursor(), &switch));
            // What a register says of the cursor is older than the switch, and times are noted
            // otherwise from here on. So the next check gets another buffer.
            tls.set_at(tls::Lane::Stream, (tls.cursor(), std::ptr::null_mut()));
        }
        tls.cursor()
    }

    /// Makes the thread do what the gate wants. Returns the event that says so, if this changes
    /// anything.
    pub(crate) fn pass_gate(&self, tls: &TlsBlock) -> Option<Event> {
        let number = self.gate.number();
        let at = self.clock.now();
        let (recorded, stays) = self.gate.state();
        let gated = recorded != Recorded::Yes;
        let asks_at = stays.map_or(u64::MAX, |time| at.saturating_add(self.clock.ticks(time)));
        let changes = gated != tls.is_gated();
        tls.set_gate(number, gated, asks_at);
        changes.then_some(Event::Accesses { at, recorded })
    }

    /// Whether the gate may say something else than before.
    fn asks_gate(&self, tls: &TlsBlock) -> bool {
        let (number, at) = tls.asked();
        number != self.gate.number() || self.clock.now() >= at
    }

    /// Gives a thread whose accesses are not recorded the room again that they took, or the cursor
    /// to change buffers with.
    pub(crate) fn room_again(&'static self, tls: &TlsBlock) -> Result<*mut u8, *mut u8> {
        let limit = tls.limit();
        let at = tls.spin().drop_back(tls.slot());
        if limit.is_null() || at.wrapping_add(Self::WORTH) > limit {
            return Err(at);
        }
        let at = self.look_at_gate(tls);
        if tls.is_gated() { Ok(at) } else { Err(at) }
    }

    /// Less room than this is not worth going on in the same buffer.
    pub(crate) const WORTH: usize = 8 << 10;
}

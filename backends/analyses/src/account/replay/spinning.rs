//! Contexts that have, or want, a processor while they wait.

use super::{At, Replay, Running, SPINNING, Schedule, Watch};

impl<W: Watch> Replay<'_, W> {
    /// A context that cannot go on keeps its processor if it spins.
    pub(super) fn spin(&mut self, context: u32, processor: usize, slice: f64) {
        if self.waits_spinning(context) && self.running[processor].is_none() {
            let of = &mut self.contexts[context as usize];
            self.spinning += usize::from(!std::mem::replace(&mut of.spins, true));
            let spinner = Running { context, left: f64::INFINITY, slice, helped: false };
            self.running[processor] = Some(spinner);
        }
    }

    /// Whether a context is in a wait in which it spins.
    fn waits_spinning(&self, context: u32) -> bool {
        let of = &self.contexts[context as usize];
        let waits = matches!(of.at, At::Blocked | At::Lacking | At::Locked | At::Waking);
        let wait = || self.strands.wait_of(of.next as usize);
        let greedy = self.schedule == Schedule::Greedy && self.removed & SPINNING == 0;
        waits && greedy && wait().is_some_and(|wait| wait.spins)
    }

    /// What a context waited for has happened, and it spun: it goes on at once if it has a
    /// processor.
    pub(super) fn go_on(&mut self, context: u32) {
        let on = |on: &Option<Running>| on.is_some_and(|on| on.spins() && on.context == context);
        let processor = self.running.iter().position(on);
        let ready = self.is_ready(context, processor.is_some());
        if !ready && self.waits_spinning(context) {
            return;
        }
        self.contexts[context as usize].spins = false;
        self.spinning -= 1;
        match processor {
            Some(processor) => {
                self.running[processor] = None;
                if ready {
                    self.ready[0].push_front(context);
                    self.queued += 1;
                }
            }
            None if !ready => {
                self.ready[0].retain(|&other| other != context);
                self.queued -= 1;
            }
            // It is among those that are ready already.
            None => {}
        }
    }
}

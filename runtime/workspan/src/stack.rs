//! A stack that is never empty and keeps what was popped for its memory: its top is found without a test.
#![allow(
    unsafe_code,
    reason = "the top is found at every call and return of the program"
)]

/// The bottom, and above it what was pushed.
#[derive(Debug)]
pub(crate) struct Stack<F> {
    /// Up to `depth` those on the stack, beyond it those that were, or were made to be.
    all: Vec<F>,
    /// How many are above the bottom: less than there are.
    depth: usize,
}

impl<F: Default> Default for Stack<F> {
    fn default() -> Self {
        Self {
            all: vec![F::default()],
            depth: 0,
        }
    }
}

impl<F> Stack<F> {
    /// How many are above the bottom.
    #[inline(always)]
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Most there ever was memory for, above the bottom.
    pub(crate) fn deepest(&self) -> usize {
        self.all.len() - 1
    }

    /// The innermost one.
    #[inline(always)]
    pub(crate) fn top(&self) -> &F {
        // SAFETY: `depth` is less than there are: at first, and after `push` and `pop`, the only ones to change it.
        unsafe { self.all.get_unchecked(self.depth) }
    }

    /// The innermost one.
    #[inline(always)]
    pub(crate) fn top_mut(&mut self) -> &mut F {
        // SAFETY: as above.
        unsafe { self.all.get_unchecked_mut(self.depth) }
    }

    /// Whether there is memory for one more.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.depth + 1 < self.all.len()
    }

    /// Makes that memory.
    pub(crate) fn make_room(&mut self, with: F) {
        if !self.has_room() {
            self.all.push(with);
        }
    }

    /// The innermost one, and the one below; none at the bottom.
    #[inline(always)]
    pub(crate) fn top_two(&self) -> Option<(&F, &F)> {
        let below = self.depth.checked_sub(1)?;
        // SAFETY: as above.
        unsafe {
            Some((
                self.all.get_unchecked(below + 1),
                self.all.get_unchecked(below),
            ))
        }
    }

    /// One more, as it was left, if there is memory for it.
    #[inline(always)]
    pub(crate) fn push(&mut self) -> Option<&mut F> {
        if !self.has_room() {
            return None;
        }
        self.depth += 1;
        Some(self.top_mut())
    }

    /// The innermost one is none any more; it, and the one below. None at the bottom.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(&mut F, &mut F)> {
        let below = self.depth.checked_sub(1)?;
        self.depth = below;
        // SAFETY: two different ones, of which the upper was the innermost: less than there are.
        let [lower, upper] = unsafe { self.all.get_disjoint_unchecked_mut([below, below + 1]) };
        Some((upper, lower))
    }

    /// Those above the bottom.
    pub(crate) fn above(&self) -> &[F] {
        &self.all[1..=self.depth]
    }
}

//! A stack that is never empty and keeps popped elements so that their memory can be reused. Its
//! top is found without a test.
#![allow(unsafe_code, reason = "the top is found at every call and return of the program")]

/// The bottom, and the pushed elements above it.
#[derive(Debug)]
pub(crate) struct Stack<F> {
    /// The elements on the stack up to `depth`; beyond it, elements that were popped or made in
    /// advance.
    all: Vec<F>,
    /// Number of elements above the bottom; always less than the length of `all`.
    depth: usize,
}

impl<F: Default> Default for Stack<F> {
    fn default() -> Self {
        Self { all: vec![F::default()], depth: 0 }
    }
}

impl<F> Stack<F> {
    /// Number of elements above the bottom.
    #[inline(always)]
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The largest depth that there ever was memory for.
    pub(crate) fn deepest(&self) -> usize {
        self.all.len() - 1
    }

    /// The innermost one.
    #[inline(always)]
    pub(crate) fn top(&self) -> &F {
        // SAFETY: `depth` is less than the length of `all`: at first, and after `push` and `pop`,
        // which alone change it.
        unsafe { self.all.get_unchecked(self.depth) }
    }

    /// The innermost one.
    #[inline(always)]
    pub(crate) fn top_mut(&mut self) -> &mut F {
        // SAFETY: as above.
        unsafe { self.all.get_unchecked_mut(self.depth) }
    }

    /// Whether there is memory for one more element.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.depth + 1 < self.all.len()
    }

    /// Makes memory for one more element.
    pub(crate) fn make_room(&mut self, with: F) {
        if !self.has_room() {
            self.all.push(with);
        }
    }

    /// Pushes an element as it was left, if there is memory for it.
    #[inline(always)]
    pub(crate) fn push(&mut self) -> Option<&mut F> {
        if !self.has_room() {
            return None;
        }
        self.depth += 1;
        Some(self.top_mut())
    }

    /// Pops the innermost element; returns it and the one below it. `None` at the bottom.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(&mut F, &mut F)> {
        let below = self.depth.checked_sub(1)?;
        self.depth = below;
        // SAFETY: the two indices differ, and the upper one was the innermost element, so both are
        // less than the length.
        let [lower, upper] = unsafe { self.all.get_disjoint_unchecked_mut([below, below + 1]) };
        Some((upper, lower))
    }

    /// The elements above the bottom.
    pub(crate) fn above(&self) -> &[F] {
        &self.all[1..=self.depth]
    }
}

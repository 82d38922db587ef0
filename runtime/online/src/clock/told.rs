//! What a hook knows of what was executed since the last one.

/// Whether code that counts no operations was called since the last hook, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    None,
    /// By what was executed before what is the invocation's own.
    Before,
    Own,
}

/// What a hook knows when it is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    /// Operations counted.
    pub operations: u64,
    /// Operations of the invocation that is at work, since.
    pub own: u64,
    /// Those are not counted now, but by a later hook.
    pub pending: bool,
    pub foreign: Foreign,
}

impl Told {
    /// By code at `slot`; `by` is the counter of that name.
    pub(crate) fn new(operations: u64, own: u64, by: u64, slot: usize) -> Self {
        Self {
            operations,
            own,
            pending: false,
            foreign: match by {
                0 => Foreign::None,
                by if by == slot as u64 => Foreign::Own,
                _ => Foreign::Before,
            },
        }
    }

    /// The same, with the last `own` operations as the invocation's own.
    #[inline(always)]
    pub(crate) fn last(self, own: u64) -> Self {
        Self {
            operations: self.operations + self.own - own,
            own,
            ..self
        }
    }
}

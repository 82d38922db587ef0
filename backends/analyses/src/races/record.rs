//! What the shadow memory remembers of accesses, when two of them conflict, and when one makes
//! another superfluous.

use super::chains::Epoch;

/// The kind of an access to a granule of 8 bytes, or of the mark that an allocation leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(super) enum Kind {
    /// A plain read.
    Read = 0,
    /// A plain write.
    Write = 1,
    /// An atomic read.
    AtomicRead = 2,
    /// An atomic write.
    AtomicWrite = 3,
    /// The memory was allocated.
    Alloc = 4,
    /// The memory was freed.
    Free = 5,
    /// The memory was unmapped; this is never stored.
    Unmap = 6,
    /// An object of synchronisation that begins there was destroyed.
    Destroyed = 7,
    /// Such an object was made; this is never stored.
    Made = 8,
}

impl Kind {
    /// The kind of an access.
    pub(super) fn of(write: bool, atomic: bool) -> Self {
        match (write, atomic) {
            (false, false) => Self::Read,
            (true, false) => Self::Write,
            (false, true) => Self::AtomicRead,
            (true, true) => Self::AtomicWrite,
        }
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite)
    }

    pub(super) fn atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite)
    }

    /// Whether two unordered accesses of these kinds are a race: one writes and not both are
    /// atomic, or one frees.
    pub(super) fn conflicts(self, other: Self) -> bool {
        let (first, last) = (self.min(other), self.max(other));
        if last == Self::Free {
            return first < Self::Alloc;
        }
        let accesses = last < Self::Alloc;
        accesses && (self.writes() || other.writes()) && !(self.atomic() && other.atomic())
    }

    /// Whether a later access of kind `later`, ordered after this one, conflicts with everything
    /// that this one conflicts with. Every coming access that is unordered with this one is then
    /// unordered with the later one too, so this one need not be remembered (the argument of
    /// FastTrack: Flanagan and Freund, 2009).
    pub(super) fn superseded_by(self, later: Self) -> bool {
        self < Self::Alloc
            && (later == Self::Write
                || later == self
                || (self == Self::AtomicRead && later < Self::Alloc))
    }
}

/// One remembered access to some bytes of a granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Record {
    /// The task that made the access.
    pub(super) epoch: Epoch,
    /// The bytes of the granule; bit 0 is the first.
    pub(super) mask: u8,
    /// How it used them.
    pub(super) by: Use,
}

/// How a task uses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Use {
    /// The static operation.
    pub(super) op: u32,
    /// The kind of the access.
    pub(super) kind: Kind,
    /// The memory is the stack of the thread in which the task runs, or that thread's variables.
    pub(super) own: bool,
}

impl Use {
    /// A use of memory that belongs to no thread.
    pub(super) fn of(op: u32, kind: Kind) -> Self {
        Self { op, kind, own: false }
    }

    /// Whether two unordered uses are a race. What two tasks have in their own stacks at the same
    /// address are different variables: the tasks ran one after the other in one thread, and the
    /// graph does not say in which order.
    pub(super) fn conflicts(self, other: Self) -> bool {
        self.kind.conflicts(other.kind) && !(self.own && other.own)
    }

    /// [`Kind::superseded_by`] for uses.
    pub(super) fn superseded_by(self, later: Self) -> bool {
        self.kind.superseded_by(later.kind) && (self.own || !later.own)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind::{Alloc, AtomicRead, AtomicWrite, Free, Read, Write};

    #[test]
    fn atomics_conflict_with_plain_accesses_and_frees_only() {
        let kinds = [Read, Write, AtomicRead, AtomicWrite, Alloc, Free];
        let conflicts: Vec<_> = kinds
            .iter()
            .flat_map(|a| kinds.iter().map(move |b| (*a, *b)))
            .filter(|(a, b)| a <= b && a.conflicts(*b))
            .collect();
        assert_eq!(
            conflicts,
            [
                (Read, Write),
                (Read, AtomicWrite),
                (Read, Free),
                (Write, Write),
                (Write, AtomicRead),
                (Write, AtomicWrite),
                (Write, Free),
                (AtomicRead, Free),
                (AtomicWrite, Free)
            ]
        );
    }

    #[test]
    fn a_record_gives_way_only_to_one_that_conflicts_with_as_much() {
        let kinds = [Read, Write, AtomicRead, AtomicWrite];
        for (old, new) in kinds.iter().flat_map(|a| kinds.iter().map(move |b| (*a, *b))) {
            let as_much = kinds
                .iter()
                .chain([&Free])
                .all(|other| !old.conflicts(*other) || new.conflicts(*other));
            assert_eq!(old.superseded_by(new), as_much, "{old:?} {new:?}");
        }
    }
}

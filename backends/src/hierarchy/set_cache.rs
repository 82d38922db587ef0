//! One set-associative cache with a state for each line; the least recently used line goes first.

/// A line and what its owner knows about it.
#[derive(Clone, Copy, Debug)]
struct Slot<S> {
    /// Line number + 1; 0 marks an empty slot.
    tag: u64,
    state: S,
}

/// A cache of lines with states.
#[derive(Debug)]
pub struct SetCache<S> {
    /// Sets - 1; sets are a power of two.
    mask: u64,
    ways: usize,
    /// The slots of each set, most recent first.
    slots: Vec<Slot<S>>,
}

impl<S: Copy + Default> SetCache<S> {
    /// An empty cache of `sets` sets, a power of two, of `ways` lines each.
    ///
    /// # Panics
    /// When the cache does not fit the address space.
    #[must_use]
    pub fn new(sets: u64, ways: usize) -> Self {
        let count = usize::try_from(sets).expect("sets fit the address space");
        let empty = Slot {
            tag: 0,
            state: S::default(),
        };
        Self {
            mask: sets - 1,
            ways,
            slots: vec![empty; count * ways],
        }
    }

    fn set(&mut self, line: u64) -> &mut [Slot<S>] {
        let first = usize::try_from(line & self.mask).expect("below the number of sets");
        &mut self.slots[first * self.ways..(first + 1) * self.ways]
    }

    /// Looks `line` up and makes it the most recent of its set; returns its state if it is there.
    #[inline]
    pub fn touch(&mut self, line: u64) -> Option<&mut S> {
        let set = self.set(line);
        let at = set.iter().position(|slot| slot.tag == line + 1)?;
        set[..=at].rotate_right(1);
        Some(&mut set[0].state)
    }

    /// The state of `line` if it is there; recency does not change.
    pub fn peek(&mut self, line: u64) -> Option<&mut S> {
        let slot = self
            .set(line)
            .iter_mut()
            .find(|slot| slot.tag == line + 1)?;
        Some(&mut slot.state)
    }

    /// Puts a line that is not in the cache to the front of its set; returns the line that had to go, if any.
    pub fn insert(&mut self, line: u64, state: S) -> Option<(u64, S)> {
        let set = self.set(line);
        set.rotate_right(1);
        let out = std::mem::replace(
            &mut set[0],
            Slot {
                tag: line + 1,
                state,
            },
        );
        (out.tag != 0).then(|| (out.tag - 1, out.state))
    }

    /// Takes a line out; returns its state if it was there.
    pub fn remove(&mut self, line: u64) -> Option<S> {
        let set = self.set(line);
        let at = set.iter().position(|slot| slot.tag == line + 1)?;
        let state = set[at].state;
        // The gap moves to the end, behind lines that are less recent than the removed one.
        set[at].tag = 0;
        set[at..].rotate_left(1);
        Some(state)
    }
}

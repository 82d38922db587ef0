//! Exact stack distances of a stream of lines: how many other lines were touched since this one last was. A fully
//! associative LRU cache of C lines hits exactly when the distance is below C, so one pass gives every size.
//!
//! The most recent lines sit in a short array. Older ones have a time slot in a bit set, and the distance is the
//! number of occupied slots after theirs, counted with a Fenwick tree over words (Olken, "Efficient methods for
//! calculating the success function of fixed space replacement policies", 1981; Fenwick 1994). A line leaving the
//! array is more recent than all in the slots, so the slots are written in order and renumbered when they run out.

use rustc_hash::FxHashMap;

/// Lines in the array; beyond this a scan costs more than a walk through the tree.
const FRONT: usize = 16;
/// Time slots per counter of the tree.
const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 64;

/// The recency order of all lines seen, up to `limit` lines.
#[derive(Debug)]
pub struct RecencyStack {
    limit: usize,
    /// Most recent first; line + 1, or 0 where nothing has been yet.
    front: [u64; FRONT],
    slot_of: FxHashMap<u64, u32>,
    /// The tag that occupies each slot, 0 if none does any more.
    tags: Vec<u64>,
    occupied: Vec<u64>,
    /// Fenwick tree: occupied slots per block of [`BLOCK`] slots.
    tree: Vec<u32>,
    next: usize,
}

impl RecencyStack {
    /// An empty stack that tells distances below `limit` lines apart; lines further down are forgotten, so memory is
    /// bounded by `limit` and not by the program.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let mut stack = Self {
            limit,
            front: [0; FRONT],
            slot_of: FxHashMap::default(),
            tags: Vec::new(),
            occupied: Vec::new(),
            tree: Vec::new(),
            next: 0,
        };
        stack.resize(64 * BLOCK);
        stack
    }

    /// Touches `line` and returns its distance: 0 when it was also the last one touched, `None` when it was never seen
    /// (or lies below the limit).
    #[inline]
    pub fn touch(&mut self, line: u64) -> Option<usize> {
        let tag = line + 1;
        if self.front[0] == tag {
            return Some(0);
        }
        let mut moving = std::mem::replace(&mut self.front[0], tag);
        for at in 1..FRONT {
            std::mem::swap(&mut self.front[at], &mut moving);
            if moving == tag {
                return Some(at);
            }
        }
        let distance = self.take(tag);
        if moving != 0 {
            self.push(moving);
        }
        distance
    }

    /// Removes `tag` from the slots and returns its distance.
    fn take(&mut self, tag: u64) -> Option<usize> {
        let slot = self.slot_of.remove(&tag)? as usize;
        let later = self.slot_of.len() - self.occupied_before(slot);
        self.tags[slot] = 0;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let mut at = slot / BLOCK + 1;
        while at < self.tree.len() {
            self.tree[at] -= 1;
            at += at & at.wrapping_neg();
        }
        Some(FRONT + later)
    }

    /// Occupied slots before `slot`.
    fn occupied_before(&self, slot: usize) -> usize {
        let block = slot / BLOCK;
        let mut count = 0;
        let mut at = block;
        while at > 0 {
            count += self.tree[at] as usize;
            at &= at - 1;
        }
        let words = &self.occupied[block * WORDS..=slot / 64];
        let (last, whole) = words.split_last().expect("the slot's own word");
        count += whole
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum::<usize>();
        count + (last & ((1 << (slot % 64)) - 1)).count_ones() as usize
    }

    /// Gives `tag` the newest slot.
    fn push(&mut self, tag: u64) {
        if self.next == self.tags.len() {
            self.renumber();
        }
        let slot = self.next;
        self.next += 1;
        self.tags[slot] = tag;
        self.slot_of.insert(
            tag,
            u32::try_from(slot).expect("slots are at most a few times the limit"),
        );
        self.occupy(slot);
    }

    fn occupy(&mut self, slot: usize) {
        self.occupied[slot / 64] |= 1 << (slot % 64);
        let mut at = slot / BLOCK + 1;
        while at < self.tree.len() {
            self.tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// Closes the gaps left by re-used lines, forgets what lies below the limit, and makes room for as many again.
    fn renumber(&mut self) {
        let mut live = std::mem::take(&mut self.tags);
        live.retain(|&tag| tag != 0);
        let forgotten = live.len().saturating_sub(self.limit);
        for tag in live.drain(..forgotten) {
            self.slot_of.remove(&tag);
        }
        self.resize((live.len() * 2).next_multiple_of(BLOCK).max(64 * BLOCK));
        for (slot, tag) in live.into_iter().enumerate() {
            self.tags[slot] = tag;
            self.slot_of.insert(
                tag,
                u32::try_from(slot).expect("slots are at most a few times the limit"),
            );
            self.occupy(slot);
            self.next = slot + 1;
        }
    }

    fn resize(&mut self, slots: usize) {
        self.tags = vec![0; slots];
        self.occupied = vec![0; slots / 64];
        self.tree = vec![0; slots / BLOCK + 1];
        self.next = 0;
    }
}

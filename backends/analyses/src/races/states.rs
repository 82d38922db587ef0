//! States of granules: the remembered accesses to 8 bytes of memory. Granules with the same past
//! share one state. So the shadow of a granule is a number of 4 bytes, and the effect of an access
//! on a state is computed once and looked up for the many granules of an array.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::record::Record;

/// A state, by number; the shadow memory counts how many granules are in it.
pub(super) type StateId = u32;

/// The state of memory that nobody has accessed.
pub(super) const UNTOUCHED: StateId = 0;

#[derive(Clone, Debug)]
struct State {
    granules: u32,
    /// Whether it is in [`States::unused`].
    queued: bool,
    records: Box<[Record]>,
}

/// All states in use; no two have the same records.
#[derive(Debug)]
pub(super) struct States {
    states: Vec<State>,
    /// By hash of the records: the state that has them (the latest one, if hashes are equal).
    known: FxHashMap<u64, StateId>,
    free: Vec<StateId>,
    /// States that may be in no granule any more. The next [`States::sweep`] frees them, so that
    /// earlier lookups stay valid until then.
    unused: Vec<StateId>,
    /// Bytes of the records.
    record_bytes: usize,
}

impl Default for States {
    fn default() -> Self {
        Self {
            states: vec![State { granules: 1, queued: false, records: Box::default() }],
            known: FxHashMap::default(),
            free: Vec::new(),
            unused: Vec::new(),
            record_bytes: 0,
        }
    }
}

impl States {
    /// The accesses that a state remembers.
    pub(super) fn records(&self, id: StateId) -> &[Record] {
        &self.states[id as usize].records
    }

    /// The state with these records; a new one is in no granule yet.
    pub(super) fn make(&mut self, records: &[Record]) -> StateId {
        if records.is_empty() {
            return UNTOUCHED;
        }
        let hash = hash(records);
        if let Some(&id) = self.known.get(&hash)
            && self.records(id) == records
        {
            return id;
        }
        let state = State { granules: 0, queued: true, records: records.into() };
        self.record_bytes += size_of_val(records);
        let id = match self.free.pop() {
            Some(id) => {
                self.states[id as usize] = state;
                id
            }
            None => {
                self.states.push(state);
                u32::try_from(self.states.len() - 1).unwrap_or(UNTOUCHED)
            }
        };
        self.unused.push(id);
        self.known.insert(hash, id);
        id
    }

    /// Moves `count` granules from one state to another.
    #[inline]
    pub(super) fn moved(&mut self, from: StateId, to: StateId, count: u32) {
        self.states[to as usize].granules = self.states[to as usize].granules.wrapping_add(count);
        let old = &mut self.states[from as usize];
        old.granules = old.granules.wrapping_sub(count);
        if old.granules == 0 && from != UNTOUCHED && !old.queued {
            old.queued = true;
            self.unused.push(from);
        }
    }

    /// Number of states that wait to be swept.
    pub(super) fn unused(&self) -> usize {
        self.unused.len()
    }

    /// Frees the states that no granule is in, whose numbers are used again.
    pub(super) fn sweep(&mut self) {
        for id in std::mem::take(&mut self.unused) {
            self.states[id as usize].queued = false;
            if self.states[id as usize].granules == 0 {
                let hash = hash(self.records(id));
                if self.known.get(&hash) == Some(&id) {
                    self.known.remove(&hash);
                }
                let records = std::mem::take(&mut self.states[id as usize].records);
                self.record_bytes -= size_of_val(&*records);
                self.free.push(id);
            }
        }
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.states.len() * size_of::<State>() + self.known.capacity() * 16 + self.record_bytes
    }
}

fn hash(records: &[Record]) -> u64 {
    let mut hasher = FxHasher::default();
    records.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::chains::Epoch;
    use super::super::record::{Kind, Use};
    use super::*;

    #[test]
    fn states_are_reused_only_when_no_granule_is_in_them() {
        let mut states = States::default();
        let by = |op| Use::of(op, Kind::Write);
        let record = |op| Record { epoch: Epoch::default(), mask: 255, by: by(op) };
        let first = states.make(&[record(1)]);
        let second = states.make(&[record(2)]);
        states.moved(UNTOUCHED, first, 1);
        states.sweep();
        assert_eq!(states.records(first), [record(1)]);
        assert_eq!(states.make(&[record(3), record(4), record(5), record(6)]), second);
        states.moved(UNTOUCHED, second, 1);
        states.moved(first, UNTOUCHED, 1);
        assert_eq!(states.records(first), [record(1)], "valid until the sweep");
        states.sweep();
        assert_eq!(states.records(second).len(), 4);
        assert_eq!(states.make(&[record(7)]), first);
    }
}

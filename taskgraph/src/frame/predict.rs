//! Prediction of block sequences and operands, shared by the encoder and the decoder.
//!
//! Operands: a stride predictor that changes its stride when the same step is seen twice in a row (the two-delta
//! predictor of Eickemeyer and Vassiliadis, "A load-instruction unit for pipelined processors", IBM JRD 1993), so
//! that leaving a row of a matrix costs one miss, not two; plus a bit per operand saying that it tends to miss
//! by as much as its neighbour (fields of one structure reached through one pointer).
//! Blocks and paths: the last two successors of each.
//!
//! State is per frame. It is reset by comparing an epoch, so a frame costs nothing for blocks it does not execute.

/// The predictor of one operand of one static operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    last: u64,
    stride: u64,
    step: u64,
    /// The miss of the value before is to be added.
    follow: bool,
    /// Above 0 when values are smaller numbers than their misses.
    plain: i8,
}

/// How sure a slot can become of plain values, or of misses.
const SURE: i8 = 7;

impl Slot {
    /// A slot that first predicts `value`.
    pub(super) fn starting_at(value: u64) -> Self {
        Self {
            last: value,
            ..Self::default()
        }
    }

    /// The prediction without the neighbour's miss.
    #[inline]
    pub(super) fn predicted(&self) -> u64 {
        self.last.wrapping_add(self.stride)
    }

    /// What the neighbour's miss contributes.
    #[inline]
    pub(super) fn followed(&self, neighbour: u64) -> u64 {
        0u64.wrapping_sub(u64::from(self.follow)) & neighbour
    }

    /// Whether the value itself is stored, not its miss (since version 2).
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.plain > 0
    }

    /// Learns whether `value` is a smaller number than its coded miss.
    #[inline]
    pub(super) fn weigh(&mut self, value: u64, coded_miss: u64) {
        self.plain = if value < coded_miss {
            (self.plain + 1).min(SURE)
        } else {
            (self.plain - 1).max(-SURE)
        };
    }

    /// Learns `value`, which missed [`Slot::predicted`] by `miss` after the operand before missed by `neighbour`.
    #[inline]
    pub(super) fn learn(&mut self, value: u64, miss: u64, neighbour: u64) {
        let step = value.wrapping_sub(self.last);
        if step == self.step {
            self.stride = step;
        }
        self.step = step;
        self.last = value;
        if neighbour != 0 {
            let following = miss.wrapping_sub(neighbour).cast_signed().unsigned_abs();
            let closer = following < miss.cast_signed().unsigned_abs();
            self.follow = closer;
        }
    }
}

/// What is known of a unit (a block, or a node or loop of a function stored as paths) within the current frame.
#[derive(Clone, Copy, Debug, Default)]
struct UnitState {
    epoch: u32,
    /// Where the predictors of its values start.
    slots: u32,
}

/// The last two different successors of a symbol (a block or a path); `u32::MAX` = none.
#[derive(Clone, Copy, Debug)]
struct Successors {
    epoch: u32,
    next: [u32; 2],
}

const UNSEEN: Successors = Successors {
    epoch: 0,
    next: [u32::MAX; 2],
};

/// All predictors.
#[derive(Debug)]
pub(super) struct Predictor {
    units: Vec<UnitState>,
    /// One per symbol, and one more: the predecessor of the first of a frame.
    successors: Vec<Successors>,
    /// Those of the units executed in this frame, in order of their first execution: no memory for the others, and
    /// what is used is close together.
    slots: Vec<Slot>,
    used: usize,
    epoch: u32,
    /// The symbol executed last.
    previous: usize,
    /// The value seen last, where a new slot starts.
    pub(super) last_value: u64,
}

impl Predictor {
    pub(super) fn new(units: usize, symbols: usize) -> Self {
        Self {
            units: vec![UnitState::default(); units],
            successors: vec![UNSEEN; symbols + 1],
            slots: Vec::new(),
            used: 0,
            epoch: 1,
            previous: symbols,
            last_value: 0,
        }
    }

    /// Forgets everything; O(1) but once in 2^32 frames.
    pub(super) fn reset(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.units.iter_mut().for_each(|s| s.epoch = 0);
            self.successors.iter_mut().for_each(|s| s.epoch = 0);
            self.epoch = 1;
        }
        self.used = 0;
        self.previous = self.successors.len() - 1;
        self.last_value = 0;
    }

    /// The successors of the symbol executed last.
    #[inline]
    pub(super) fn successors(&mut self) -> &mut [u32; 2] {
        let state = &mut self.successors[self.previous];
        if state.epoch != self.epoch {
            *state = Successors {
                epoch: self.epoch,
                ..UNSEEN
            };
        }
        &mut state.next
    }

    /// Makes `symbol` the one executed last.
    #[inline]
    pub(super) fn follow(&mut self, symbol: usize) {
        self.previous = symbol;
    }

    /// The predictors of a unit's values.
    #[inline]
    pub(super) fn enter(&mut self, unit: usize, values: usize) -> &mut [Slot] {
        if self.units[unit].epoch != self.epoch {
            self.first_execution(unit, values);
        }
        let first = self.units[unit].slots as usize;
        &mut self.slots[first..first + values]
    }

    #[cold]
    fn first_execution(&mut self, unit: usize, values: usize) {
        let first = self.used;
        self.used += values;
        if self.slots.len() < self.used {
            self.slots.resize(self.used, Slot::default());
        }
        self.slots[first..self.used].fill(Slot::starting_at(self.last_value));
        // No frame has 2^32 slots: each is one of a stored value.
        let slots = u32::try_from(first).unwrap_or(u32::MAX);
        self.units[unit] = UnitState {
            epoch: self.epoch,
            slots,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The misses of a sequence.
    fn misses(values: &[u64]) -> Vec<u64> {
        let mut slot = Slot::default();
        let miss = |&value: &u64| {
            let miss = value.wrapping_sub(slot.predicted());
            slot.learn(value, miss, 0);
            miss
        };
        values.iter().map(miss).collect()
    }

    #[test]
    fn a_strided_sequence_misses_three_times() {
        assert_eq!(misses(&[1000, 1008, 1016, 1024, 1032]), [1000, 8, 8, 0, 0]);
    }

    #[test]
    fn leaving_a_row_misses_once() {
        let rows = misses(&[0, 8, 16, 24, 100, 108, 116]);
        assert_eq!(rows[3..], [0, 68, 0, 0]);
    }

    #[test]
    fn values_without_a_pattern_are_stored_as_they_are() {
        let mut slot = Slot::default();
        for value in [17, 200, 3, 250, 90, 5, 180, 77] {
            let miss = value - i64::from_le_bytes(slot.predicted().to_le_bytes());
            slot.weigh(
                value.unsigned_abs(),
                crate::wire::zigzag(miss.cast_unsigned()),
            );
            slot.learn(value.unsigned_abs(), miss.cast_unsigned(), 0);
        }
        assert!(slot.is_plain());
        for value in (0x7000..0x8000).step_by(8) {
            let miss = u64::wrapping_sub(value, slot.predicted());
            slot.weigh(value, crate::wire::zigzag(miss));
            slot.learn(value, miss, 0);
        }
        assert!(!slot.is_plain());
    }

    #[test]
    fn an_operand_that_moves_with_its_neighbour_follows_it() {
        let mut slot = Slot::starting_at(100);
        slot.learn(150, 50, 42);
        assert_eq!(slot.followed(7), 7);
        slot.learn(150, 0, 42);
        assert_eq!(slot.followed(7), 0);
    }
}

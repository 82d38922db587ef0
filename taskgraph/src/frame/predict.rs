//! Prediction of block sequences and operands, shared by the encoder and the decoder.
//!
//! Operands: a stride predictor that changes its stride when the same step is seen twice in a row (the two-delta
//! predictor of Eickemeyer and Vassiliadis, "A load-instruction unit for pipelined processors", IBM JRD 1993), so
//! that leaving a row of a matrix costs one miss, not two; plus a bit per operand saying that it tends to miss
//! by as much as its neighbour (fields of one structure reached through one pointer).
//! Blocks: the last two successors of each block.
//!
//! State is per frame. It is reset by comparing an epoch, so a frame costs nothing for blocks it does not execute.

use crate::frame::layout::Layout;

/// The predictor of one operand of one static operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    last: u64,
    stride: u64,
    step: u64,
    /// All ones when the miss of the operand before is to be added, else 0.
    follow: u64,
}

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
        self.follow & neighbour
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
            self.follow = 0u64.wrapping_sub(u64::from(closer));
        }
    }
}

/// What is known of a block within the current frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockState {
    epoch: u32,
    /// The last two different successors; `u32::MAX` = none.
    next: [u32; 2],
    /// Where the predictors of its operands start.
    slots: u32,
}

const UNSEEN: BlockState = BlockState {
    epoch: 0,
    next: [u32::MAX; 2],
    slots: 0,
};

/// All predictors.
#[derive(Debug)]
pub(super) struct Predictor {
    /// One per block, and one more: the predecessor of the first block of a frame.
    states: Vec<BlockState>,
    /// Those of the blocks executed in this frame, in order of their first execution: no memory for the others, and
    /// what is used is close together.
    slots: Vec<Slot>,
    used: usize,
    epoch: u32,
    /// The block executed last.
    pub(super) previous: usize,
    /// The operand seen last, where a new slot starts.
    pub(super) last_operand: u64,
}

impl Predictor {
    pub(super) fn new(layout: &Layout) -> Self {
        Self {
            states: vec![UNSEEN; layout.blocks.len() + 1],
            slots: Vec::new(),
            used: 0,
            epoch: 1,
            previous: layout.blocks.len(),
            last_operand: 0,
        }
    }

    /// Forgets everything; O(1) but once in 2^32 frames.
    pub(super) fn reset(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.states.iter_mut().for_each(|s| s.epoch = 0);
            self.epoch = 1;
        }
        self.used = 0;
        self.previous = self.states.len() - 1;
        self.last_operand = 0;
    }

    /// The successors of the block executed last. That block has been [`entered`](Self::enter), or is the virtual
    /// first one.
    #[inline]
    pub(super) fn successors(&mut self) -> &mut [u32; 2] {
        let state = &mut self.states[self.previous];
        if state.epoch != self.epoch {
            *state = BlockState {
                epoch: self.epoch,
                ..UNSEEN
            };
        }
        &mut state.next
    }

    /// Makes `block` the one executed last and gives the predictors of its operands.
    #[inline]
    pub(super) fn enter(&mut self, block: usize, operands: u32) -> &mut [Slot] {
        self.previous = block;
        if self.states[block].epoch != self.epoch {
            self.first_execution(block, operands);
        }
        let first = self.states[block].slots as usize;
        &mut self.slots[first..first + operands as usize]
    }

    fn first_execution(&mut self, block: usize, operands: u32) {
        let first = self.used;
        self.used += operands as usize;
        if self.slots.len() < self.used {
            self.slots.resize(self.used, Slot::default());
        }
        self.slots[first..self.used].fill(Slot::starting_at(self.last_operand));
        // A frame has at most 2^22 operands.
        let slots = u32::try_from(first).unwrap_or(u32::MAX);
        self.states[block] = BlockState {
            epoch: self.epoch,
            slots,
            ..UNSEEN
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
    fn an_operand_that_moves_with_its_neighbour_follows_it() {
        let mut slot = Slot::starting_at(100);
        slot.learn(150, 50, 42);
        assert_eq!(slot.followed(7), 7);
        slot.learn(150, 0, 42);
        assert_eq!(slot.followed(7), 0);
    }
}

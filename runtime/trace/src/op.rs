//! Memory operations: what a block records for each, and in how many bytes.

use crate::abi::{ADDRESS_BYTES, MASK_BYTES};
use crate::numbered::numbered;

/// The most bytes of an operation without a length, as graphs have it.
pub const MAX_SIZE: u32 = 64 << 20;

numbered! {
    /// Kind of a static memory operation; says which operands its execution records, in order.
    pub enum OpKind {
        /// `addr`
        Load = 0,
        /// `addr`
        Store = 1,
        /// Atomic read-modify-write or compare-exchange: `addr`.
        Rmw = 2,
        /// memcpy, memmove: `dst, src`, then the length unless constant.
        Copy = 3,
        /// memset: `dst`, then the length unless constant.
        Set = 4,
        /// `addr, mask` (bit i = lane i enabled, lane i at `addr + i * size`).
        MaskedLoad = 5,
        /// `addr, mask`
        MaskedStore = 6,
        /// `mask`, then one address per lane (disabled lanes hold anything).
        Gather = 7,
        /// `mask`, then one address per lane.
        Scatter = 8,
        /// `addr, mask`: as many consecutive elements as the mask has bits.
        ExpandLoad = 9,
        /// `addr, mask`
        CompressStore = 10,
    }
}

/// Atomic operation (any ordering but not-atomic).
pub const ATOMIC: u8 = 1;
/// The length of a Copy or Set is [`Op::const_len`] and is not recorded.
pub const CONST_LEN: u8 = 2;
/// Volatile operation.
pub const VOLATILE: u8 = 4;

/// One static memory operation of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// What it does and records.
    pub kind: OpKind,
    /// Bytes accessed; of one element for the masked, gather and compress forms; 0 for Copy and Set.
    pub size: u32,
    /// Lanes of the masked, gather and compress forms (at most 64), else 0.
    pub lanes: u16,
    /// [`ATOMIC`] | [`CONST_LEN`] | [`VOLATILE`].
    pub flags: u8,
    /// Length of a Copy or Set with [`CONST_LEN`].
    pub const_len: u64,
    /// Source line, 0 where unknown.
    pub line: u32,
}

impl Op {
    /// Calls `f` with the byte width of each recorded operand, in order.
    pub fn for_each_width(&self, mut f: impl FnMut(usize)) {
        let length = self.flags & CONST_LEN == 0;
        match self.kind {
            OpKind::Load | OpKind::Store | OpKind::Rmw => f(ADDRESS_BYTES),
            OpKind::Copy => {
                f(ADDRESS_BYTES);
                f(ADDRESS_BYTES);
                if length {
                    f(ADDRESS_BYTES);
                }
            }
            OpKind::Set => {
                f(ADDRESS_BYTES);
                if length {
                    f(ADDRESS_BYTES);
                }
            }
            OpKind::MaskedLoad
            | OpKind::MaskedStore
            | OpKind::ExpandLoad
            | OpKind::CompressStore => {
                f(ADDRESS_BYTES);
                f(MASK_BYTES);
            }
            OpKind::Gather | OpKind::Scatter => {
                f(MASK_BYTES);
                for _ in 0..self.lanes {
                    f(ADDRESS_BYTES);
                }
            }
        }
    }

    /// Bytes one execution records.
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        let mut n = 0;
        self.for_each_width(|w| n += w);
        n
    }
}

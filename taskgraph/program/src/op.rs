//! Static memory operations: what each records per execution, and the accesses that follow from it.

use crate::id::OpId;
use crate::numbered;

/// Bytes of a recorded address or length: the low 48 bits, little endian.
pub const ADDRESS_BYTES: usize = 6;
/// Bytes of a recorded lane mask.
pub const MASK_BYTES: usize = 8;
/// The bits of an address or length that are recorded.
pub(crate) const ADDRESS_MASK: u64 = (1 << (8 * ADDRESS_BYTES)) - 1;

numbered! {
    /// The kind of a static memory operation. The numbers are part of the file format.
    ///
    /// The operands recorded per execution, in this order, each a `u64`:
    ///
    /// | kind | operands |
    /// |---|---|
    /// | `Load`, `Store`, `Rmw` | address |
    /// | `Copy` | destination, source, length unless [`MemOp::CONST_LEN`] |
    /// | `Set`, `Scan` | address, length unless [`MemOp::CONST_LEN`] |
    /// | `MaskedLoad`, `MaskedStore`, `ExpandLoad`, `CompressStore` | address, lane mask |
    /// | `Gather`, `Scatter` | lane mask, then one address per lane |
    #[derive(Default)]
    pub enum OpKind {
        /// Reads `size` bytes.
        #[default]
        Load = 0, "load";
        /// Writes `size` bytes.
        Store = 1, "store";
        /// Reads, then writes, `size` bytes (atomic read-modify-write, compare-exchange).
        Rmw = 2, "read-modify-write";
        /// memcpy or memmove.
        Copy = 3, "copy";
        /// Writes a run of bytes, as memset does, or as a call of the C library does for the
        /// program.
        Set = 4, "set";
        /// Reads the enabled lanes of a vector, each `size` bytes at its own place.
        MaskedLoad = 5, "masked load";
        /// Writes the enabled lanes of a vector, each `size` bytes at its own place.
        MaskedStore = 6, "masked store";
        /// Reads one element of `size` bytes per enabled lane, each at its own address.
        Gather = 7, "gather";
        /// Writes one element of `size` bytes per enabled lane, each at its own address.
        Scatter = 8, "scatter";
        /// Reads as many consecutive elements as lanes are enabled.
        ExpandLoad = 9, "expanding load";
        /// Writes as many consecutive elements as lanes are enabled.
        CompressStore = 10, "compressing store";
        /// Reads a run of bytes, as a call of the C library does for the program.
        Scan = 11, "scan";
    }
}

/// One static memory operation of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemOp {
    /// The kind of the operation.
    pub kind: OpKind,
    /// Bytes accessed; for the vector forms with lanes, bytes of one element. Unused by `Copy`,
    /// `Set` and `Scan`.
    pub size: u32,
    /// Lanes of the vector forms, at most 64 (the mask is 64 bits); otherwise 0.
    pub lanes: u16,
    /// Source line, 0 when unknown.
    pub line: u32,
    /// The inlined function that the line is in, as in [`Block::inlined`](crate::Block::inlined).
    pub inlined: u32,
    /// [`MemOp::ATOMIC`], [`MemOp::CONST_LEN`], [`MemOp::VOLATILE`], [`MemOp::SPECULATED`].
    pub flags: u8,
    /// Length in bytes of a `Copy`, `Set` or `Scan` with [`MemOp::CONST_LEN`]; otherwise 0.
    pub const_len: u64,
}

/// One memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub size: u64,
    /// Whether the access is a write; otherwise it is a read.
    pub write: bool,
    /// The static operation that made the access.
    pub op: OpId,
}

impl MemOp {
    /// The access is atomic.
    pub const ATOMIC: u8 = 1;
    /// The length is the constant [`MemOp::const_len`] and is not recorded.
    pub const CONST_LEN: u8 = 2;
    /// The access is volatile.
    pub const VOLATILE: u8 = 4;
    /// The compiler made the load where the source may not make it, and nothing follows from the
    /// value; or the store, which leaves the value as it was.
    pub const SPECULATED: u8 = 8;
    /// The most lanes a vector form can have.
    pub const MAX_LANES: u16 = 64;
    /// The most bytes that one operation without a length (or one lane of it) accesses; it is large
    /// because an argument passed by copy may be large. A larger size is damage, which would make
    /// analyses go over gigabytes that nobody accessed.
    pub const MAX_SIZE: u32 = 64 << 20;

    /// A load of `size` bytes.
    #[must_use]
    pub fn load(size: u32) -> Self {
        Self { kind: OpKind::Load, size, ..Self::default() }
    }

    /// A store of `size` bytes.
    #[must_use]
    pub fn store(size: u32) -> Self {
        Self { kind: OpKind::Store, size, ..Self::default() }
    }

    /// An operation of any kind, with elements of `size` bytes.
    #[must_use]
    pub fn new(kind: OpKind, size: u32, lanes: u16) -> Self {
        Self { kind, size, lanes, ..Self::default() }
    }

    /// The same operation, with a source line.
    #[must_use]
    pub fn at(self, line: u32) -> Self {
        Self { line, ..self }
    }

    /// Calls `f` with the bytes in which each operand of an execution is recorded, in order.
    #[inline]
    pub fn for_each_width(&self, mut f: impl FnMut(usize)) {
        let (masks, addresses) = match self.kind {
            OpKind::Load | OpKind::Store | OpKind::Rmw => (0, 1),
            OpKind::Copy => (0, 2 + usize::from(self.flags & Self::CONST_LEN == 0)),
            OpKind::Set | OpKind::Scan => (0, 1 + usize::from(self.flags & Self::CONST_LEN == 0)),
            OpKind::MaskedLoad
            | OpKind::MaskedStore
            | OpKind::ExpandLoad
            | OpKind::CompressStore => {
                f(ADDRESS_BYTES);
                (1, 0)
            }
            OpKind::Gather | OpKind::Scatter => (1, usize::from(self.lanes)),
        };
        (0..masks).for_each(|_| f(MASK_BYTES));
        (0..addresses).for_each(|_| f(ADDRESS_BYTES));
    }

    /// How many operands an execution records.
    #[inline]
    #[must_use]
    pub fn operand_count(&self) -> usize {
        let mut n = 0;
        self.for_each_width(|_| n += 1);
        n
    }

    /// Bytes that an execution records.
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        let mut n = 0;
        self.for_each_width(|w| n += w);
        n
    }

    /// Calls `f` for each access of one execution, in the order in which the machine makes them:
    /// only enabled lanes, the read of a copy before its write, and nothing for a length of 0. `op`
    /// is this operation's own id, which is copied into the accesses. Missing operands give no
    /// access.
    #[inline]
    pub fn expand(&self, op: OpId, operands: &[u64], mut f: impl FnMut(Access)) {
        let size = u64::from(self.size);
        let mut access = |addr, size, write| f(Access { addr, size, write, op });
        match (self.kind, operands) {
            (OpKind::Load, &[addr, ..]) => access(addr, size, false),
            (OpKind::Store, &[addr, ..]) => access(addr, size, true),
            (OpKind::Rmw, &[addr, ..]) => {
                access(addr, size, false);
                access(addr, size, true);
            }
            _ if operands.len() < self.operand_count() => {}
            (OpKind::Copy, &[to, from, ..]) => {
                if let Some(length) = self.length(&operands[2..]) {
                    access(from, length, false);
                    access(to, length, true);
                }
            }
            (OpKind::Set | OpKind::Scan, &[addr, ..]) => {
                if let Some(length) = self.length(&operands[1..]) {
                    access(addr, length, self.kind == OpKind::Set);
                }
            }
            (OpKind::Gather | OpKind::Scatter, &[mask, ref addresses @ ..]) => {
                for lane in bits(mask & self.lane_bits()) {
                    access(addresses[lane as usize], size, self.kind == OpKind::Scatter);
                }
            }
            (kind, &[first, mask, ..]) => {
                let lanes = mask & self.lane_bits();
                let lanes = match kind {
                    OpKind::ExpandLoad | OpKind::CompressStore => low_bits(lanes.count_ones()),
                    _ => lanes,
                };
                let write = matches!(kind, OpKind::MaskedStore | OpKind::CompressStore);
                for lane in bits(lanes) {
                    access(first.wrapping_add(u64::from(lane).wrapping_mul(size)), size, write);
                }
            }
            _ => {}
        }
    }

    /// Bytes of an operation with a length, which is constant or the next operand; `None` if it
    /// accesses none.
    #[inline]
    fn length(&self, next: &[u64]) -> Option<u64> {
        let length = match self.flags & Self::CONST_LEN {
            0 => next.first().copied().unwrap_or(0),
            _ => self.const_len,
        };
        Some(length).filter(|length| *length > 0)
    }

    /// Whether the operation accesses a run of bytes and has its length, recorded or constant.
    #[must_use]
    pub fn has_length(&self) -> bool {
        matches!(self.kind, OpKind::Copy | OpKind::Set | OpKind::Scan)
    }

    /// Bytes of one access of an execution; 0 if they are recorded.
    #[must_use]
    pub fn known_size(&self) -> u64 {
        if self.has_length() { self.const_len } else { u64::from(self.size) }
    }

    /// Whether the accesses of every execution are the same in number and size, whatever the
    /// operands.
    #[must_use]
    pub fn has_static_counts(&self) -> bool {
        match self.kind {
            OpKind::Load | OpKind::Store | OpKind::Rmw => true,
            _ => self.has_length() && self.flags & Self::CONST_LEN != 0,
        }
    }

    /// The low bits of a mask that stand for lanes.
    #[inline]
    fn lane_bits(&self) -> u64 {
        low_bits(self.lanes.into())
    }
}

/// So many low bits, or all.
fn low_bits(n: u32) -> u64 {
    if n < 64 { (1 << n) - 1 } else { u64::MAX }
}

/// The numbers of the bits that are set.
fn bits(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros());
        mask &= mask.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (write, address, size) of each access.
    fn expanded(op: &MemOp, operands: &[u64]) -> Vec<(bool, u64, u64)> {
        assert_eq!(op.operand_count(), operands.len());
        let mut out = Vec::new();
        op.expand(OpId::new(7), operands, |a| {
            assert_eq!(a.op, OpId::new(7));
            out.push((a.write, a.addr, a.size));
        });
        out
    }

    #[test]
    fn each_kind_of_operation_has_its_accesses() {
        let op = |kind, size, lanes| MemOp::new(kind, size, lanes);
        let fixed =
            |kind, const_len| MemOp { flags: MemOp::CONST_LEN, const_len, ..op(kind, 0, 0) };
        let (r, w) = (false, true);
        for (op, operands, expected) in [
            (MemOp::load(4), &[16][..], &[(r, 16, 4)][..]),
            (MemOp::store(8), &[16], &[(w, 16, 8)]),
            (op(OpKind::Rmw, 8, 0), &[16], &[(r, 16, 8), (w, 16, 8)]),
            // A copy reads before it writes.
            (op(OpKind::Copy, 0, 0), &[100, 200, 30], &[(r, 200, 30), (w, 100, 30)]),
            (op(OpKind::Copy, 0, 0), &[100, 200, 0], &[]),
            (fixed(OpKind::Copy, 24), &[100, 200], &[(r, 200, 24), (w, 100, 24)]),
            (op(OpKind::Set, 0, 0), &[100, 30], &[(w, 100, 30)]),
            (op(OpKind::Set, 0, 0), &[100, 0], &[]),
            (fixed(OpKind::Set, 5), &[100], &[(w, 100, 5)]),
            (op(OpKind::Scan, 0, 0), &[100, 30], &[(r, 100, 30)]),
            (fixed(OpKind::Scan, 5), &[100], &[(r, 100, 5)]),
            (op(OpKind::MaskedLoad, 4, 4), &[100, 0b1010], &[(r, 104, 4), (r, 112, 4)]),
            // Bits above the lanes mean nothing.
            (op(OpKind::MaskedLoad, 4, 4), &[100, 0xf0], &[]),
            (op(OpKind::ExpandLoad, 4, 8), &[100, 0b1010_0000], &[(r, 100, 4), (r, 104, 4)]),
            (op(OpKind::Gather, 8, 3), &[0b101, 10, 20, 30], &[(r, 10, 8), (r, 30, 8)]),
            (op(OpKind::Scatter, 8, 1), &[1, 10], &[(w, 10, 8)]),
        ] {
            assert_eq!(expanded(&op, operands), expected, "{op:?} {operands:?}");
        }
        for kind in [OpKind::MaskedStore, OpKind::CompressStore] {
            assert_eq!(expanded(&op(kind, 4, 64), &[0, u64::MAX]).len(), 64);
        }
    }

    #[test]
    fn missing_operands_give_no_access() {
        for &kind in OpKind::ALL {
            let op = MemOp::new(kind, 8, 2);
            let mut n = 0;
            op.expand(OpId::new(0), &[], |_| n += 1);
            assert_eq!(n, 0, "{kind:?}");
        }
    }
}

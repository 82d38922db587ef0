//! The operands of a block's record.

use contech_program::MemOp;

/// Reads the low 48 bits of a little-endian value at `at`.
#[inline]
#[must_use]
pub fn u48(payload: &[u8], at: usize) -> u64 {
    if let Some(b) = payload.get(at..at + 8) {
        let mut v = [0; 8];
        v.copy_from_slice(b);
        return u64::from_le_bytes(v) & 0xffff_ffff_ffff;
    }
    payload[at.min(payload.len())..]
        .iter()
        .take(6)
        .enumerate()
        .fold(0, |v, (i, b)| v | u64::from(*b) << (8 * i))
}

/// Appends the operands of one block execution to `out`, in program order. Addresses and lengths
/// are zero-extended from 48 bits; masks are whole.
pub fn operands(payload: &[u8], offset: u32, ops: &[MemOp], out: &mut Vec<u64>) {
    let mut at = offset as usize;
    for op in ops {
        op.for_each_width(|width| {
            let value = if width == 6 {
                u48(payload, at)
            } else {
                u48(payload, at) | (u48(payload, at + 6) & 0xffff) << 48
            };
            out.push(value);
            at += width;
        });
    }
}

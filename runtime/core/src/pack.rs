//! Packs records: what equals the bytes a little before is left out, and so are zeros.
//!
//! Records of a loop are as long as those of the turn before, and differ from them in a few bytes;
//! numbers have leading zeros. To pack a byte takes a tenth or two of a nanosecond, which is about
//! what the kernel takes less for what is not written. The instructions for it belong to the
//! processor, so [`contech_interpose::arch`] has the packer.

pub(crate) use contech_interpose::arch::pack;

#[cfg(test)]
mod tests {
    use super::*;
    use contech_trace::pack::{GROUP, unpack};

    /// Records of a loop: a path id, a pointer that moves by a constant, and a number that looks
    /// random.
    fn records(period: usize, seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed;
        let mut bytes = Vec::new();
        for turn in 0.. {
            if bytes.len() >= length {
                break;
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let words = [0x5555_0001_u64, 0x7fff_1000 + 24 * turn, state >> 33];
            let record: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            bytes.extend(&record[..period.min(record.len())]);
        }
        bytes.truncate(length);
        bytes
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let mut packed = Vec::new();
        let mut raw = Vec::new();
        for seed in 0..200u64 {
            let length = (seed * 7919 % 300_000) as usize;
            let period = 1 + (seed % 24) as usize;
            let mut bytes = records(period, seed, length);
            // Some have a stretch of noise, some one of zeros.
            let (a, b) = (length / 3, length / 2);
            for (i, byte) in bytes[a..b].iter_mut().enumerate() {
                *byte = match seed % 3 {
                    0 => 0,
                    1 => (i as u64 * (seed | 1)).wrapping_mul(0x9e37_79b9).to_le_bytes()[1],
                    _ => *byte,
                };
            }
            let shorter = pack(&bytes, &mut packed);
            // Nothing was packed, or the processor has no instructions for it.
            if packed.is_empty() {
                continue;
            }
            assert!(shorter || length < 2 * GROUP || packed.len() >= length, "{seed}");
            unpack(&packed, length, &mut raw).unwrap();
            assert!(raw == bytes, "seed {seed}: {length} bytes");
        }
    }

    #[test]
    fn the_records_of_a_loop_take_a_third() {
        let bytes = records(22, 1, 1 << 20);
        let mut packed = Vec::new();
        if pack(&bytes, &mut packed) {
            assert!(packed.len() < bytes.len() * 2 / 5, "{}", packed.len());
        }
    }
}

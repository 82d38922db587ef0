//! The bytes of long values, in planes.

/// The bytes of long values: the first ones, the second ones, and the others; each with room for 8-byte loads at its end.
#[derive(Debug, Default)]
pub(super) struct Long {
    pub(super) planes: [Vec<u8>; 3],
    at: [usize; 3],
}

impl Long {
    /// Adds the room.
    pub(super) fn begin(&mut self) {
        self.at = [0; 3];
        for plane in &mut self.planes {
            plane.resize(plane.len() + 8, 0);
        }
    }

    /// All bytes were taken, and no more.
    pub(super) fn is_done(&self) -> bool {
        self.planes
            .iter()
            .zip(self.at)
            .all(|(p, at)| p.len() == at + 8)
    }

    /// The next value of `n` bytes, 1 to 8; all 0 beyond the end.
    #[inline]
    pub(super) fn next(&mut self, n: usize) -> u64 {
        let [first, second, rest] = &self.planes;
        let byte = |plane: &[u8], at: usize| u64::from(plane.get(at).copied().unwrap_or(0));
        let mut value = byte(first, self.at[0]);
        self.at[0] += 1;
        if n > 1 {
            value |= byte(second, self.at[1]) << 8;
            self.at[1] += 1;
        }
        if n > 2 {
            value |= load(rest, self.at[2], n - 2) << 16;
            self.at[2] += n - 2;
        }
        value
    }

    /// The same with all bytes in the last plane (version 1).
    #[inline]
    pub(super) fn next_v1(&mut self, n: usize) -> u64 {
        let value = load(&self.planes[2], self.at[2], n);
        self.at[2] += n;
        value
    }
}

/// `n` bytes (1 to 8) at a place of a plane that has room for 8-byte loads at its end; beyond it, anything.
#[inline]
fn load(plane: &[u8], at: usize, n: usize) -> u64 {
    let last = plane.len() - 8;
    let word = plane[at.min(last)..].first_chunk::<8>();
    word.map_or(0, |w| u64::from_le_bytes(*w)) & (u64::MAX >> (64 - 8 * n))
}

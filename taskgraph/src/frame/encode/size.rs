//! Decides how large frames become. What repeats often does so further apart than a small frame
//! reaches.

use crate::codec::Packer;
use crate::error::Result;
use crate::frame::{FULL_REPEATING, FULL_VALUES};

/// Number of small frames until large ones are tried again. It doubles each time, up to
/// [`MOST_SMALL`].
const FIRST_SMALL: u32 = 4;
const MOST_SMALL: u32 = 64;
/// Number of large frames until one is judged again.
const LARGE: u32 = 16;
/// Large frames must save more than one byte for each group of this many values.
const LEAST: usize = 16;
/// Number of small frames that a large frame would be.
const PARTS: usize = FULL_REPEATING / FULL_VALUES;

/// The size of the next frames.
#[derive(Debug)]
pub(super) struct Size {
    large: bool,
    /// Number of frames until the size is judged again.
    left: u32,
    /// Number of small frames after the next try.
    small: u32,
}

impl Default for Size {
    fn default() -> Self {
        Self { large: true, left: 0, small: FIRST_SMALL }
    }
}

impl Size {
    /// Number of values of a full frame.
    #[inline]
    pub(super) fn values(&self) -> usize {
        if self.large { FULL_REPEATING } else { FULL_VALUES }
    }

    /// Judges the size after a frame with this many values, whose planes have these lengths and
    /// were packed to this many bytes. When it is time to find out whether a large frame saves
    /// bytes, a part of the frame is packed, too.
    pub(super) fn judge(
        &mut self,
        values: usize,
        (planes, lengths): (&[u8], &[usize]),
        packed: usize,
        packer: &mut Packer,
    ) -> Result<()> {
        if values < self.values() {
            return Ok(());
        }
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        if !self.large {
            self.large = true;
            return Ok(());
        }
        // The last part of each plane is what a smaller frame would have of the plane.
        let (mut part, mut rest) = (Vec::new(), planes);
        for length in lengths {
            let (plane, after) = rest.split_at(rest.len().min(*length));
            part.extend_from_slice(&plane[plane.len() - plane.len() / PARTS..]);
            rest = after;
        }
        let alone = PARTS * packer.pack(&part, &mut Vec::new())?;
        let saved = alone.saturating_sub(packed);
        self.large = saved > alone / 5 && saved > values / LEAST;
        self.left = if self.large { LARGE } else { self.small };
        self.small = if self.large { FIRST_SMALL } else { (2 * self.small).min(MOST_SMALL) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a plane of random bytes that repeat after `period`, and judges it once.
    fn values_after_a_frame(period: usize) -> usize {
        let mut x = 1u64;
        let mut plane = Vec::with_capacity(FULL_REPEATING);
        for i in 0..FULL_REPEATING {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = x.to_be_bytes()[0];
            plane.push(if i < period { random } else { plane[i - period] });
        }
        let mut packer = Packer::new(1).unwrap();
        let packed = packer.pack(&plane, &mut Vec::new()).unwrap();
        let mut size = Size::default();
        let planes = (plane.as_slice(), &[FULL_REPEATING][..]);
        size.judge(plane.len(), planes, packed, &mut packer).unwrap();
        size.values()
    }

    #[test]
    fn frames_are_large_where_what_repeats_is_further_apart_than_a_small_one_reaches() {
        assert_eq!(values_after_a_frame(FULL_REPEATING / 3), FULL_REPEATING);
        assert_eq!(values_after_a_frame(FULL_VALUES / 50), FULL_VALUES);
        assert_eq!(values_after_a_frame(FULL_REPEATING), FULL_VALUES);
    }
}

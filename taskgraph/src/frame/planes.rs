//! The values of a frame: a tag each, and the bytes that do not fit in it in planes (the lowest ones, the next lowest, the
//! others), each of which compresses better by itself.

use crate::frame::tag;

/// Bytes a value leaves in each plane, at most.
const MOST: [usize; 4] = [1, 1, 1, 6];
/// What is written at a time in the last plane, wherever the value ends.
const WORD: usize = 8;

/// Tags and planes.
#[derive(Debug, Default)]
pub(super) struct Planes {
    planes: [Plane; 4],
    /// Values there is room for.
    room: usize,
}

/// Bytes up to `len` count; those after it are room, so that a value is stored without asking for its length.
#[derive(Debug, Default)]
struct Plane {
    bytes: Vec<u8>,
    len: usize,
}

impl Planes {
    /// Makes room for so many values.
    #[inline]
    pub(super) fn reserve(&mut self, values: usize) {
        if self.room < values {
            self.grow(values);
        }
        self.room -= values;
    }

    #[cold]
    fn grow(&mut self, values: usize) {
        let values = values.next_power_of_two().max(1024);
        for (plane, most) in self.planes.iter_mut().zip(MOST) {
            let needed = plane.len + values * most + WORD;
            plane.bytes.resize(plane.bytes.len().max(needed), 0);
        }
        self.room = values;
    }

    /// Appends a value. There must be room.
    #[inline]
    pub(super) fn put(&mut self, coded: u64) {
        let word = coded.to_le_bytes();
        let [tags, first, second, rest] = &mut self.planes;
        let long = coded >= u64::from(tag::LONG);
        let bytes = (71 - (coded | 1).leading_zeros()) / 8;
        let long_tag = tag::LONG - 1 + bytes.to_le_bytes()[0];
        tags.bytes[tags.len] = if long { long_tag } else { word[0] };
        tags.len += 1;
        first.bytes[first.len] = word[0];
        first.len += usize::from(long);
        second.bytes[second.len] = word[1];
        second.len += usize::from(long & (bytes > 1));
        if let Some(room) = rest.bytes[rest.len..].first_chunk_mut::<WORD>() {
            *room = (coded >> 16).to_le_bytes();
        }
        // A value that fits in a tag has one byte.
        rest.len += bytes.saturating_sub(2) as usize;
    }

    /// How many values there are.
    #[inline]
    pub(super) fn values(&self) -> usize {
        self.planes[0].len
    }

    /// Tags and planes, as columns.
    pub(super) fn columns(&self) -> [&[u8]; 4] {
        self.planes.each_ref().map(|p| &p.bytes[..p.len])
    }

    pub(super) fn clear(&mut self) {
        self.planes.iter_mut().for_each(|p| p.len = 0);
        self.room = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_leaves_as_many_bytes_as_it_has() {
        let mut planes = Planes::default();
        for coded in [0, 247, 248, 255, 256, 0x1_0000, 0x0102_0304_0506_0708] {
            planes.reserve(1);
            planes.put(coded);
        }
        let columns: [&[u8]; 4] = [
            &[0, 247, 248, 248, 249, 250, 255],
            &[248, 255, 0, 0, 8],
            &[1, 0, 7],
            &[1, 6, 5, 4, 3, 2, 1],
        ];
        assert_eq!(planes.columns(), columns);
        assert_eq!(planes.values(), 7);
        planes.clear();
        assert!(planes.columns().iter().all(|c| c.is_empty()));
    }
}

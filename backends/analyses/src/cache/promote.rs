//! Moving a line to the front of a short list: what exact LRU caches spend most of their time with.

/// A way to move a line to the front.
pub(super) trait Promote: Copy {
    /// Moves a line that is not at the front of its list to the front; returns its old position, or
    /// `W` if it was not in the list. What was in front of it moves back by one place.
    fn promote<const W: usize>(self, list: &mut [u32; W], id: u32) -> usize;
}

/// One number after the other. (Without branches this is slower, because misses and hits come in
/// streaks.)
#[derive(Clone, Copy, Debug)]
pub(super) struct OneByOne;

impl Promote for OneByOne {
    #[inline(always)]
    fn promote<const W: usize>(self, list: &mut [u32; W], id: u32) -> usize {
        let mut moving = std::mem::replace(&mut list[0], id);
        for (position, slot) in list.iter_mut().enumerate().skip(1) {
            std::mem::swap(slot, &mut moving);
            if moving == id {
                return position;
            }
        }
        W
    }
}

/// Eight numbers at a time, where the processor has AVX2 and the list has 8 or 16. (Four at a time
/// are not faster.)
#[cfg(target_arch = "x86_64")]
pub(super) use pulp::x86::V3 as Vectors;

#[cfg(target_arch = "x86_64")]
impl Promote for Vectors {
    #[inline(always)]
    fn promote<const W: usize>(self, list: &mut [u32; W], id: u32) -> usize {
        use pulp::bytemuck::cast;
        use std::arch::x86_64::__m256i;

        const PLACES: [i32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        const BEFORE: [i32; 8] = [7, 0, 1, 2, 3, 4, 5, 6];
        let Self { avx, avx2, .. } = self;
        let (chunks, rest) = list.as_chunks_mut::<8>();
        if W > 16 || !rest.is_empty() {
            return OneByOne.promote(list, id);
        }
        let new = avx._mm256_set1_epi32(id.cast_signed());
        let mut position = W;
        for (at, chunk) in chunks.iter().enumerate().rev() {
            let known = avx2._mm256_cmpeq_epi32(cast(*chunk), new);
            let known = avx._mm256_movemask_ps(cast(known));
            if known != 0 {
                position = at * 8 + known.trailing_zeros() as usize;
            }
        }
        let last = avx._mm256_set1_epi32(i32::try_from(position).unwrap_or(0));
        let mut before = new;
        for (chunk, places) in chunks.iter_mut().zip(PLACES.as_chunks::<8>().0) {
            let old: __m256i = cast(*chunk);
            let turned = avx2._mm256_permutevar8x32_epi32(old, cast(BEFORE));
            let moved = avx2._mm256_blend_epi32::<1>(turned, before);
            let stays = avx2._mm256_cmpgt_epi32(cast(*places), last);
            *chunk = cast(avx2._mm256_blendv_epi8(moved, old, stays));
            before = turned;
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The lists and positions after look-ups, each way.
    fn lists<const W: usize>(how: impl Promote, ids: &[u32]) -> Vec<(usize, [u32; W])> {
        let mut list = [0; W];
        let mut look_up = |&id| match list[0] == id {
            true => (0, list),
            false => (how.promote(&mut list, id), list),
        };
        ids.iter().map(&mut look_up).collect()
    }

    #[cfg(target_arch = "x86_64")]
    proptest! {
        #[test]
        fn eight_at_a_time_move_what_one_by_one_moves(ids in prop::collection::vec(1u32..24, 0..200)) {
            if let Some(vectors) = Vectors::try_new() {
                prop_assert_eq!(lists::<4>(vectors, &ids), lists::<4>(OneByOne, &ids));
                prop_assert_eq!(lists::<8>(vectors, &ids), lists::<8>(OneByOne, &ids));
                prop_assert_eq!(lists::<16>(vectors, &ids), lists::<16>(OneByOne, &ids));
            }
        }
    }
}

//! Packs bytes, with AVX-512. `contech_trace::pack` says how and reads them; its numbers must be
//! those of this file, which the tests of the runtime's `pack` show.

#![allow(
    clippy::cast_possible_truncation,
    reason = "distances, and counts of the bytes of a group, are below 256"
)]

use std::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_maskz_mov_epi8,
    _mm512_storeu_si512, _mm512_test_epi8_mask, _mm512_xor_si512,
};

/// Bytes that are packed as one, which a vector holds.
const GROUP: usize = 64;
/// Bytes of a group's head: its distance, and which of its bytes differ.
const HEAD: usize = 9;
/// The least distance but 0.
const LEAST: usize = 8;

/// The groups of so many bytes have the same distances to choose from.
const STRETCH: usize = 128 << 10;
/// Distances from which each group of a stretch has the best.
const CHOICE: usize = 4;
/// Groups of a stretch by which the distances are chosen.
const SAMPLES: usize = 16;
/// Distances are below this.
const MOST: usize = 128;

/// Packs `raw` into `packed`. Returns false if `packed` is not shorter, or the processor lacks the
/// instructions.
#[must_use]
pub fn pack(raw: &[u8], packed: &mut Vec<u8>) -> bool {
    let able = is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("popcnt");
    packed.clear();
    if able {
        // SAFETY: the processor has these instructions.
        unsafe { groups(raw, packed) };
    }
    able && packed.len() < raw.len()
}

#[target_feature(enable = "avx512bw,avx512vbmi2,popcnt")]
fn groups(raw: &[u8], packed: &mut Vec<u8>) {
    let n = raw.len() / GROUP;
    packed.reserve((HEAD + GROUP) * n + GROUP);
    let mut choice = [0; CHOICE];
    for group in 0..n {
        let from = group * GROUP;
        if from.is_multiple_of(STRETCH) {
            // SAFETY: `raw` has so many groups.
            choice = unsafe { distances(raw, group, (n - group).min(STRETCH / GROUP)) };
        }
        // Which distance is best cannot be predicted, so there is no branch.
        // SAFETY: `raw` has this group.
        let counts = choice.map(|d| unsafe { difference(raw, from, d) }.1.count_ones());
        let best = (0..CHOICE).fold(u32::MAX, |best, i| best.min(counts[i] << 8 | i as u32));
        let distance = choice[best as usize % CHOICE];
        // SAFETY: as above.
        let (bytes, mask) = unsafe { difference(raw, from, distance) };
        let distance = if distance > from { 0 } else { distance };
        // SAFETY: there is room for this group and all before it, and for a whole vector at its
        // bytes.
        unsafe {
            let out = packed.as_mut_ptr().add(packed.len());
            out.write(distance as u8);
            out.add(1).cast::<u64>().write_unaligned(mask.to_le());
            let bytes = _mm512_maskz_compress_epi8(mask, bytes);
            _mm512_storeu_si512(out.add(HEAD).cast(), bytes);
            packed.set_len(packed.len() + HEAD + mask.count_ones() as usize);
        }
    }
    packed.extend_from_slice(&raw[n * GROUP..]);
}

/// The distances that serve a sample of the `n` groups from `first` on best, the best first.
///
/// # Safety
/// These groups are in `raw`.
#[target_feature(enable = "avx512bw,avx512vbmi2,popcnt")]
unsafe fn distances(raw: &[u8], first: usize, n: usize) -> [usize; CHOICE] {
    let mut counts = [[GROUP as u8; SAMPLES]; MOST];
    for distance in std::iter::once(0).chain(LEAST..MOST) {
        for (sample, count) in counts[distance].iter_mut().enumerate() {
            let from = (first + sample * n / SAMPLES) * GROUP;
            // SAFETY: the caller has these groups.
            *count = unsafe { difference(raw, from, distance) }.1.count_ones() as u8;
        }
    }
    let (mut chosen, mut best) = ([0; CHOICE], [GROUP as u8; SAMPLES]);
    for chosen in &mut chosen {
        let with = |d: &usize| -> u16 {
            let each = counts[*d].iter().zip(&best);
            each.map(|(a, b)| u16::from(*a.min(b))).sum()
        };
        *chosen = (0..MOST).min_by_key(with).unwrap_or(0);
        for (best, count) in best.iter_mut().zip(&counts[*chosen]) {
            *best = (*best).min(*count);
        }
    }
    chosen
}

/// How the group at `from` differs from the bytes that stand `distance` before, and where. At a
/// distance of 0, and where there are not so many bytes, it is compared with zeros.
///
/// # Safety
/// The whole group is in `raw`.
#[target_feature(enable = "avx512bw,avx512vbmi2,popcnt")]
#[inline]
unsafe fn difference(raw: &[u8], from: usize, distance: usize) -> (__m512i, u64) {
    let back = if distance > from { 0 } else { distance };
    let compared = if back == 0 { 0 } else { u64::MAX };
    // SAFETY: the group is there, and so is what stands before it.
    let (group, before) = unsafe {
        let group = raw.as_ptr().add(from);
        (_mm512_loadu_si512(group.cast()), _mm512_loadu_si512(group.sub(back).cast()))
    };
    let bytes = _mm512_xor_si512(group, _mm512_maskz_mov_epi8(compared, before));
    (bytes, _mm512_test_epi8_mask(bytes, bytes))
}

//! How many bytes of a text a call of the C library reads, where neither its arguments nor its
//! result say so. The instrumented code asks in front of the call or behind it, and the texts are
//! those of the call.

use contech_trace::abi::{Ptr, Word};

/// Exported as `__contech_text`.
pub(crate) unsafe extern "C" fn text(at: Ptr, limit: Word) -> Word {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if at.is_null() || limit == 0 {
        return 0;
    }
    // SAFETY: the program hands the library a text that ends with a 0 or is at least `limit` bytes
    // long.
    let length = unsafe { libc::strnlen(at.cast(), limit) };
    length.saturating_add(1).min(limit) as Word
}

/// Bytes that are compared at once, and the least that a page has.
const WORD: usize = 8;
const PAGE: usize = 4096;

/// Whether the next word of two texts is the same and ends neither. False where a word may be in
/// two pages.
unsafe fn are_same(a: Ptr, b: Ptr) -> bool {
    let fits = |at: Ptr| at.addr() % PAGE <= PAGE - WORD;
    if !fits(a) || !fits(b) {
        return false;
    }
    // SAFETY: the first byte of each word is part of its text, and the word is in one page.
    let (a, b) = unsafe { (a.cast::<u64>().read_unaligned(), b.cast::<u64>().read_unaligned()) };
    let (ones, tops) = (u64::MAX / 255, (u64::MAX / 255) << 7);
    a == b && a.wrapping_sub(ones) & !a & tops == 0
}

/// Exported as `__contech_alike`.
pub(crate) unsafe extern "C" fn alike(a: Ptr, b: Ptr, limit: Word, fold: Word) -> Word {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut n = 0;
    while n < limit {
        // SAFETY: as below, and words within one page are there if their first bytes are.
        while fold == 0 && limit - n >= WORD && unsafe { are_same(a.add(n), b.add(n)) } {
            n += WORD;
        }
        if n == limit {
            break;
        }
        // SAFETY: neither text has ended before byte `n`, and the library compares them up to a
        // difference.
        let (a, b) = unsafe { (a.add(n).read(), b.add(n).read()) };
        n += 1;
        let equal = a == b || fold != 0 && a.eq_ignore_ascii_case(&b);
        if !equal || a == 0 {
            break;
        }
    }
    n as Word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(text: &[u8]) -> Ptr {
        text.as_ptr().cast_mut()
    }

    #[test]
    fn a_text_is_read_with_its_end_and_no_further_than_its_limit() {
        // SAFETY: each text ends with a 0 or has `limit` bytes.
        let of = |s: &[u8], limit| unsafe { text(pointer(s), limit) };
        assert_eq!(of(b"four\0more", Word::MAX), 5);
        assert_eq!(of(b"four\0more", 5), 5);
        assert_eq!(of(b"four", 4), 4);
        assert_eq!(of(b"", 0), 0);
        // SAFETY: nothing is read of no text.
        assert_eq!(unsafe { text(std::ptr::null_mut(), 9) }, 0);
    }

    #[test]
    fn texts_are_compared_up_to_the_first_difference() {
        let of = |a: &[u8], b: &[u8], limit, fold| {
            // SAFETY: the texts differ, end or reach `limit` within their bytes.
            unsafe { alike(pointer(a), pointer(b), limit, fold) }
        };
        assert_eq!(of(b"same\0", b"same\0", Word::MAX, 0), 5);
        assert_eq!(of(b"one", b"other", Word::MAX, 0), 2);
        assert_eq!(of(b"One\0", b"oNe\0", Word::MAX, 1), 4);
        assert_eq!(of(b"One", b"oNe", Word::MAX, 0), 1);
        assert_eq!(of(b"abc", b"abc", 2, 0), 2);
        // By words, whatever the place of the difference or of the end.
        for length in 0..40 {
            for end in 0..length {
                let (mut one, mut other) = ([b'x'; 64], [b'x'; 64]);
                let limit = length as Word;
                assert_eq!(of(&one, &other, limit, 0), limit);
                other[end] = b'y';
                assert_eq!(of(&one, &other, limit, 0), end as Word + 1);
                (one[end], other[end]) = (0, 0);
                assert_eq!(of(&one, &other, Word::MAX, 0), end as Word + 1);
            }
        }
    }
}

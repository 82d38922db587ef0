//! Sizes as users write them: `4096`, `64K`, `1M`, `2G`, and shares of memory: `90%`.

/// Parses a size in bytes; `K`, `M`, `G` (either case) are powers of two.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Parses a size or a share (`90%`) of `whole` bytes.
#[must_use]
pub fn parse_share(text: &str, whole: u64) -> Option<u64> {
    match text.trim().strip_suffix('%') {
        Some(percent) => {
            let percent = percent.parse::<u64>().ok().filter(|p| *p <= 100)?;
            Some(whole / 100 * percent)
        }
        None => parse(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two() {
        assert_eq!(parse("4096"), Some(4096));
        assert_eq!(parse("64k"), Some(64 << 10));
        assert_eq!(parse(" 3M "), Some(3 << 20));
        assert_eq!(parse("2G"), Some(2 << 30));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "K", "-1", "+1", "1.5M", "1T", "99999999999G", "é"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse_share("101%", 100), None);
        assert_eq!(parse_share("x%", 100), None);
    }

    #[test]
    fn a_share_is_of_the_whole() {
        assert_eq!(parse_share("90%", 1000), Some(900));
        assert_eq!(parse_share("1K", 1000), Some(1024));
    }
}

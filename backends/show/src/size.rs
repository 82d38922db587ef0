//! Byte sizes as people type them: `64`, `32K`, `8M`, `1G`, lists `32K,1M` and doubling ranges
//! `1K..256M`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A number of bytes; `K`, `M` and `G` are powers of two. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

impl Size {
    /// The size in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.0
    }

    /// `bytes` as it would be typed: `32K`.
    #[must_use]
    pub fn text(bytes: u64) -> String {
        Self(bytes).to_string()
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match contech_plain::size::parse(text) {
            Some(0) => Err(format!("'{text}' is zero; a size is at least 1")),
            Some(bytes) => Ok(Self(bytes)),
            None => Err(format!(
                "'{text}' is not a size; write a whole number below 2^64 with an optional K, M or G, e.g. 32K"
            )),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self.0 {
            0 => "0".to_owned(),
            n if n % (1 << 30) == 0 => format!("{}G", n >> 30),
            n if n % (1 << 20) == 0 => format!("{}M", n >> 20),
            n if n % (1 << 10) == 0 => format!("{}K", n >> 10),
            n => n.to_string(),
        })
    }
}

/// A sorted list of distinct sizes, typed as `1K..256M` (every doubling, both ends included),
/// `32K,1M`, or a mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Vec<Size>);

impl Sizes {
    /// These sizes; `None` if there are none.
    #[must_use]
    pub fn of(sizes: impl Iterator<Item = Size>) -> Option<Self> {
        let sizes: BTreeSet<Size> = sizes.collect();
        (!sizes.is_empty()).then(|| Self(sizes.into_iter().collect()))
    }

    /// The sizes, ascending and distinct; never empty.
    #[must_use]
    pub fn as_slice(&self) -> &[Size] {
        &self.0
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for item in text.split(',') {
            let Some((low, high)) = item.split_once("..") else {
                sizes.push(item.parse()?);
                continue;
            };
            let (low, high): (Size, Size) = (low.parse()?, high.parse()?);
            if low > high {
                return Err(format!("the range '{item}' is reversed; write {high}..{low}"));
            }
            let doublings = std::iter::successors(Some(low.0), |size| size.checked_mul(2));
            sizes.extend(doublings.take_while(|&size| size <= high.0).map(Size));
        }
        Self::of(sizes.into_iter()).ok_or_else(|| "name a size, e.g. 32K".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u64> {
        let sizes: Sizes = text.parse().expect(text);
        sizes.as_slice().iter().map(|size| size.bytes()).collect()
    }

    #[test]
    fn a_range_doubles_and_includes_both_ends() {
        assert_eq!(bytes("1K..8K"), [1024, 2048, 4096, 8192]);
        assert_eq!(bytes("1K..256M").len(), 19);
        assert_eq!(bytes("8G..8G"), [8 << 30]);
    }

    #[test]
    fn lists_are_sorted_and_distinct() {
        assert_eq!(bytes("1m,32k,1K..2K,2K"), [1024, 2048, 32768, 1 << 20]);
    }

    #[test]
    fn nonsense_is_refused_with_the_reason() {
        for (text, reason) in [
            ("0", "is zero"),
            ("0K..1M", "is zero"),
            ("8K..1K", "reversed"),
            ("", "is not a size"),
            ("1K..", "is not a size"),
        ] {
            let error = text.parse::<Sizes>().expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_size_prints_as_it_is_typed() {
        for text in ["1", "1000", "32K", "3M", "1G"] {
            assert_eq!(text.parse::<Size>().expect(text).to_string(), text);
        }
    }
}

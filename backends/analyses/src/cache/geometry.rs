//! Which caches to model: sizes, ways and the line size, which are checked before anything runs.

use std::fmt;
use std::str::FromStr;

use anyhow::{Result, bail};
use serde::{Serialize, Serializer};

use crate::size::{Size, Sizes};

/// The most ways that a set-associative configuration may have; for more, use `full`.
const MAX_WAYS: u32 = 1024;

/// Associativity of a cache. In JSON it is a number, or the string `"full"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ways {
    /// Lines per set; 1 is direct-mapped.
    Set(u32),
    /// One set that holds all lines.
    Full,
}

impl FromStr for Ways {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "full" {
            return Ok(Self::Full);
        }
        match text.parse() {
            Ok(ways @ 1..=MAX_WAYS) => Ok(Self::Set(ways)),
            _ => Err(format!("'{text}' is not a number of ways; write 1 to {MAX_WAYS}, or full")),
        }
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(ways) => fmt::Display::fmt(ways, f),
            Self::Full => f.pad("full"),
        }
    }
}

impl Serialize for Ways {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(ways) => serializer.serialize_u32(*ways),
            Self::Full => serializer.serialize_str("full"),
        }
    }
}

/// One cache: its size in bytes and its ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Capacity in bytes.
    pub size: u64,
    /// Capacity in lines.
    pub lines: u64,
    /// Associativity.
    pub ways: Ways,
}

impl Geometry {
    /// Number of sets of the cache: a power of two, or 1 if it is fully associative.
    pub(crate) fn sets(&self) -> u64 {
        match self.ways {
            Ways::Set(ways) => self.lines / u64::from(ways),
            Ways::Full => 1,
        }
    }
}

/// All caches of a run: every size with every number of ways.
#[derive(Clone, Debug)]
pub struct Geometries {
    /// Log2 of the line size in bytes.
    pub line_shift: u32,
    /// The caches, ordered by ways, then by size.
    pub all: Vec<Geometry>,
}

impl Geometries {
    /// Combines sizes and ways.
    ///
    /// # Errors
    /// When the line is not a power of two from 4 to 65536 bytes, a size is not a whole number of
    /// lines, a cache has more ways than lines, or its sets are not a power of two.
    pub fn new(sizes: &Sizes, ways: &[Ways], line: Size) -> Result<Self> {
        let bytes = line.bytes();
        if !bytes.is_power_of_two() || !(4..=65536).contains(&bytes) {
            bail!("--line {line}: a cache line is a power of two from 4 to 65536 bytes");
        }
        let mut ways = ways.to_vec();
        ways.sort_unstable();
        ways.dedup();
        let mut all = Vec::new();
        for &ways in &ways {
            for &size in sizes.as_slice() {
                all.push(geometry(size, ways, line)?);
            }
        }
        Ok(Self { line_shift: bytes.trailing_zeros(), all })
    }
}

fn geometry(size: Size, ways: Ways, line: Size) -> Result<Geometry> {
    let lines = size.bytes() / line.bytes();
    if !size.bytes().is_multiple_of(line.bytes()) {
        bail!("--sizes {size} is not a whole number of {line}-byte lines");
    }
    if lines > 1 << 32 {
        bail!("--sizes {size} is more than 2^32 lines of {line} bytes; model a smaller cache");
    }
    if let Ways::Set(count) = ways {
        if u64::from(count) > lines {
            bail!(
                "--ways {count} is more than the {lines} lines of a {size} cache with {line}-byte lines; use fewer ways, a larger size, or full"
            );
        }
        let sets = lines / u64::from(count);
        if !lines.is_multiple_of(u64::from(count)) || !sets.is_power_of_two() {
            bail!(
                "--sizes {size} with --ways {count} and {line}-byte lines has {lines}/{count} sets, which is not a power of two"
            );
        }
    }
    Ok(Geometry { size: size.bytes(), lines, ways })
}

//! Small numbers for lines, so that caches of any size can store 4 bytes for a line instead of 8,
//! and tables about lines are arrays.

use rustc_hash::FxHashMap;

/// Log2 of the pages of a region.
const REGION_SHIFT: u32 = 12;
const PAGES: usize = 1 << REGION_SHIFT;
/// Number of entries in the table of recently used regions.
const RECENT: usize = 64;

/// Numbers of lines, from 64 on in the order in which their pages appear. 0 is the number of no
/// line.
#[derive(Clone, Debug)]
pub(crate) struct LineIds {
    number: FxHashMap<u64, u32>,
    /// By region and page: the number of the page, or 0 if it has none yet.
    regions: Vec<Box<[u32; PAGES]>>,
    /// A region, and its place in `regions`.
    recent: [(u64, u32); RECENT],
    /// Pages numbered so far.
    pages: u32,
}

impl Default for LineIds {
    fn default() -> Self {
        Self {
            number: FxHashMap::default(),
            regions: Vec::new(),
            // No line has this region, which is beyond 2^64.
            recent: [(u64::MAX, 0); RECENT],
            pages: 0,
        }
    }
}

impl LineIds {
    /// Log2 of the lines of a page; the lines of a page get their numbers together.
    pub(crate) const PAGE_SHIFT: u32 = 6;

    /// The number of a line. There are 2^32 numbers; beyond 256 GiB of touched lines, lines would
    /// share numbers.
    #[inline]
    pub(crate) fn id(&mut self, line: u64) -> u32 {
        let page = line >> Self::PAGE_SHIFT;
        let region = page >> REGION_SHIFT;
        let recent = &self.recent[low(region, RECENT)];
        let at = if recent.0 == region { recent.1 } else { self.find(region) };
        let number = &mut self.regions[at as usize][low(page, PAGES)];
        if *number == 0 {
            self.pages = self.pages.wrapping_add(1);
            *number = self.pages;
        }
        *number << Self::PAGE_SHIFT | (line & ((1 << Self::PAGE_SHIFT) - 1)) as u32
    }

    /// The lines of all pages that appeared, with their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let regions = self.number.iter();
        let pages = regions.flat_map(|(&region, &at)| {
            let first = region << REGION_SHIFT;
            (first..).zip(self.regions[at as usize].iter())
        });
        let numbered = pages.filter(|(_, number)| **number != 0);
        numbered.flat_map(|(page, &number)| {
            let first = page << Self::PAGE_SHIFT;
            let ids = number << Self::PAGE_SHIFT
                ..=number << Self::PAGE_SHIFT | ((1 << Self::PAGE_SHIFT) - 1);
            (first..).zip(ids)
        })
    }

    #[cold]
    fn find(&mut self, region: u64) -> u32 {
        let regions = &mut self.regions;
        let at = *self.number.entry(region).or_insert_with(|| {
            regions.push(Box::new([0; PAGES]));
            u32::try_from(regions.len() - 1).unwrap_or(0)
        });
        self.recent[low(region, RECENT)] = (region, at);
        at
    }
}

/// `value` modulo a power of two.
#[inline]
fn low(value: u64, modulus: usize) -> usize {
    usize::try_from(value % modulus as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_number_of_its_own_that_stays() {
        let mut ids = LineIds::default();
        let lines: Vec<u64> = (0..4000u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 40 + 4))
            .chain(0..500)
            .collect();
        let first: Vec<u32> = lines.iter().map(|&line| ids.id(line)).collect();
        let again: Vec<u32> = lines.iter().map(|&line| ids.id(line)).collect();
        assert_eq!(first, again);
        let mut pairs: Vec<(u64, u32)> = lines.into_iter().zip(first).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut numbers: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
        numbers.sort_unstable();
        assert!(numbers[0] >= 64 && numbers.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

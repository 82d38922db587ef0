//! Bytes of mapped address ranges, which may be unmapped in parts.

use std::collections::BTreeMap;

/// Disjoint ranges: start to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapped {
    ranges: BTreeMap<u64, u64>,
    /// Bytes in them.
    pub(super) bytes: u64,
}

impl Mapped {
    /// Maps `size` bytes at `addr`, in place of what was mapped there.
    pub(super) fn map(&mut self, addr: u64, size: u64) {
        self.unmap(addr, size);
        let end = addr.saturating_add(size);
        if end > addr {
            self.ranges.insert(addr, end);
            self.bytes += end - addr;
        }
    }

    /// Unmaps whatever is mapped of `size` bytes at `addr`.
    pub(super) fn unmap(&mut self, addr: u64, size: u64) {
        let end = addr.saturating_add(size);
        // The first range that may overlap is the last one that starts before the end.
        while let Some((&start, &stop)) = self.ranges.range(..end).next_back() {
            if stop <= addr {
                break;
            }
            self.ranges.remove(&start);
            self.bytes -= stop.min(end) - start.max(addr);
            if start < addr {
                self.ranges.insert(start, addr);
            }
            if stop > end {
                self.ranges.insert(end, stop);
            }
            if start <= addr {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn bytes_are_those_of_a_set_of_addresses() {
        let (mut mapped, mut set, mut seed) = (Mapped::default(), BTreeSet::new(), 3u64);
        for _ in 0..3000 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (addr, size) = ((seed >> 40) % 200, (seed >> 20) % 30);
            if seed >> 63 == 0 {
                mapped.map(addr, size);
                set.extend(addr..addr + size);
            } else {
                mapped.unmap(addr, size);
                set.retain(|at| !(addr..addr + size).contains(at));
            }
            assert_eq!(mapped.bytes, set.len() as u64);
        }
    }
}

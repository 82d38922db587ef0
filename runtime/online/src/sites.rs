//! Dense numbers for addresses: call sites and functions.

use std::collections::HashMap;

/// Numbers of addresses, in the order of their first appearance. A small table of the last
/// addresses comes first.
#[derive(Debug)]
pub(crate) struct Numbers {
    recent: Box<[(usize, u32); RECENT]>,
    numbers: HashMap<usize, u32>,
    known: Vec<usize>,
}

/// Marks a free entry: no code has this address.
const FREE: usize = usize::MAX;
/// The table is so large that hardly two call sites of a program share an entry.
const RECENT: usize = 1 << RECENT_BITS;
const RECENT_BITS: u32 = 12;

/// The place of the address in the table of the last addresses.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "a hash of the lower half")]
fn recent(address: usize) -> usize {
    ((address as u32).wrapping_mul(0x9e37_79b1) >> (u32::BITS - RECENT_BITS)) as usize
}

impl Default for Numbers {
    fn default() -> Self {
        Self { recent: Box::new([(FREE, 0); RECENT]), numbers: HashMap::new(), known: Vec::new() }
    }
}

impl Numbers {
    /// The number of an address, if it is in the table of the last addresses.
    #[inline(always)]
    pub(crate) fn at_once(&self, address: usize) -> Option<u32> {
        let (key, number) = self.recent[recent(address)];
        (key == address).then_some(number)
    }

    pub(crate) fn of(&mut self, address: usize) -> u32 {
        let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(address).or_insert(next);
        if number == next {
            self.known.push(address);
        }
        self.recent[recent(address)] = (address, number);
        number
    }

    /// The addresses, by number.
    pub(crate) fn all(&self) -> &[usize] {
        &self.known
    }
}

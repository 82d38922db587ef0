//! Dense numbers for addresses: call sites and functions.

/// An open hash table from addresses to numbers, in the order of their first appearance. It doubles
/// when it is a quarter full. A small table of the last addresses comes before it.
#[derive(Debug)]
pub(crate) struct Numbers {
    recent: Box<[(usize, u32); RECENT]>,
    slots: Vec<(usize, u32)>,
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
        Self {
            recent: Box::new([(FREE, 0); RECENT]),
            slots: vec![(FREE, 0); 256],
            known: Vec::new(),
        }
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
        let number = self.find_or_add(address);
        self.recent[recent(address)] = (address, number);
        number
    }

    fn find_or_add(&mut self, address: usize) -> u32 {
        let mut at = self.place(address);
        loop {
            let (key, number) = self.slots[at];
            if key == address {
                return number;
            }
            if key == FREE {
                return self.add(address);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// The addresses, by number.
    pub(crate) fn all(&self) -> &[usize] {
        &self.known
    }

    #[inline(always)]
    fn place(&self, address: usize) -> usize {
        (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) & (self.slots.len() - 1)
    }

    #[cold]
    fn add(&mut self, address: usize) -> u32 {
        let number = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        self.known.push(address);
        if self.known.len() * 4 > self.slots.len() {
            self.slots = vec![(FREE, 0); self.slots.len() * 2];
            for at in 0..self.known.len() {
                self.insert(self.known[at], u32::try_from(at).unwrap_or(u32::MAX));
            }
        } else {
            self.insert(address, number);
        }
        number
    }

    fn insert(&mut self, address: usize, number: u32) {
        let mut at = self.place(address);
        while self.slots[at].0 != FREE {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = (address, number);
    }
}

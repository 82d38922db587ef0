//! Dense numbers for addresses: call sites and functions.

/// An open hash table from addresses to the order of their first appearance; it doubles when half full.
#[derive(Debug)]
pub(crate) struct Numbers {
    slots: Vec<(usize, u32)>,
    known: Vec<usize>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            slots: vec![(0, 0); 256],
            known: Vec::new(),
        }
    }
}

impl Numbers {
    /// The number of an address.
    #[inline]
    pub(crate) fn of(&mut self, address: usize) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & mask;
        loop {
            let (key, number) = self.slots[at];
            if key == address && number > 0 {
                return number - 1;
            }
            if number == 0 {
                return self.add(address);
            }
            at = (at + 1) & mask;
        }
    }

    /// The addresses, by number.
    pub(crate) fn all(&self) -> &[usize] {
        &self.known
    }

    #[cold]
    fn add(&mut self, address: usize) -> u32 {
        self.known.push(address);
        if self.known.len() * 2 > self.slots.len() {
            self.slots = vec![(0, 0); self.slots.len() * 2];
            let known = std::mem::take(&mut self.known);
            for (number, &address) in (1u32..).zip(&known) {
                self.insert(address, number);
            }
            self.known = known;
        } else {
            let number = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
            self.insert(address, number);
        }
        u32::try_from(self.known.len() - 1).unwrap_or(u32::MAX - 1)
    }

    fn insert(&mut self, address: usize, number: u32) {
        let mask = self.slots.len() - 1;
        let mut at = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & mask;
        while self.slots[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = (address, number);
    }
}

//! Dense numbers for addresses: call sites and functions.

/// An open hash table from addresses to the order of their first appearance; it doubles when a quarter full, so that
/// nearly all are found at once.
#[derive(Debug)]
pub(crate) struct Numbers {
    slots: Vec<(usize, u32)>,
    known: Vec<usize>,
}

/// No code is there.
const FREE: usize = usize::MAX;

impl Default for Numbers {
    fn default() -> Self {
        Self {
            slots: vec![(FREE, 0); 256],
            known: Vec::new(),
        }
    }
}

impl Numbers {
    /// The number of an address, if it is where it should be.
    #[inline(always)]
    pub(crate) fn find(&self, address: usize) -> Option<u32> {
        let at = self.place(address);
        let (key, number) = self.slots[at & (self.slots.len() - 1)];
        (key == address).then_some(number)
    }

    /// The number of an address.
    pub(crate) fn of(&mut self, address: usize) -> u32 {
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

//! A number for each address: the context that a pthread handle stands for.

use std::collections::HashMap;

use crate::mask::Blocked;
use crate::primitive::Mutex;
use crate::sync::lock;

/// Numbers by address. The system reuses addresses, and the newest number counts.
#[derive(Default)]
#[allow(missing_debug_implementations, reason = "its state is of no use in text")]
pub struct Numbers(Mutex<HashMap<usize, u32>>);

impl Numbers {
    /// Makes the address stand for this number from now on.
    pub fn insert(&self, address: usize, number: u32) {
        let _blocked = Blocked::new();
        lock(&self.0).insert(address, number);
    }

    pub fn get(&self, address: usize) -> Option<u32> {
        let _blocked = Blocked::new();
        lock(&self.0).get(&address).copied()
    }

    /// Forgets the number, unless the address already stands for a newer one.
    pub fn remove(&self, address: usize, number: u32) {
        let _blocked = Blocked::new();
        let mut all = lock(&self.0);
        if all.get(&address) == Some(&number) {
            all.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_number_of_the_same_address_stays() {
        let numbers = Numbers::default();
        numbers.insert(0x7000, 1);
        numbers.insert(0x7000, 2);
        numbers.remove(0x7000, 1);
        assert_eq!(numbers.get(0x7000), Some(2));
        numbers.remove(0x7000, 2);
        assert_eq!(numbers.get(0x7000), None);
    }
}

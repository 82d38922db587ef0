//! A number for each address: the context that a pthread handle stands for, or the participants of
//! a barrier.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::mask::Blocked;
use crate::primitive::Mutex;
use crate::sync::lock;

/// Places for numbers that are found without the lock.
const RECENT: usize = 32;

/// Numbers by address. The system reuses addresses, and the newest number counts.
#[derive(Default)]
#[allow(missing_debug_implementations, reason = "its state is of no use in text")]
pub struct Numbers {
    all: Mutex<HashMap<usize, u32>>,
    /// Entries of `all` that were set or looked up last, for a look without the lock and its calls
    /// of the kernel: the address, and 16 bits for its number. The program itself orders what it
    /// does with an object, and so the thread that looks sees what was set before.
    recent: [AtomicU64; RECENT],
}

/// An address and its number in a word; 0 if they need more than that.
fn packed(address: usize, number: u32) -> u64 {
    let (address, fits) = (address as u64, u16::try_from(number).is_ok());
    if fits && address >> 48 == 0 { (address << 16) | u64::from(number) } else { 0 }
}

impl Numbers {
    fn recent(&self, address: usize) -> &AtomicU64 {
        &self.recent[((address / 8) ^ (address / (8 * RECENT))) % RECENT]
    }

    /// Makes the address stand for this number from now on.
    pub fn insert(&self, address: usize, number: u32) {
        let _blocked = Blocked::new();
        let mut all = lock(&self.all);
        all.insert(address, number);
        self.recent(address).store(packed(address, number), Relaxed);
    }

    pub fn get(&self, address: usize) -> Option<u32> {
        let recent = self.recent(address).load(Relaxed);
        if address != 0 && recent >> 16 == address as u64 {
            return Some((recent & 0xffff) as u32);
        }
        let _blocked = Blocked::new();
        let all = lock(&self.all);
        let number = all.get(&address).copied()?;
        self.recent(address).store(packed(address, number), Relaxed);
        Some(number)
    }

    /// Forgets the number, unless the address already stands for a newer one.
    pub fn remove(&self, address: usize, number: u32) {
        let _blocked = Blocked::new();
        let mut all = lock(&self.all);
        if all.get(&address) == Some(&number) {
            all.remove(&address);
            self.recent(address).store(0, Relaxed);
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

    #[test]
    fn a_number_that_does_not_fit_into_a_word_is_found() {
        let numbers = Numbers::default();
        for (address, number) in [(0x7000, 1 << 16), (1 << 48, 7), (0, 9)] {
            numbers.insert(address, number);
            assert_eq!((numbers.get(address), numbers.get(address)), (Some(number), Some(number)));
        }
    }

    #[test]
    fn addresses_with_one_place_among_the_recent_ones_keep_their_numbers() {
        let numbers = Numbers::default();
        let all = || (1..1000).map(|number| (number as usize * 8, number));
        for (address, number) in all() {
            numbers.insert(address, number);
        }
        for (address, number) in all().chain(all()) {
            assert_eq!(numbers.get(address), Some(number));
        }
        numbers.remove(80, 10);
        assert_eq!(numbers.get(80), None);
    }
}

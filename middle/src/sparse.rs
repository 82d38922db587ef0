//! A table by context number. Each entry takes few bytes where numbers are dense, and numbers in
//! between that only a damaged file names take no memory.

use std::collections::BTreeMap;

/// Number of entries that are stored together.
const GROUP: usize = 16;

/// A value for some of the numbers.
#[derive(Debug)]
pub(crate) struct Sparse<T>(BTreeMap<u32, Box<[Option<T>; GROUP]>>);

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Sparse(BTreeMap::new())
    }
}

fn place(number: u32) -> (u32, usize) {
    let within = number as usize % GROUP;
    (number / 16, within)
}

impl<T: Copy> Sparse<T> {
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        let (group, within) = place(number);
        self.0.get(&group)?[within].as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let (group, within) = place(number);
        self.0.get_mut(&group)?[within].as_mut()
    }

    pub(crate) fn set(&mut self, number: u32, value: T) {
        let (group, within) = place(number);
        let group = self.0.entry(group);
        group.or_insert_with(|| Box::new([None; GROUP]))[within] = Some(value);
    }

    /// Returns all entries by ascending number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.0.iter().flat_map(|(group, values)| {
            let numbered = (group * 16..=group * 16 + 15).zip(values.iter());
            numbered.filter_map(|(number, value)| Some((number, value.as_ref()?)))
        })
    }
}

const _: () = assert!(GROUP == 16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_number_and_listed_in_order() {
        let mut table = Sparse::default();
        for number in [17, 0, u32::MAX, 15, 16] {
            table.set(number, u64::from(number) + 1);
        }
        *table.get_mut(16).unwrap() = 5;
        assert_eq!((table.get(16), table.get(1)), (Some(&5), None));
        let all: Vec<_> = table.iter().map(|(n, v)| (n, *v)).collect();
        let last = (u32::MAX, 1 << 32);
        assert_eq!(all, [(0, 1), (15, 16), (16, 5), (17, 18), last]);
    }
}

//! Profiles with arrays: those that once held as many updates as there are call sites.

use std::ops::AddAssign;

use super::what::{NO_ARRAY, What};
use super::{Element, Pool, SPARE_ARRAYS};

impl<V: Copy + Default + PartialEq + AddAssign + AddAssign<U>, U: Copy + Default> Pool<V, U> {
    /// UNION of profiles that have arrays, or will have one.
    #[inline(never)]
    pub(super) fn unite_with_arrays(&mut self, old: What, new: What) -> What {
        self.steps += 1;
        let (mut larger, mut smaller) = (old.array(), new.array());
        if self.array(old).len() < self.array(new).len() {
            std::mem::swap(&mut larger, &mut smaller);
        }
        if smaller != NO_ARRAY {
            let values = std::mem::take(&mut self.arrays[smaller as usize]);
            for (entry, &value) in self.arrays[larger as usize].iter_mut().zip(&values) {
                *entry += value;
            }
            self.steps += values.len() as u64;
            self.arrays[smaller as usize] = values;
            self.free_array(smaller);
        }
        let what = match (old.listed(), new.listed()) {
            (_, 0) => old.with_array(larger),
            (0, _) => new.with_array(larger),
            _ => self.concatenated(old.with_array(larger), new.with_array(NO_ARRAY)),
        };
        self.flush_if_long(what)
    }

    pub(super) fn flush_if_long(&mut self, prof: What) -> What {
        if prof.listed() >= self.longest {
            self.flush(prof)
        } else {
            prof
        }
    }

    pub(super) fn array(&self, prof: What) -> &[V] {
        let array = self.arrays.get(prof.array() as usize);
        array.map_or(&[], |array| array)
    }

    /// _FLUSHLIST: moves the list into an array of the current number of call sites.
    #[inline(never)]
    pub(super) fn flush(&mut self, prof: What) -> What {
        let number = match prof.array() {
            NO_ARRAY => self.new_array(),
            number => number,
        };
        let array = &mut self.arrays[number as usize];
        if array.len() < self.sites {
            // The array could also double when a new site appears in a full profile; here the list has paid for the
            // cost.
            array.resize(self.sites, V::default());
            self.steps += self.sites as u64;
        }
        let mut at = prof.first();
        for _ in 0..prof.listed() {
            let Element { site, value, next } = self.elements[at as usize];
            array[site as usize] += value;
            at = next;
        }
        self.steps += u64::from(prof.listed());
        if prof.listed() > 0 {
            self.free_list(prof);
        }
        What::default().with_array(number)
    }

    fn new_array(&mut self) -> u32 {
        if let Some(at) = self.free_arrays.pop() {
            return at;
        }
        if self.arrays.is_empty() {
            self.arrays.push(Vec::new());
        }
        self.arrays.push(Vec::new());
        u32::try_from(self.arrays.len() - 1).expect("fewer arrays than list elements")
    }

    #[cold]
    #[inline(never)]
    pub(super) fn free_array(&mut self, number: u32) {
        let array = &mut self.arrays[number as usize];
        array.clear();
        if self.free_arrays.len() >= SPARE_ARRAYS {
            *array = Vec::new();
        }
        self.free_arrays.push(number);
    }
}

//! The prof data structure (section 5, Figure 4): a key-value store that logs updates in a list until there are as many
//! as there are call sites, and keeps an array from then on. INIT, UPDATE, ASSIGN, UNION and PRINT take amortised
//! constant time, a prof takes O(S) space for S call sites, and call sites may be discovered as the run goes on.
//!
//! Lists and arrays of all profs live in one [`Pool`]: a prof is one word, so that appending, concatenating and freeing a
//! list take constant time without an allocation of its own, and to move a prof is to move a register. Call sites are
//! dense numbers: the hash table `h` of the paper is the caller's.

use std::marker::PhantomData;
use std::ops::AddAssign;

/// No list element, no array: the first of each is never used.
const NONE: u32 = 0;

/// A profile. It owns elements of a [`Pool`]: give it back with [`Pool::init`] before it is dropped, or the pool
/// keeps them until it is dropped itself.
#[derive(Debug)]
pub struct Prof<V> {
    /// The number of the last list element, and above it that of the array: written and read as one, which a processor
    /// does faster than to put two together.
    at: u64,
    values: PhantomData<V>,
}

impl<V> Default for Prof<V> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            at: 0,
            values: PhantomData,
        }
    }
}

impl<V> Prof<V> {
    /// Whether nothing was stored since the last INIT.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at == 0
    }

    #[inline(always)]
    fn of(tail: u32, array: u32) -> Self {
        Self {
            at: u64::from(tail) | u64::from(array) << 32,
            values: PhantomData,
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the lower half")]
    fn tail(&self) -> u32 {
        self.at as u32
    }

    #[inline(always)]
    fn array(&self) -> u32 {
        (self.at >> 32) as u32
    }
}

/// An element of a circular list: the last one's next is the first.
#[derive(Clone, Copy, Debug, Default)]
struct Element<U> {
    value: U,
    site: u32,
    next: u32,
    /// Of the last one: elements of the list.
    len: u32,
}

/// The memory of all profs of values `V`, and the number of call sites known so far. An update may be of another type
/// `U`, smaller than what it is added to: lists log updates.
#[derive(Debug)]
pub struct Pool<V, U = V> {
    elements: Vec<Element<U>>,
    free: u32,
    /// A list as long is moved into an array: S, but at least [`SHORTEST`].
    longest: u32,
    arrays: Vec<Vec<V>>,
    free_arrays: Vec<u32>,
    sites: usize,
    steps: u64,
}

/// Lists are not flushed below this length: for a few call sites an array is not worth making.
const SHORTEST: u32 = 32;
/// Freed arrays kept for their memory.
const SPARE_ARRAYS: usize = 64;
/// List elements made at once.
const BATCH: usize = 64;

impl<V, U> Default for Pool<V, U> {
    fn default() -> Self {
        Self {
            elements: Vec::new(),
            free: NONE,
            longest: SHORTEST,
            arrays: Vec::new(),
            free_arrays: Vec::new(),
            sites: 0,
            steps: 0,
        }
    }
}

impl<V: Copy + Default + PartialEq + AddAssign + AddAssign<U>, U: Copy + Default> Pool<V, U> {
    /// S: one more than the greatest call site seen.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Elementary steps made so far: list elements written (counted when they leave their list) or read, array entries
    /// written, lists concatenated.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// List elements that exist, free ones included: the space of all lists.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.elements.len()
    }

    /// Elements in the list and in the array of a profile: the space it takes.
    #[must_use]
    pub fn space(&self, prof: &Prof<V>) -> usize {
        self.len(prof) as usize + self.array(prof).len()
    }

    /// INIT: an empty profile.
    #[inline(always)]
    pub fn init(&mut self, prof: &mut Prof<V>) {
        if prof.array() != NONE {
            self.free_array(prof);
        }
        self.free_list(prof);
    }

    /// UPDATE: adds `value` to what is stored for `site`.
    #[inline(always)]
    pub fn update(&mut self, prof: &mut Prof<V>, site: u32, value: U) {
        self.update_with(prof, site, || value);
    }

    /// The same: the value is made where it is stored, not copied there.
    #[inline(always)]
    pub(crate) fn update_with(&mut self, prof: &mut Prof<V>, site: u32, value: impl Fn() -> U) {
        if prof.array() != NONE || self.free == NONE || site as usize >= self.sites {
            self.update_otherwise(prof, site, &value());
        } else {
            self.log(prof, site, value());
        }
    }

    #[inline(always)]
    fn log(&mut self, prof: &mut Prof<V>, site: u32, value: U) {
        let (at, tail) = (self.free, prof.tail());
        let element = &mut self.elements[at as usize];
        self.free = element.next;
        element.value = value;
        element.site = site;
        // Of an empty list the last one is element 0.
        let last = &mut self.elements[tail as usize];
        let len = last.len + 1;
        let first = if tail == NONE { at } else { last.next };
        last.next = at;
        let element = &mut self.elements[at as usize];
        element.next = first;
        element.len = len;
        *prof = Prof::of(at, prof.array());
        if len >= self.longest {
            self.flush(prof);
        }
    }

    /// UPDATE of a profile that has an array, or when memory has to be made or a call site was not known.
    #[inline(never)]
    fn update_otherwise(&mut self, prof: &mut Prof<V>, site: u32, value: &U) {
        if site as usize >= self.sites {
            self.sites = site as usize + 1;
            self.longest = site.saturating_add(1).max(SHORTEST);
        }
        if prof.array() != NONE {
            let array = &mut self.arrays[prof.array() as usize];
            if array.len() >= self.sites {
                self.steps += 1;
                array[site as usize] += *value;
                return;
            }
        }
        if self.free == NONE {
            self.more_elements();
        }
        self.log(prof, site, *value);
    }

    /// ASSIGN: `prof` becomes what `from` is, and `from` empty.
    #[inline(always)]
    pub fn assign(&mut self, prof: &mut Prof<V>, from: &mut Prof<V>) {
        self.init(prof);
        std::mem::swap(prof, from);
    }

    /// UNION: adds all of `from` to `prof`; `from` becomes empty.
    #[inline(always)]
    pub fn union(&mut self, prof: &mut Prof<V>, from: &mut Prof<V>) {
        if prof.is_empty() {
            std::mem::swap(prof, from);
        } else if !from.is_empty() {
            self.union_of_two(prof, from);
        }
    }

    #[inline(never)]
    fn union_of_two(&mut self, prof: &mut Prof<V>, from: &mut Prof<V>) {
        self.steps += 1;
        let (mut larger, mut smaller) = (prof.array(), from.array());
        if self.array(prof).len() < self.array(from).len() {
            std::mem::swap(&mut larger, &mut smaller);
        }
        if smaller != NONE {
            let values = std::mem::take(&mut self.arrays[smaller as usize]);
            for (entry, &value) in self.arrays[larger as usize].iter_mut().zip(&values) {
                *entry += value;
            }
            self.steps += values.len() as u64;
            self.arrays[smaller as usize] = values;
            self.free_array(&mut Prof::of(NONE, smaller));
        }
        let (last, second) = (prof.tail(), from.tail());
        *from = Prof::default();
        *prof = Prof::of(if second == NONE { last } else { second }, larger);
        if last != NONE && second != NONE {
            let (first, len) = {
                let last = &self.elements[last as usize];
                (last.next, last.len)
            };
            let second = &mut self.elements[second as usize];
            second.len += len;
            let next = std::mem::replace(&mut second.next, first);
            self.elements[last as usize].next = next;
        }
        if self.len(prof) >= self.longest {
            self.flush(prof);
        }
    }

    /// PRINT: calls `each` for every call site with something stored, by ascending site, and leaves `prof` empty.
    pub fn print(&mut self, prof: &mut Prof<V>, mut each: impl FnMut(u32, V)) {
        self.flush(prof);
        self.steps += self.array(prof).len() as u64;
        for (site, &value) in (0..).zip(self.array(prof)) {
            if value != V::default() {
                each(site, value);
            }
        }
        self.init(prof);
    }

    /// What PRINT would print, without changing anything: for a profile taken in the middle of a run. Takes time for
    /// the whole profile.
    pub fn peek(&self, prof: &Prof<V>, mut each: impl FnMut(u32, V)) {
        for (site, &value) in (0..).zip(self.array(prof)) {
            if value != V::default() {
                each(site, value);
            }
        }
        let mut at = prof.tail();
        for _ in 0..self.len(prof) {
            at = self.elements[at as usize].next;
            let element = &self.elements[at as usize];
            let mut value = V::default();
            value += element.value;
            each(element.site, value);
        }
    }

    #[inline(always)]
    fn len(&self, prof: &Prof<V>) -> u32 {
        let last = self.elements.get(prof.tail() as usize);
        last.map_or(0, |last| last.len)
    }

    fn array(&self, prof: &Prof<V>) -> &[V] {
        let array = self.arrays.get(prof.array() as usize);
        array.map_or(&[], |array| array)
    }

    /// _FLUSHLIST: moves the list into an array of the current number of call sites.
    #[inline(never)]
    fn flush(&mut self, prof: &mut Prof<V>) {
        if prof.array() == NONE {
            *prof = Prof::of(prof.tail(), self.new_array());
        }
        let len = self.len(prof);
        let array = &mut self.arrays[prof.array() as usize];
        if array.len() < self.sites {
            // Doubling when a new site appears in a full profile would also do; the list has paid for this.
            array.resize(self.sites, V::default());
            self.steps += self.sites as u64;
        }
        let mut at = prof.tail();
        for _ in 0..len {
            at = self.elements[at as usize].next;
            let Element { site, value, .. } = self.elements[at as usize];
            array[site as usize] += value;
        }
        self.steps += u64::from(len);
        self.free_list(prof);
    }

    #[cold]
    #[inline(never)]
    fn more_elements(&mut self) {
        let first = self.elements.len().max(1);
        let last = first + BATCH - 1;
        let number = |at: usize| {
            u32::try_from(at)
                .expect("fewer than 2^32 updates are logged at a time: profs hold O(S) each")
        };
        self.elements.resize(last + 1, Element::default());
        for at in first..last {
            self.elements[at].next = number(at + 1);
        }
        self.free = number(first);
    }

    /// The whole list goes in front of the free elements: constant time.
    #[inline(always)]
    fn free_list(&mut self, prof: &mut Prof<V>) {
        if prof.tail() != NONE {
            let last = &mut self.elements[prof.tail() as usize];
            self.steps += u64::from(last.len);
            self.free = std::mem::replace(&mut last.next, self.free);
        }
        *prof = Prof::of(NONE, prof.array());
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
    fn free_array(&mut self, prof: &mut Prof<V>) {
        let array = &mut self.arrays[prof.array() as usize];
        array.clear();
        if self.free_arrays.len() >= SPARE_ARRAYS {
            *array = Vec::new();
        }
        self.free_arrays.push(prof.array());
        *prof = Prof::of(prof.tail(), NONE);
    }
}

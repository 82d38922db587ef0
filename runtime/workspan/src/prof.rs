//! The prof data structure (section 5, Figure 4): a key-value store that logs updates in a list until there are as
//! many as there are call sites, and keeps an array from then on. INIT, UPDATE, ASSIGN, UNION and PRINT take
//! amortised constant time, a prof takes O(S) space for S call sites, and call sites may be discovered as the run
//! goes on.
//!
//! The lists and arrays of all profs live in one [`Pool`]. A prof is two words, so that appending, concatenating and
//! freeing a list take constant time without an allocation, and moving a prof moves two registers. Call sites are
//! dense numbers: the hash table `h` of the paper is the caller's.

mod arrays;
mod what;

use std::marker::PhantomData;
use std::ops::AddAssign;

use self::what::{NO_ARRAY, What};

/// The place of no list element.
const NONE: u32 = u32::MAX;

/// A profile. It owns elements of a [`Pool`]: give it back with [`Pool::init`] before it is dropped. Otherwise the
/// pool keeps the elements until it is dropped itself.
#[derive(Debug)]
pub struct Prof<V> {
    what: What,
    values: PhantomData<V>,
}

impl<V> Default for Prof<V> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            what: What::default(),
            values: PhantomData,
        }
    }
}

impl<V> Prof<V> {
    /// Whether nothing was stored since the last INIT.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.what.is_empty()
    }

    /// The size of the profile, for [`Pool::are_short`].
    #[inline(always)]
    pub(crate) fn size(&self) -> u64 {
        self.what.size
    }

    /// Moves the profile out, and leaves it empty.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Self {
        let what = self.what;
        self.what.size = 0;
        Self {
            what,
            values: PhantomData,
        }
    }
}

/// An element of a list. The newest element is the first; `next` of the oldest one has no meaning.
#[derive(Clone, Copy, Debug, Default)]
struct Element<U> {
    value: U,
    site: u32,
    next: u32,
}

/// The memory of all profs of values `V`, and the number of call sites known so far. An update may have another type
/// `U`, smaller than the values it is added to, because lists log updates.
#[derive(Debug)]
pub struct Pool<V, U = V> {
    elements: Vec<Element<U>>,
    free: u32,
    /// A list of this length is moved into an array: S, but at least [`SHORTEST`].
    longest: u32,
    arrays: Vec<Vec<V>>,
    free_arrays: Vec<u32>,
    sites: usize,
    steps: u64,
}

/// Shorter lists are not flushed, because an array is not worth its cost for few call sites.
const SHORTEST: u32 = 64;
/// Number of freed arrays that are kept so that their memory can be reused.
const SPARE_ARRAYS: usize = 64;
/// Number of list elements that are made at a time.
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
    /// S, which is one more than the greatest call site seen.
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
        prof.what.listed() as usize + self.array(prof.what).len()
    }

    /// INIT: an empty profile.
    #[inline(always)]
    pub fn init(&mut self, prof: &mut Prof<V>) {
        self.free::<false>(prof.take());
    }

    /// Whether profs of these sizes are `SHORT`: whether their lists fit into one, with three more updates.
    #[inline(always)]
    pub(crate) fn are_short(&self, sizes: u64) -> bool {
        sizes + 3 < u64::from(self.longest)
    }

    /// Whether there is a free list element.
    #[inline(always)]
    pub(crate) fn has_free(&self) -> bool {
        (self.free as usize) < self.elements.len()
    }

    /// INIT of a profile that is not needed any more.
    #[inline(always)]
    pub(crate) fn free<const SHORT: bool>(&mut self, prof: Prof<V>) {
        if !prof.is_empty() {
            if !SHORT && prof.what.array() != NO_ARRAY {
                self.free_array(prof.what.array());
            }
            if SHORT || prof.what.listed() > 0 {
                self.free_list(prof.what);
            }
        }
    }

    /// UPDATE: adds `value` to what is stored for `site`.
    #[inline(always)]
    pub fn update(&mut self, prof: &mut Prof<V>, site: u32, value: U) {
        if site as usize >= self.sites {
            self.discover(site);
        }
        *prof = self.updated::<false>(prof.take(), site, || value);
    }

    /// Makes room for this call site.
    pub(crate) fn discover(&mut self, site: u32) {
        self.sites = self.sites.max(site as usize + 1);
        self.longest = u32::try_from(self.sites).unwrap_or(u32::MAX).max(SHORTEST);
    }

    /// UPDATE of a call site that was discovered; `value` makes the value where it is stored.
    #[inline(always)]
    pub(crate) fn updated<const SHORT: bool>(
        &mut self,
        prof: Prof<V>,
        site: u32,
        value: impl Fn() -> U,
    ) -> Prof<V> {
        debug_assert!((site as usize) < self.sites);
        let what = prof.what;
        let what = if (SHORT || what.size + 1 < u64::from(self.longest))
            && let Some(at) = self.listed(what, site, &value)
        {
            what.with_first(at)
        } else {
            self.update_otherwise(what, site, &value())
        };
        Prof { what, ..prof }
    }

    /// Puts one more list element in front of others, if there is a free one; returns its place.
    #[inline(always)]
    fn listed(&mut self, before: What, site: u32, value: impl Fn() -> U) -> Option<u32> {
        let element = self.elements.get_mut(self.free as usize)?;
        let at = std::mem::replace(&mut self.free, element.next);
        *element = Element {
            value: value(),
            site,
            next: before.first(),
        };
        Some(at)
    }

    /// UPDATE of a profile that has an array or a long list, or for which memory must be made.
    #[cold]
    #[inline(never)]
    fn update_otherwise(&mut self, prof: What, site: u32, value: &U) -> What {
        if prof.array() != NO_ARRAY {
            let array = &mut self.arrays[prof.array() as usize];
            if array.len() >= self.sites {
                self.steps += 1;
                array[site as usize] += *value;
                return prof;
            }
        }
        if self.free == NONE {
            self.more_elements();
        }
        let listed = self.listed(prof, site, || *value);
        debug_assert!(listed.is_some(), "memory was made");
        self.flush_if_long(listed.map_or(prof, |at| prof.with_first(at)))
    }

    /// ASSIGN: `prof` becomes what `from` is, and `from` becomes empty.
    #[inline(always)]
    pub fn assign(&mut self, prof: &mut Prof<V>, from: &mut Prof<V>) {
        self.init(prof);
        *prof = from.take();
    }

    /// UNION: adds all of `from` to `prof`; `from` becomes empty.
    #[inline(always)]
    pub fn union(&mut self, prof: &mut Prof<V>, from: &mut Prof<V>) {
        self.unite::<false>(prof, from);
    }

    /// UNION.
    #[inline(always)]
    pub(crate) fn unite<const SHORT: bool>(&mut self, prof: &mut Prof<V>, from: &mut Prof<V>) {
        if !from.is_empty() {
            *prof = self.united::<SHORT>(prof.take(), from.take());
        }
    }

    /// UNION of two profiles.
    #[inline(always)]
    pub(crate) fn united<const SHORT: bool>(&mut self, prof: Prof<V>, from: Prof<V>) -> Prof<V> {
        let (old, new) = (prof.what, from.what);
        let what = if old.is_empty() {
            new
        } else if new.is_empty() {
            old
        } else if SHORT || old.size + new.size < u64::from(self.longest) {
            self.steps += 1;
            self.concatenated(old, new)
        } else {
            self.unite_with_arrays(old, new)
        };
        Prof { what, ..prof }
    }

    /// Puts the list of `new`, which has no array, in front of that of `old`; neither is empty.
    #[inline(always)]
    fn concatenated(&mut self, old: What, new: What) -> What {
        if let Some(last) = self.elements.get_mut(new.last() as usize) {
            last.next = old.first();
        }
        What {
            ends: u64::from(new.first()) | old.ends & !u64::from(u32::MAX),
            size: old.size + new.size,
        }
    }

    /// PRINT: calls `each` for every call site that has a value, by ascending site, and leaves `prof` empty.
    pub fn print(&mut self, prof: &mut Prof<V>, mut each: impl FnMut(u32, V)) {
        prof.what = self.flush(prof.what);
        self.steps += self.array(prof.what).len() as u64;
        for (site, &value) in (0..).zip(self.array(prof.what)) {
            if value != V::default() {
                each(site, value);
            }
        }
        self.init(prof);
    }

    /// Calls `each` as PRINT would, without changing anything, for a profile in the middle of a run. It takes time
    /// for the whole profile.
    pub fn peek(&self, prof: &Prof<V>, mut each: impl FnMut(u32, V)) {
        for (site, &value) in (0..).zip(self.array(prof.what)) {
            if value != V::default() {
                each(site, value);
            }
        }
        let mut at = prof.what.first();
        for _ in 0..prof.what.listed() {
            let element = &self.elements[at as usize];
            let mut value = V::default();
            value += element.value;
            each(element.site, value);
            at = element.next;
        }
    }

    #[cold]
    #[inline(never)]
    fn more_elements(&mut self) {
        let number = |at: usize| {
            u32::try_from(at)
                .expect("fewer than 2^32 updates are logged at a time: profs hold O(S) each")
        };
        let (first, last) = (self.elements.len(), self.elements.len() + BATCH - 1);
        self.elements.resize(last + 1, Element::default());
        for at in first..last {
            self.elements[at].next = number(at + 1);
        }
        self.elements[last].next = NONE;
        self.free = number(first);
    }

    /// Puts the whole list, which is not empty, in front of the free elements, in constant time.
    #[inline(always)]
    fn free_list(&mut self, prof: What) {
        self.steps += u64::from(prof.listed());
        if let Some(last) = self.elements.get_mut(prof.last() as usize) {
            last.next = self.free;
            self.free = prof.first();
        }
    }
}

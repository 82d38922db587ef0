//! The prof data structure (section 5, Figure 4): a key-value store that logs updates in a list until there are as many
//! as there are call sites, and keeps an array from then on. INIT, UPDATE, ASSIGN, UNION and PRINT take amortised
//! constant time, a prof takes O(S) space for S call sites, and call sites may be discovered as the run goes on.
//!
//! Lists of all profs live in one [`Pool`], so that appending, concatenating and freeing a list take constant time
//! without an allocation of its own. Call sites are dense numbers: the hash table `h` of the paper is the caller's.

use std::ops::AddAssign;

/// No list element.
const NONE: u32 = u32::MAX;

/// A profile. It owns elements of a [`Pool`]: give it back with [`Pool::init`] before it is dropped, or the pool
/// keeps them until it is dropped itself.
#[derive(Debug)]
pub struct Prof<V> {
    head: u32,
    tail: u32,
    len: u32,
    array: Vec<V>,
}

impl<V> Default for Prof<V> {
    fn default() -> Self {
        Self {
            head: NONE,
            tail: NONE,
            len: 0,
            array: Vec::new(),
        }
    }
}

impl<V> Prof<V> {
    /// Whether nothing was stored since the last INIT.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.array.is_empty()
    }

    /// Elements in the list and in the array: the space it takes.
    #[must_use]
    pub fn space(&self) -> usize {
        self.len as usize + self.array.len()
    }
}

#[derive(Clone, Copy, Debug)]
struct Element<U> {
    site: u32,
    next: u32,
    value: U,
}

/// The memory of all profs of values `V`, and the number of call sites known so far. An update may be of another type
/// `U`, smaller than what it is added to: lists log updates.
#[derive(Debug)]
pub struct Pool<V, U = V> {
    elements: Vec<Element<U>>,
    free: u32,
    spare_arrays: Vec<Vec<V>>,
    sites: usize,
    steps: u64,
}

/// Lists are not flushed below this length: for a few call sites an array is not worth making.
const SHORTEST: usize = 32;
/// Freed arrays kept for their memory.
const SPARE_ARRAYS: usize = 64;

impl<V, U> Default for Pool<V, U> {
    fn default() -> Self {
        Self {
            elements: Vec::new(),
            free: NONE,
            spare_arrays: Vec::new(),
            sites: 0,
            steps: 0,
        }
    }
}

impl<V: Copy + Default + PartialEq + AddAssign + AddAssign<U>, U: Copy> Pool<V, U> {
    /// S: one more than the greatest call site seen.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Elementary steps made so far: list elements written or read, array entries written.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// List elements that exist, free ones included: the space of all lists.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.elements.len()
    }

    /// INIT: an empty profile.
    #[inline]
    pub fn init(&mut self, prof: &mut Prof<V>) {
        self.steps += 1;
        self.free_list(prof);
        if !prof.array.is_empty() {
            let array = std::mem::take(&mut prof.array);
            self.free_array(array);
        }
    }

    /// UPDATE: adds `value` to what is stored for `site`.
    #[inline(always)]
    pub fn update(&mut self, prof: &mut Prof<V>, site: u32, value: U) {
        self.steps += 1;
        self.sites = self.sites.max(site as usize + 1);
        if !prof.array.is_empty() && prof.array.len() >= self.sites {
            prof.array[site as usize] += value;
            return;
        }
        let element = self.element(site, value);
        match prof.tail {
            NONE => prof.head = element,
            tail => self.elements[tail as usize].next = element,
        }
        prof.tail = element;
        prof.len += 1;
        if prof.len as usize >= self.sites.max(SHORTEST) {
            self.flush(prof);
        }
    }

    /// ASSIGN: `prof` becomes what `from` is, and `from` empty.
    pub fn assign(&mut self, prof: &mut Prof<V>, from: &mut Prof<V>) {
        self.init(prof);
        std::mem::swap(prof, from);
    }

    /// UNION: adds all of `from` to `prof`; `from` becomes empty.
    #[inline(never)]
    pub fn union(&mut self, prof: &mut Prof<V>, from: &mut Prof<V>) {
        self.steps += 1;
        if prof.array.len() < from.array.len() {
            std::mem::swap(&mut prof.array, &mut from.array);
        }
        let smaller = std::mem::take(&mut from.array);
        for (entry, &value) in prof.array.iter_mut().zip(&smaller) {
            *entry += value;
        }
        self.steps += smaller.len() as u64;
        self.free_array(smaller);
        if from.head != NONE {
            match prof.tail {
                NONE => prof.head = from.head,
                tail => self.elements[tail as usize].next = from.head,
            }
            prof.tail = from.tail;
            prof.len += from.len;
            (from.head, from.tail, from.len) = (NONE, NONE, 0);
        }
        if prof.len as usize >= self.sites.max(SHORTEST) {
            self.flush(prof);
        }
    }

    /// PRINT: calls `each` for every call site with something stored, by ascending site, and leaves `prof` empty.
    pub fn print(&mut self, prof: &mut Prof<V>, mut each: impl FnMut(u32, V)) {
        self.flush(prof);
        self.steps += prof.array.len() as u64;
        for (site, &value) in (0..).zip(&prof.array) {
            if value != V::default() {
                each(site, value);
            }
        }
        self.init(prof);
    }

    /// What PRINT would print, without changing anything: for a profile taken in the middle of a run. Takes time for
    /// the whole profile.
    pub fn peek(&self, prof: &Prof<V>, mut each: impl FnMut(u32, V)) {
        for (site, &value) in (0..).zip(&prof.array) {
            if value != V::default() {
                each(site, value);
            }
        }
        let mut at = prof.head;
        while at != NONE {
            let element = &self.elements[at as usize];
            let mut value = V::default();
            value += element.value;
            each(element.site, value);
            at = element.next;
        }
    }

    /// _FLUSHLIST: moves the list into an array of the current number of call sites.
    #[inline(never)]
    fn flush(&mut self, prof: &mut Prof<V>) {
        if prof.array.len() < self.sites {
            // Doubling when a new site appears in a full profile would also do; the list has paid for this.
            let mut array = self.spare_arrays.pop().unwrap_or_default();
            array.clear();
            array.extend_from_slice(&prof.array);
            array.resize(self.sites, V::default());
            self.steps += self.sites as u64;
            let old = std::mem::replace(&mut prof.array, array);
            self.free_array(old);
        }
        let mut at = prof.head;
        while at != NONE {
            let Element { site, next, value } = self.elements[at as usize];
            prof.array[site as usize] += value;
            self.steps += 1;
            at = next;
        }
        self.free_list(prof);
    }

    #[inline(always)]
    fn element(&mut self, site: u32, value: U) -> u32 {
        let element = Element {
            site,
            next: NONE,
            value,
        };
        match self.free {
            NONE => {
                let at = u32::try_from(self.elements.len())
                    .ok()
                    .filter(|&at| at < NONE);
                self.elements.push(element);
                at.expect("fewer than 2^32 updates are logged at a time: profs hold O(S) each")
            }
            at => {
                self.free = self.elements[at as usize].next;
                self.elements[at as usize] = element;
                at
            }
        }
    }

    /// The whole list goes in front of the free elements: constant time.
    fn free_list(&mut self, prof: &mut Prof<V>) {
        if prof.tail != NONE {
            self.elements[prof.tail as usize].next = self.free;
            self.free = prof.head;
        }
        (prof.head, prof.tail, prof.len) = (NONE, NONE, 0);
    }

    #[cold]
    #[inline(never)]
    fn free_array(&mut self, array: Vec<V>) {
        if array.capacity() > 0 && self.spare_arrays.len() < SPARE_ARRAYS {
            self.spare_arrays.push(array);
        }
    }
}

//! Profiles of paths: a key-value store that logs invocations in a list (section 5, Figure 4,
//! without its arrays).
//!
//! UPDATE and UNION append to a list in constant time; what is like the newest element, as the next
//! call of a leaf in a loop is, is added to it. A list of twice as many elements as there
//! are different ones is added up in place: at least half of its elements are freed, which pays for
//! it. So all operations take amortised constant time, and a profile takes O(S) space for S call
//! sites. The lists of all profiles live in one [`Pool`].

use crate::measure::{Above, Invocation, Measure};

/// The place of no element.
const NONE: u32 = u32::MAX;
/// Shorter lists are not added up.
const SHORTEST: u32 = 64;
/// Number of elements that are made at a time.
const BATCH: u32 = 64;

/// A profile. It owns elements of a [`Pool`]: give it back with [`Pool::init`] before it is
/// dropped.
#[derive(Debug, Default)]
pub(crate) struct Prof {
    /// The newest and the oldest element, if there are any.
    first: u32,
    last: u32,
    len: u32,
}

impl Prof {
    /// Moves the profile out, and leaves it empty.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// An element of a list; `next` of the oldest one has no meaning.
#[derive(Clone, Copy, Debug, Default)]
struct Element {
    value: Invocation,
    site: u32,
    next: u32,
}

impl Element {
    /// Elements with the same key can be added up.
    fn key(&self) -> usize {
        self.site as usize * Above::KINDS + self.value.above.index()
    }
}

/// The memory of all profiles.
#[derive(Debug)]
pub(crate) struct Pool {
    elements: Vec<Element>,
    free: u32,
    /// A list of this length is added up.
    longest: u32,
    /// While a list is added up, the element of each key; otherwise none.
    of_key: Vec<u32>,
}

impl Default for Pool {
    fn default() -> Self {
        Self { elements: Vec::new(), free: NONE, longest: SHORTEST, of_key: Vec::new() }
    }
}

impl Pool {
    /// List elements that exist, free ones included: the space of all lists.
    pub(crate) fn elements(&self) -> usize {
        self.elements.len()
    }

    /// Makes a call site known.
    pub(crate) fn discover(&mut self, site: u32) {
        let keys = (site as usize + 1) * Above::KINDS;
        if keys > self.of_key.len() {
            self.of_key.resize(keys, NONE);
            let most = u32::try_from(2 * keys).unwrap_or(u32::MAX);
            self.longest = most.max(SHORTEST);
        }
    }

    /// INIT: an empty profile.
    #[inline(always)]
    pub(crate) fn init(&mut self, prof: &mut Prof) {
        let prof = prof.take();
        if let Some(last) = self.elements.get_mut(prof.last as usize)
            && prof.len > 0
        {
            last.next = std::mem::replace(&mut self.free, prof.first);
        }
    }

    /// UPDATE: adds invocations of a call site that is known.
    #[inline(always)]
    pub(crate) fn update(&mut self, prof: &mut Prof, site: u32, value: Invocation) {
        if prof.len > 0
            && let Some(newest) = self.elements.get_mut(prof.first as usize)
            && newest.site == site
            && newest.value.above == value.above
        {
            return newest.value.add(value);
        }
        if self.free == NONE {
            self.more_elements();
        }
        let Some(element) = self.elements.get_mut(self.free as usize) else {
            return;
        };
        let at = std::mem::replace(&mut self.free, element.next);
        *element = Element { value, site, next: prof.first };
        if prof.len == 0 {
            prof.last = at;
        }
        prof.first = at;
        prof.len += 1;
        if prof.len >= self.longest {
            self.add_up(prof);
        }
    }

    /// UNION: adds all of `from` to `prof`; `from` becomes empty.
    #[inline(always)]
    pub(crate) fn union(&mut self, prof: &mut Prof, from: &mut Prof) {
        let from = from.take();
        if prof.len == 0 {
            *prof = from;
        } else if let Some(last) = self.elements.get_mut(from.last as usize)
            && from.len > 0
        {
            last.next = std::mem::replace(&mut prof.first, from.first);
            prof.len += from.len;
            if prof.len >= self.longest {
                self.add_up(prof);
            }
        }
    }

    /// PRINT, without changing anything: calls `each` with parts of what is stored; those of one
    /// call site add up.
    pub(crate) fn print(&self, prof: &Prof, mut each: impl FnMut(u32, Measure)) {
        let mut at = prof.first;
        for _ in 0..prof.len {
            let element = &self.elements[at as usize];
            let mut value = Measure::default();
            value += element.value;
            each(element.site, value);
            at = element.next;
        }
    }

    #[cold]
    #[inline(never)]
    fn more_elements(&mut self) {
        let first = u32::try_from(self.elements.len());
        let first =
            first.expect("fewer than 2^32 invocations are logged at a time: O(S) for each profile");
        let new = (first + 1..=first + BATCH).map(|next| Element {
            next: if next == first + BATCH { NONE } else { next },
            ..Element::default()
        });
        self.elements.extend(new);
        self.free = first;
    }

    /// Adds up the elements with the same key.
    #[cold]
    #[inline(never)]
    fn add_up(&mut self, prof: &mut Prof) {
        let old = prof.take();
        let mut at = old.first;
        for _ in 0..old.len {
            let element = self.elements[at as usize];
            let next = element.next;
            let known = &mut self.of_key[element.key()];
            if *known == NONE {
                *known = at;
                self.elements[at as usize].next = prof.first;
                if prof.len == 0 {
                    prof.last = at;
                }
                (prof.first, prof.len) = (at, prof.len + 1);
            } else {
                self.elements[*known as usize].value.add(element.value);
                self.elements[at as usize].next = std::mem::replace(&mut self.free, at);
            }
            at = next;
        }
        let mut at = prof.first;
        for _ in 0..prof.len {
            let element = self.elements[at as usize];
            self.of_key[element.key()] = NONE;
            at = element.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Init(usize),
        Update(usize, u32, u64),
        Union(usize, usize),
    }

    const PROFS: usize = 5;

    fn step() -> impl Strategy<Value = Step> {
        let prof = 0..PROFS;
        // Few call sites come at first and more later, so that some are discovered as the run goes
        // on.
        let site = prop_oneof![0u32..4, 0u32..40];
        prop_oneof![
            1 => prof.clone().prop_map(Step::Init),
            20 => (prof.clone(), site, 1u64..100).prop_map(|(p, s, v)| Step::Update(p, s, v)),
            4 => (prof.clone(), prof).prop_map(|(a, b)| Step::Union(a, b)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn every_operation_does_what_it_does_to_a_map(steps in prop::collection::vec(step(), 1..2000)) {
            let mut pool = Pool::default();
            let mut profs: [Prof; PROFS] = Default::default();
            let mut maps: [BTreeMap<u32, Measure>; PROFS] = Default::default();
            for step in steps {
                match step {
                    Step::Init(p) => {
                        pool.init(&mut profs[p]);
                        maps[p].clear();
                    }
                    Step::Update(p, site, work) => {
                        let value = Invocation {
                            work,
                            span: work / 2,
                            count: 1,
                            above: Above { site: p % 2 == 0, caller: site % 2 == 0 },
                            ..Invocation::default()
                        };
                        pool.discover(site);
                        pool.update(&mut profs[p], site, value);
                        *maps[p].entry(site).or_default() += value;
                    }
                    Step::Union(a, b) => if let Ok([to, from]) = profs.get_disjoint_mut([a, b]) {
                        pool.union(to, from);
                        for (site, measure) in std::mem::take(&mut maps[b]) {
                            *maps[a].entry(site).or_default() += measure;
                        }
                    }
                }
                prop_assert!(profs.iter().all(|prof| prof.len < pool.longest));
            }
            for (prof, map) in profs.iter().zip(&maps) {
                let mut printed: BTreeMap<u32, Measure> = BTreeMap::new();
                pool.print(prof, |site, measure| *printed.entry(site).or_default() += measure);
                prop_assert_eq!(&printed, map);
            }
        }
    }
}

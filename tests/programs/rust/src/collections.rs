//! Collections and strings.
// MODE: golden

use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

pub(crate) fn main() {
    let text = "the quick brown fox jumps over the lazy dog the end";
    let mut words = HashMap::new();
    text.split(' ').for_each(|w| *words.entry(w.to_owned()).or_insert(0) += 1);
    let sorted: BTreeMap<_, _> = words.iter().collect();
    let mut heap: BinaryHeap<_> = words.values().copied().collect();
    let mut queue: VecDeque<_> = (0..10).collect();
    queue.rotate_left(3);
    queue.retain(|x| x % 2 == 0);
    let mut parts: Vec<_> = text.chars().rev().filter(|c| !c.is_whitespace()).collect();
    parts.sort_unstable();
    parts.dedup();
    println!("{sorted:?} {:?} {queue:?} {}", heap.pop(), parts.into_iter().collect::<String>());
}

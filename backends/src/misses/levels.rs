//! The smallest of several caches that holds a line: one look-up answers for all sizes.
//!
//! Least recently used replacement has inclusion: what a cache holds, every larger one with as many ways holds too
//! (Mattson et al. 1970; Hill and Smith 1989), so the index of the smallest cache that hits says everything.

use crate::cache::{Geometries, RecencyStack, Ways};

/// Caches of ascending size and equal ways, fed with one stream of lines.
#[derive(Debug)]
pub enum Levels {
    /// Fully associative: capacities in lines.
    Full(Box<RecencyStack>, Vec<usize>),
    /// Set-associative.
    Sets(Vec<Level>),
}

/// The recency lists of the sets of one cache.
#[derive(Debug)]
pub struct Level {
    /// Sets - 1; sets are a power of two.
    mask: u64,
    ways: usize,
    /// Per set, most recent first: line + 1, or 0 where nothing has been yet.
    slots: Vec<u64>,
}

impl Levels {
    /// Empty caches; all geometries have the same ways and are sorted by size.
    #[must_use]
    pub fn new(geometries: &Geometries) -> Self {
        let lines = |lines: u64| usize::try_from(lines).unwrap_or(usize::MAX);
        let full = geometries
            .all
            .iter()
            .all(|geometry| geometry.ways == Ways::Full);
        if full {
            let capacities: Vec<usize> = geometries
                .all
                .iter()
                .map(|geometry| lines(geometry.lines))
                .collect();
            let stack = RecencyStack::new(capacities.last().copied().unwrap_or(1));
            return Self::Full(Box::new(stack), capacities);
        }
        let level = |geometry: &crate::cache::Geometry| Level {
            mask: geometry.sets() - 1,
            ways: lines(geometry.lines / geometry.sets()),
            slots: vec![0; lines(geometry.lines)],
        };
        Self::Sets(geometries.all.iter().map(level).collect())
    }

    /// Touches a line; the index of the smallest cache that held it, or the number of caches when none did.
    #[inline]
    pub fn touch(&mut self, line: u64) -> usize {
        match self {
            Self::Full(stack, capacities) => match stack.touch(line) {
                None => capacities.len(),
                Some(0) => 0,
                Some(distance) => capacities
                    .iter()
                    .position(|&capacity| distance < capacity)
                    .unwrap_or(capacities.len()),
            },
            Self::Sets(levels) => touch_sets(levels, line),
        }
    }
}

#[inline]
fn touch_sets(levels: &mut [Level], line: u64) -> usize {
    let tag = line + 1;
    let mut smallest = levels.len();
    for (index, level) in levels.iter_mut().enumerate() {
        let first = usize::try_from(line & level.mask).unwrap_or(0) * level.ways;
        let set = &mut level.slots[first..first + level.ways];
        if set[0] == tag {
            // At the front here, so at the front in every finer level, and it stays there.
            return smallest.min(index);
        }
        // Shift the list by one until the line's old place, the first empty slot or the end.
        let mut moving = std::mem::replace(&mut set[0], tag);
        for slot in &mut set[1..] {
            if moving == 0 {
                break;
            }
            std::mem::swap(slot, &mut moving);
            if moving == tag {
                smallest = smallest.min(index);
                break;
            }
        }
    }
    smallest
}

//! Leaves out edges that other edges say already.
//!
//! Who reads what was written once (a reader-writer lock that nobody takes for writing any more, a
//! flag, a variable made before the threads were) comes after the writer at every operation again.
//! Only the first of these orders anything: an edge is implied where the context came after the
//! same place of the other context, or after a later one, before.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::place::Place;
use crate::sorter::{Sorted, Sorter};
use crate::spill::Spill;

/// What a context has come after.
#[derive(Default)]
struct Met {
    context: u32,
    /// By other context, the last place.
    places: FxHashMap<u32, Place>,
}

impl Met {
    /// Whether an edge is implied by those before it. Edges must come in the order of their ends.
    fn implies(&mut self, from: Place, to: Place) -> bool {
        if self.context != to.context() {
            self.context = to.context();
            self.places.clear();
        }
        let last = self.places.get(&from.context()).copied();
        self.places.insert(from.context(), last.map_or(from, |last| last.max(from)));
        last.is_some_and(|last| last >= from)
    }
}

/// The edges (`[from, to]`) without those that others imply, and the same by their ends
/// (`[to, from]`).
pub(crate) fn leave_out(
    edges: Sorted<2>,
    spill: &Arc<Spill>,
    memory: usize,
) -> Result<(Sorted<2>, Sorted<2>)> {
    let by_target = edges.swapped(spill, memory)?;
    let (mut met, mut some) = (Met::default(), false);
    let mut kept = Sorter::<2>::new(spill, memory);
    by_target.each(|[to, from]| {
        match met.implies(Place::from_bits(from), Place::from_bits(to)) {
            true => {
                some = true;
                Ok(())
            }
            false => kept.push([to, from]),
        }
    })?;
    if !some {
        return Ok((edges, by_target));
    }
    let kept = kept.finish()?;
    Ok((kept.swapped(spill, memory)?, kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_implied_by_an_earlier_one_of_a_later_place() {
        let mut met = Met::default();
        let mut implied = |from: (u32, u32), to: (u32, u32)| {
            met.implies(Place::new(from.0, from.1), Place::new(to.0, to.1))
        };
        assert!(!implied((0, 4), (1, 0)));
        assert!(implied((0, 2), (1, 3)));
        assert!(implied((0, 4), (1, 3)));
        // Another context, and a later place.
        assert!(!implied((2, 0), (1, 4)));
        assert!(!implied((0, 5), (1, 5)));
        // Another end: nothing is known of it.
        assert!(!implied((0, 2), (2, 0)));
    }
}

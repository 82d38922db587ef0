//! The columns ids and values go to, values as what the predictor did not know.

use crate::frame::planes::Planes;
use crate::frame::predict::Predictor;
use crate::wire::zigzag;

/// Where ids and values go.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) ids: Vec<u8>,
    pub(super) planes: Planes,
}

impl Columns {
    /// Appends the `n` values of an execution of a unit.
    #[inline]
    pub(super) fn put(
        &mut self,
        predictor: &mut Predictor,
        unit: usize,
        n: usize,
        values: impl Iterator<Item = u64>,
    ) {
        self.planes.reserve(n);
        let slots = predictor.enter(unit, n);
        let mut neighbour = 0;
        let mut last = 0;
        for (value, slot) in values.zip(slots) {
            let miss = value.wrapping_sub(slot.predicted());
            let coded_miss = zigzag(miss.wrapping_sub(slot.followed(neighbour)));
            let coded = if slot.is_plain() { value } else { coded_miss };
            slot.weigh(value, coded_miss);
            slot.learn(value, miss, neighbour);
            neighbour = miss;
            last = value;
            self.planes.put(coded);
        }
        predictor.last_value = last;
    }
}

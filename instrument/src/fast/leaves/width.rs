//! How wide a leaf is recorded, and how many of its bits are then right.

use std::collections::HashMap;

use crate::fast::scev::{Analysis, LeafFacts};
use crate::memop::Value;

/// What is known of leaves, which is asked for once.
#[derive(Debug)]
pub(super) struct Facts<'a, 'm> {
    analysis: &'a Analysis<'m>,
    known: HashMap<Value, LeafFacts>,
}

impl<'a, 'm> Facts<'a, 'm> {
    pub(super) fn new(analysis: &'a Analysis<'m>) -> Self {
        Self { analysis, known: HashMap::new() }
    }

    pub(super) fn of(&mut self, source: Value) -> &LeafFacts {
        let analysis = self.analysis;
        let known = self.known.entry(source);
        known.or_insert_with(|| facts(analysis, source))
    }
}

/// What is known of a leaf, of a lane, or of a mask of lanes.
fn facts(analysis: &Analysis<'_>, source: Value) -> LeafFacts {
    let mut facts = analysis.leaf(source);
    match source {
        Value::Plain(_) => {}
        Value::Lane(_, i) => {
            facts.base.1 = i + 1;
            (facts.bits, facts.active) = (64, 64);
        }
        Value::Mask(v) => {
            let lanes = v.lanes().unwrap_or(64).min(64);
            let lanes = u8::try_from(lanes).unwrap_or(64);
            (facts.bits, facts.active) = (lanes, lanes);
        }
    }
    facts
}

/// Bytes recorded for a leaf whose low `need` bits matter, and how many bits are then right.
pub(super) fn width(facts: &LeafFacts, source: Value, need: u8) -> (u8, u8) {
    let need = match source {
        Value::Mask(_) => facts.bits,
        _ => need.min(facts.bits),
    };
    let bits = need.min(facts.active);
    let width = match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=48 => 6,
        _ => 8,
    };
    let exact = if width * 8 >= facts.active { facts.bits } else { width * 8 };
    (width, exact)
}

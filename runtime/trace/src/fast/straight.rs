//! Paths without collapsed loops, made ready to be decoded in one sweep: every leaf of such a segment is at a
//! fixed place of its record, so most operands are read from there without a look at a slot.

use super::compiled::Compiled;
use super::path::{Item, Plan};
use super::table::{LoopStep, Target};

/// What a segment does, in execution order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    /// A leaf that others than operands of this path need.
    Leaf { at: u32, width: u8, slot: u32 },
    /// A loop that is not collapsed is entered.
    Enter(u32),
    /// It goes on.
    Next(u32),
    /// A block runs; its operands end there in [`Straight::operands`].
    Block { block: u32, end: u32 },
}

/// How an operand is had.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operand {
    /// A constant.
    Is(u64),
    /// A leaf of this record, shifted left and back to its width, and a constant.
    Leaf {
        at: u32,
        shift: u8,
        add: u64,
        mask: u64,
    },
    /// By the expression of this node and operand.
    Other { node: u32, k: u32 },
}

/// A path ready to decode.
#[derive(Debug, Clone)]
pub struct Straight {
    pub(crate) acts: Box<[Act]>,
    pub(crate) operands: Box<[Operand]>,
    /// It starts afresh and neither needs nor leaves any slot or iteration number.
    pub(crate) alone: bool,
}

impl Straight {
    /// `None` for paths with collapsed loops.
    pub(crate) fn new(f: &Compiled, plan: &Plan) -> Option<Self> {
        plan.fixed_bytes?;
        let (mut acts, mut operands) = (Vec::new(), Vec::new());
        // Slot, place and width of the leaves so far.
        let mut leaves: Vec<(u32, u32, u8)> = Vec::new();
        let (mut at, mut by_slot) = (0u32, false);
        for item in &plan.items {
            let n = match *item {
                Item::Node(n) => n,
                Item::Loop { .. } => return None,
                Item::Step(step) => {
                    match step {
                        LoopStep::None => {}
                        LoopStep::Enter(l) => acts.push(Act::Enter(l)),
                        LoopStep::Next(l) => acts.push(Act::Next(l)),
                    }
                    continue;
                }
            };
            let node = f.table.nodes.get(n as usize)?;
            for leaf in &node.leaves {
                let (slot, width) = (leaf.slot, leaf.width);
                acts.push(Act::Leaf { at, width, slot });
                leaves.push((slot, at, width));
                at = at.checked_add(u32::from(width))?;
            }
            let Some(block) = node.block else { continue };
            for (k, value) in (0..).zip(&f.operands[n as usize]) {
                let operand = match value.slot_plus() {
                    Some((None, add)) => Operand::Is(add & value.mask()),
                    Some((Some(slot), add)) => {
                        let found = leaves.iter().rfind(|l| l.0 == slot);
                        found.map_or(Operand::Other { node: n, k }, |(_, at, width)| {
                            Operand::Leaf {
                                at: *at,
                                shift: 64 - 8 * (*width).clamp(1, 8),
                                add,
                                mask: value.mask(),
                            }
                        })
                    }
                    None => Operand::Other { node: n, k },
                };
                by_slot |= matches!(operand, Operand::Other { .. });
                operands.push(operand);
            }
            acts.push(Act::Block {
                block: f.first_block + block,
                end: u32::try_from(operands.len()).ok()?,
            });
        }
        let alone = !by_slot && plan.fresh && plan.end == Target::End;
        if alone {
            acts.retain(|a| matches!(a, Act::Block { .. }));
        }
        Some(Straight {
            acts: acts.into(),
            operands: operands.into(),
            alone,
        })
    }
}

/// A little-endian value at `at` whose upper `shift` bits are another's; what lies outside reads as 0.
#[inline]
pub(crate) fn leaf(payload: &[u8], at: usize, shift: u8) -> u64 {
    let shift = u32::from(shift);
    match payload.get(at..).and_then(|p| p.first_chunk::<8>()) {
        Some(bytes) => u64::from_le_bytes(*bytes) << shift >> shift,
        None => at_the_end(payload, at, shift),
    }
}

#[cold]
fn at_the_end(payload: &[u8], at: usize, shift: u32) -> u64 {
    let mut bytes = [0; 8];
    let have = payload.get(at..).unwrap_or_default();
    for (to, from) in bytes.iter_mut().zip(have) {
        *to = *from;
    }
    u64::from_le_bytes(bytes) << shift >> shift
}

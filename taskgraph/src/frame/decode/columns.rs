//! The columns values and other actions come from.

use super::long::Long;
use super::{DecodedFrame, WHAT};
use crate::action::{Action, AllocKind};
use crate::error::Result;
use crate::frame::predict::{Predictor, Slot};
use crate::frame::{other, tag};
use crate::wire::{Reader, unzigzag, zigzag};

/// The columns values come from.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) tags: Vec<u8>,
    /// Bytes of long values.
    pub(super) long: Long,
    pub(super) others: Vec<u8>,
    /// Values decoded, other actions used.
    pub(super) next_value: usize,
    pub(super) next_other: usize,
    /// Some values are stored as they are (since version 2).
    pub(super) plain: bool,
}

impl Columns {
    /// The values of one execution of a unit.
    #[inline]
    pub(super) fn unit(
        &mut self,
        p: &mut Predictor,
        unit: usize,
        n: usize,
        values: &mut [u64],
    ) -> Option<()> {
        let start = self.next_value;
        let end = start.checked_add(n)?;
        let tags = self.tags.get(start..end)?;
        let slots = p.enter(unit, n);
        let values = &mut values[start..end];
        if self.plain {
            decode_values::<true>(tags, &mut self.long, slots, values);
        } else {
            decode_values::<false>(tags, &mut self.long, slots, values);
        }
        self.next_value = end;
        if let Some(&last) = values.last() {
            p.last_value = last;
        }
        Some(())
    }

    pub(super) fn decode_others(&self, out: &mut DecodedFrame) -> Result<()> {
        let mut r = Reader::new(WHAT, &self.others);
        let mut addr = 0;
        while r.remaining() > 0 {
            let what = r.u8()?;
            addr = r.delta(addr)?;
            let mut size = || r.varint();
            let action = match what {
                other::FREE => Action::Free { addr },
                other::MAP => Action::Map {
                    addr,
                    size: size()?,
                },
                other::FRESH => Action::Fresh {
                    addr,
                    size: size()?,
                },
                other::UNMAP => Action::Unmap {
                    addr,
                    size: size()?,
                },
                kind => match AllocKind::from_u8(kind) {
                    Some(kind) => Action::Alloc {
                        addr,
                        size: size()?,
                        kind,
                    },
                    None => return Err(r.error(format!("action {kind} is none of this version"))),
                },
            };
            out.others.push(action);
        }
        Ok(())
    }
}

/// The values of one execution. Where bytes are cut off, [`Long::is_done`] tells later.
#[inline]
fn decode_values<const PLAIN: bool>(
    tags: &[u8],
    long: &mut Long,
    slots: &mut [Slot],
    values: &mut [u64],
) {
    let mut neighbour = 0;
    for ((&tag, slot), value) in tags.iter().zip(slots).zip(values) {
        let mut coded = u64::from(tag);
        if tag >= tag::LONG {
            let bytes = usize::from(tag - tag::LONG) + 1;
            coded = if PLAIN {
                long.next(bytes)
            } else {
                long.next_v1(bytes)
            };
        }
        let followed = slot.followed(neighbour);
        let miss = if PLAIN && slot.is_plain() {
            coded.wrapping_sub(slot.predicted())
        } else {
            unzigzag(coded).wrapping_add(followed)
        };
        *value = slot.predicted().wrapping_add(miss);
        if PLAIN {
            slot.weigh(*value, zigzag(miss.wrapping_sub(followed)));
        }
        slot.learn(*value, miss, neighbour);
        neighbour = miss;
    }
}

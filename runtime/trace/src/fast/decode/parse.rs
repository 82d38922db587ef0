//! Finds the records of a chunk, from its end to its beginning.

use super::{Decoder, Located, NO_PATH, short};
use crate::abi::{COUNT_BYTES, ID_BYTES};
use crate::fast::path::{Plan, Recorded};
use crate::program::{Meaning, Program};
use crate::stream::u48;
use crate::{Error, Result};

impl Decoder {
    pub(in crate::fast) fn parse(&mut self, payload: &[u8], program: &Program) -> Result<()> {
        self.records.clear();
        self.counts.clear();
        let mut end = payload.len();
        while end > 0 {
            let at = end.checked_sub(ID_BYTES).ok_or_else(|| short(end, ID_BYTES))?;
            let id = u32::from_le_bytes([
                payload[at],
                payload[at + 1],
                payload[at + 2],
                payload[at + 3],
            ]);
            let (mut path, mut alike) = (NO_PATH, false);
            let bytes = match program.meaning(id) {
                Some(Meaning::Block { operand_bytes, .. }) => operand_bytes as usize,
                Some(Meaning::Event { field_bytes }) => field_bytes,
                Some(Meaning::Path { number, plan }) => {
                    path = number;
                    let plan = plan.map_err(Clone::clone)?;
                    match plan.fixed_bytes() {
                        Some(n) => {
                            alike = true;
                            n
                        }
                        None => self.measure(payload, at, plan)?,
                    }
                }
                None => {
                    return Err(Error::Invalid {
                        what: "record id",
                        offset: at as u64,
                        detail: format!("{id:#x} belongs to no module of this trace"),
                    });
                }
            };
            let mut offset = at.checked_sub(bytes).ok_or_else(|| short(at, bytes))?;
            let mut times = 1;
            while alike
                && offset >= bytes + ID_BYTES
                && payload[offset - ID_BYTES..offset] == payload[at..at + ID_BYTES]
            {
                offset -= bytes + ID_BYTES;
                times += 1;
            }
            self.records.push(Located {
                offset: u32::try_from(offset).map_err(|_| short(offset, bytes))?,
                id,
                number: path,
                times,
            });
            end = offset;
        }
        Ok(())
    }

    /// Returns the bytes of a segment with recorded loops. It reads their counts from behind.
    fn measure(&mut self, payload: &[u8], end: usize, plan: &Plan) -> Result<usize> {
        let mut pos = end;
        for part in &plan.recorded {
            let bytes = match *part {
                Recorded::Bytes(n) => n,
                Recorded::Loop { last, each } => {
                    let at = pos.checked_sub(COUNT_BYTES).ok_or_else(|| short(pos, 6))?;
                    let count = u48(payload, at);
                    self.counts.push(count);
                    usize::try_from(count)
                        .ok()
                        .and_then(|c| each.checked_mul(c)?.checked_add(last + COUNT_BYTES))
                        .ok_or_else(|| short(pos, usize::MAX))?
                }
            };
            pos = pos.checked_sub(bytes).ok_or_else(|| short(pos, bytes))?;
        }
        Ok(end - pos)
    }
}

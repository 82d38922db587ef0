//! Reads the naive form of one level of a context, one block execution after the other.

use contech_trace::abi::ID_BYTES;
use contech_trace::program::{Meaning, Program as Ids};
use contech_trace::stream::operands;

use super::kept::{Kept, KeptChunk, Recording};
use crate::error::Result;

/// What comes next.
#[derive(Debug)]
pub(crate) enum Next<'a> {
    /// A block is executed with these operands.
    Block(u32, &'a [u64]),
    /// The recording ends here.
    End,
    /// The recording cannot be read any further; the text says why.
    Broken(String),
}

/// Reads a level's blocks from its chunks.
#[derive(Debug)]
pub(crate) struct Naive<'a> {
    kept: &'a Kept,
    /// The meaning of the ids in the chunk at hand.
    ids: &'a Ids,
    level: u8,
    recording: &'a Recording,
    chunks: std::slice::Iter<'a, KeptChunk>,
    payload: Vec<u8>,
    /// Blocks of the chunk that were not given out yet, and where their operands start. The next
    /// block is last.
    records: Vec<(u32, u32)>,
    operands: Vec<u64>,
}

impl<'a> Naive<'a> {
    pub(crate) fn new(kept: &'a Kept, ids: &'a Ids, recording: &'a Recording, level: u8) -> Self {
        Naive {
            kept,
            ids,
            level,
            recording,
            chunks: recording.chunks.iter(),
            payload: Vec::new(),
            records: Vec::new(),
            operands: Vec::new(),
        }
    }

    /// Returns the next block execution.
    pub(crate) fn next(&mut self) -> Result<Next<'_>> {
        loop {
            if let Some((block, offset)) = self.records.pop() {
                self.operands.clear();
                operands(&self.payload, offset, self.ids.ops(block), &mut self.operands);
                return Ok(Next::Block(block, &self.operands));
            }
            let Some(chunk) = self.chunks.find(|c| c.header.level == self.level) else {
                return Ok(if self.recording.gap {
                    Next::Broken("chunks of the naive form are missing".into())
                } else {
                    Next::End
                });
            };
            self.ids = &chunk.program.ids;
            let read = match self.kept.payload(chunk)? {
                Ok(payload) => {
                    self.payload = payload;
                    self.parse()
                }
                Err(e) => Err(e),
            };
            if let Err(e) = read {
                self.records.clear();
                let seq = chunk.header.seq;
                return Ok(Next::Broken(format!("chunk {seq} of the naive form: {e}")));
            }
        }
    }

    /// Finds the chunk's records, starting from its end.
    fn parse(&mut self) -> Result<(), String> {
        let mut end = self.payload.len();
        while end > 0 {
            let cut = || format!("the record that ends at byte {end} begins before the chunk");
            let at = end.checked_sub(ID_BYTES).ok_or_else(cut)?;
            let id: [u8; ID_BYTES] = self.payload[at..end].try_into().map_err(|_| cut())?;
            let id = u32::from_le_bytes(id);
            let Some(Meaning::Block { block, operand_bytes }) = self.ids.meaning(id) else {
                return Err(format!("{id:#x} at byte {at} is the id of no block"));
            };
            let offset = at.checked_sub(operand_bytes as usize).ok_or_else(cut)?;
            self.records.push((block, u32::try_from(offset).map_err(|_| cut())?));
            end = offset;
        }
        Ok(())
    }
}

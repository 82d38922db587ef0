//! The end of a frame: its columns are packed into a unit.

use super::{EncodedFrame, Running};
use crate::codec::Packer;
use crate::error::{Result, misuse};
use crate::frame::{COLUMNS, MAX_RECORDS, MAX_VALUES};
use crate::unit::{self, Tag};
use crate::wire::put_varint;

impl Running {
    pub(super) fn finish(&mut self) -> Option<EncodedFrame> {
        if self.records == 0 && self.fault.is_none() {
            return None;
        }
        let records = u32::try_from(self.records).unwrap_or(u32::MAX);
        let (bytes, mut fault) = match self.seal() {
            Ok(bytes) => (bytes, None),
            Err(e) => (Vec::new(), Some(e.to_string())),
        };
        fault = self.fault.take().or(fault);
        self.records = 0;
        self.columns.ids.clear();
        self.columns.planes.clear();
        self.others.clear();
        self.last_address = 0;
        self.known = false;
        self.initial.clear();
        self.predictor.reset();
        let paths = std::mem::take(&mut self.paths);
        for p in &paths {
            self.is_used[*p as usize] = false;
        }
        let counts = self.counts.since(self.counts_before);
        self.counts_before = self.counts;
        Some(EncodedFrame {
            bytes,
            fault,
            paths,
            counts,
            records,
        })
    }

    /// The unit of the frame.
    fn seal(&mut self) -> Result<Vec<u8>> {
        let c = &self.columns;
        if self.records > MAX_RECORDS || c.planes.values() > MAX_VALUES {
            let (records, values) = (self.records, c.planes.values());
            return Err(misuse(format!(
                "a frame of {records} records and {values} values; finish the frame when is_full says so"
            )));
        }
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(Packer::new(1)?),
        };
        let [tags, first, second, rest] = c.planes.columns();
        let columns: [&[u8]; COLUMNS] = [&c.ids, tags, first, second, rest, &self.others];
        let mut packed = Vec::new();
        let mut bytes = vec![0; unit::UNIT_HEADER];
        put_varint(&mut bytes, self.records as u64);
        for column in columns {
            let length = packer.pack(column, &mut packed)?;
            put_varint(&mut bytes, column.len() as u64);
            put_varint(&mut bytes, length as u64);
        }
        put_varint(&mut bytes, self.initial.len() as u64);
        bytes.append(&mut packed);
        bytes.extend_from_slice(&self.initial);
        let header = unit::header(Tag::Frame, &bytes[unit::UNIT_HEADER..])?;
        bytes[..unit::UNIT_HEADER].copy_from_slice(&header);
        Ok(bytes)
    }
}

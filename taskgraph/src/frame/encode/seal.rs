//! The end of a frame: its tables become columns, and the columns become a unit of the file.

use std::cmp::Reverse;

use super::{EncodedFrame, Running, Table};
use crate::codec::Packer;
use crate::error::{Result, misuse};
use crate::frame::{MAX_RECORDS, MAX_VALUES, PARTS, id_bytes};
use crate::sample::CodeOf;
use crate::unit::{self, Tag};
use crate::wire::put_varint;

/// Bytes of memory for rows that are kept for the next frame.
const KEPT_BYTES: usize = 16 << 20;

impl Running {
    pub(super) fn finish(&mut self) -> Option<EncodedFrame> {
        if self.ids.is_empty() && self.fault.is_none() {
            return None;
        }
        let records = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        let (bytes, mut fault) = match self.seal() {
            Ok(bytes) => (bytes, None),
            Err(e) => (Vec::new(), Some(e.to_string())),
        };
        fault = self.fault.take().or(fault);
        let first_path = u32::try_from(self.layout.blocks.len()).unwrap_or(u32::MAX);
        let paths = self.used.iter().filter_map(|s| s.checked_sub(first_path));
        let paths = paths.collect();
        self.clear();
        Some(EncodedFrame { bytes, fault, paths, code: CodeOf::default(), records })
    }

    fn clear(&mut self) {
        let tables = &mut self.tables;
        let weight = |s: &u32| tables.get(*s as usize).map_or(0, Table::weight);
        let free = self.used.iter().map(weight).sum::<usize>() > KEPT_BYTES;
        for symbol in self.used.drain(..) {
            if let Some(table) = tables.get_mut(symbol as usize) {
                table.clear(free);
            }
        }
        self.ids.clear();
        self.values = 0;
        self.others.clear();
        self.last_address = 0;
        self.known = false;
        self.resumes.clear();
    }

    /// The unit of the frame.
    fn seal(&mut self) -> Result<Vec<u8>> {
        if self.ids.len() > MAX_RECORDS || self.values > MAX_VALUES {
            let (records, values) = (self.ids.len(), self.values);
            return Err(misuse(format!(
                "a frame of {records} records and {values} values; finish the frame when is_full says so"
            )));
        }
        // The symbols with most records get the lowest numbers.
        let records = |local: u32| {
            let symbol = local.checked_sub(1).map(|at| self.used[at as usize]);
            let table = symbol.and_then(|s| self.tables.get(s as usize));
            table.map_or(0, |t| t.len())
        };
        let others = u32::from(!self.others.is_empty());
        let mut ranked: Vec<u32> = (1 - others..=self.used.len().try_into().unwrap_or(0)).collect();
        ranked.sort_by_cached_key(|local| Reverse(records(*local)));
        let mut ranks = vec![0u32; self.used.len() + 1];
        for (rank, local) in (0..).zip(&ranked) {
            ranks[*local as usize] = rank;
        }
        let bytes = id_bytes(ranked.len());
        let mut ids = Vec::with_capacity(bytes * self.ids.len());
        for byte in 0..bytes {
            let plane = self.ids.iter();
            ids.extend(plane.map(|local| ranks[*local as usize].to_le_bytes()[byte]));
        }
        let (mut heads, mut planes) = (Vec::new(), Vec::new());
        self.scratch.lengths.clear();
        let blocks = self.layout.blocks.len() as u64;
        for local in &ranked {
            let Some(at) = local.checked_sub(1) else {
                heads.push(0);
                continue;
            };
            let symbol = self.used[at as usize];
            let code = match u64::from(symbol).checked_sub(blocks) {
                None => 1 + 2 * u64::from(symbol),
                Some(path) => 2 + 2 * path,
            };
            put_varint(&mut heads, code);
            if let Some(table) = self.tables.get_mut(symbol as usize) {
                table.seal(&mut self.scratch, &mut heads, &mut planes);
            }
        }
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(Packer::new(1)?),
        };
        let mut packed = Vec::new();
        let mut bytes = vec![0; unit::UNIT_HEADER];
        put_varint(&mut bytes, self.ids.len() as u64);
        put_varint(&mut bytes, ranked.len() as u64);
        let mut sizes = Vec::with_capacity(PARTS);
        for column in [&ids, &heads, &planes, &self.others, self.resumes.bytes()] {
            let length = packer.pack(column, &mut packed)?;
            sizes.push(length);
            put_varint(&mut bytes, column.len() as u64);
            put_varint(&mut bytes, length as u64);
        }
        let lengths = &self.scratch.lengths;
        self.size.judge(self.values, (&planes, lengths), sizes[2], packer)?;
        bytes.append(&mut packed);
        let header = unit::header(Tag::Frame, &bytes[unit::UNIT_HEADER..])?;
        bytes[..unit::UNIT_HEADER].copy_from_slice(&header);
        Ok(bytes)
    }
}

//! The context table in a file: fixed-size records read in place, and the names beside them.

use std::collections::HashMap;

use crate::context::Context;
use crate::error::{Result, malformed, misuse};
use crate::id::{ContextId, TaskId};
use crate::wire::Reader;

/// Bytes of a record: id, tasks `u32`; first, last `u64`; creator context, sequence, name offset, name length `u32`;
/// flags, has-creator `u8`; address space `u16`.
const RECORD: usize = 44;

const WHAT: &str = "context table";

/// The payloads of the table and of the names. Equal names are stored once.
pub(crate) fn encode(contexts: &[Context]) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut table, mut names) = (Vec::with_capacity(contexts.len() * RECORD), Vec::new());
    let mut places: HashMap<&str, u32> = HashMap::new();
    for c in contexts {
        let start = names.len();
        let place = *places.entry(&c.name).or_insert_with(|| {
            names.extend_from_slice(c.name.as_bytes());
            u32::try_from(start).unwrap_or(u32::MAX)
        });
        let length = u32::try_from(c.name.len())
            .ok()
            .filter(|_| u32::try_from(names.len()).is_ok());
        let length = length.ok_or_else(|| misuse("context names over 4 GiB"))?;
        let creator = c.creator.unwrap_or_default();
        table.extend_from_slice(&c.id.get().to_le_bytes());
        table.extend_from_slice(&c.task_count.to_le_bytes());
        table.extend_from_slice(&c.first_ns.to_le_bytes());
        table.extend_from_slice(&c.last_ns.to_le_bytes());
        table.extend_from_slice(&creator.context.get().to_le_bytes());
        table.extend_from_slice(&creator.seq.to_le_bytes());
        table.extend_from_slice(&place.to_le_bytes());
        table.extend_from_slice(&length.to_le_bytes());
        table.extend_from_slice(&[c.flags, u8::from(c.creator.is_some())]);
        table.extend_from_slice(&c.space.to_le_bytes());
    }
    Ok((table, names))
}

/// The context table in the bytes of a file. Any bytes give some contexts, so nothing here fails once the table is
/// open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContextTable<'a> {
    records: &'a [[u8; RECORD]],
    names: &'a [u8],
}

impl<'a> ContextTable<'a> {
    pub(crate) fn new(table: &'a [u8], names: &'a [u8]) -> Result<Self> {
        match table.as_chunks() {
            (records, []) => Ok(Self { records, names }),
            (_, rest) => Err(malformed(
                WHAT,
                format!("{} bytes after its last record", rest.len()),
            )),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The context at a place in the table.
    pub(crate) fn get(&self, at: usize) -> Option<Context> {
        self.records.get(at).and_then(|r| self.read(r).ok())
    }

    /// The tasks of the context at a place in the table.
    pub(crate) fn task_count(&self, at: usize) -> u32 {
        let record = self.records.get(at);
        record.map_or(0, |r| u32::from_le_bytes([r[4], r[5], r[6], r[7]]))
    }

    /// The address space of the context at a place in the table.
    pub(crate) fn space(&self, at: usize) -> u16 {
        let record = self.records.get(at);
        record.map_or(0, |r| u16::from_le_bytes([r[RECORD - 2], r[RECORD - 1]]))
    }

    /// The place of a context. Ids are usually the places themselves; otherwise the table is searched.
    pub(crate) fn find(&self, id: ContextId) -> Option<usize> {
        let key = |r: &[u8; RECORD]| u32::from_le_bytes([r[0], r[1], r[2], r[3]]);
        match self.records.get(id.index()) {
            Some(r) if key(r) == id.get() => Some(id.index()),
            _ => self.records.binary_search_by_key(&id.get(), key).ok(),
        }
    }

    fn read(&self, record: &[u8; RECORD]) -> Result<Context> {
        let mut r = Reader::new(WHAT, record);
        let (id, task_count) = (ContextId::new(r.u32()?), r.u32()?);
        let (first_ns, last_ns) = (r.u64()?, r.u64()?);
        let creator = TaskId::new(ContextId::new(r.u32()?), r.u32()?);
        let (place, length) = (r.u32()? as usize, r.u32()? as usize);
        let (flags, created) = (r.u8()?, r.u8()?);
        let space = u16::from_le_bytes([r.u8()?, r.u8()?]);
        let name = self
            .names
            .get(place..place.saturating_add(length))
            .unwrap_or(b"");
        let name = String::from_utf8_lossy(name).into_owned();
        let creator = (created != 0).then_some(creator);
        Ok(Context {
            id,
            task_count,
            first_ns,
            last_ns,
            creator,
            name,
            flags,
            space,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_read_back_by_place_and_by_id() {
        let context = |id, name: &str| Context {
            id: ContextId::new(id),
            task_count: 3,
            first_ns: 1 << 40,
            last_ns: u64::MAX,
            creator: (id > 0).then(|| TaskId::new(ContextId::new(0), 7)),
            name: name.into(),
            flags: Context::ANNOUNCED,
            space: 513,
        };
        let contexts = [
            context(0, "main"),
            context(1, "worker"),
            context(9, "worker"),
            context(10, ""),
        ];
        let (table, names) = encode(&contexts).unwrap();
        assert_eq!(names, b"mainworker");
        let read = ContextTable::new(&table, &names).unwrap();
        for (at, c) in contexts.iter().enumerate() {
            assert_eq!(read.find(c.id), Some(at));
            assert_eq!(read.get(at).as_ref(), Some(c));
            assert_eq!(read.task_count(at), c.task_count);
        }
        assert_eq!(read.find(ContextId::new(2)), None);
        assert_eq!(read.get(4), None);
    }
}

//! The context table in a file: groups of contexts, stored by columns. A reader has all of them in
//! memory, 40 bytes for each.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::codec::MAX_PAGE;
use crate::column::{self, Coding, Head};
use crate::context::Context;
use crate::error::{Result, malformed, misuse};
use crate::id::{ContextId, TaskId};
use crate::page::{pack_page, unpack};
use crate::wire::{Reader, put_varint, unzigzag, zigzag};

/// The largest number of contexts in a group.
const GROUP: usize = 1 << 16;

/// Has a creator: a bit above the flags.
const CREATED: u64 = 1 << 8;

const WHAT: &str = "context table";

/// Collects the contexts of a graph that is written.
#[derive(Debug, Default)]
pub(crate) struct ContextTableWriter {
    /// The contexts that are in no group yet.
    group: Vec<Context>,
    groups: Vec<u8>,
    pub(crate) contexts: u64,
    /// The places of names. Equal names are stored once.
    places: HashMap<String, u64>,
    names: Vec<u8>,
}

impl ContextTableWriter {
    pub(crate) fn push(&mut self, context: Context) -> Result<()> {
        self.contexts += 1;
        if !self.places.contains_key(&context.name) {
            put_varint(&mut self.names, context.name.len() as u64);
            self.names.extend_from_slice(context.name.as_bytes());
            let next = self.places.len() as u64;
            self.places.insert(context.name.clone(), next);
        }
        self.group.push(context);
        match self.group.len() >= GROUP {
            true => self.end_group(),
            false => Ok(()),
        }
    }

    fn end_group(&mut self) -> Result<()> {
        let raw = encode_group(&self.group, &self.places);
        self.group.clear();
        put_page(&mut self.groups, &raw)
    }

    /// The payload of the table.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        if !self.group.is_empty() {
            self.end_group()?;
        }
        let mut table = Vec::new();
        put_page(&mut table, &self.names)?;
        table.append(&mut self.groups);
        Ok(table)
    }
}

fn put_page(table: &mut Vec<u8>, raw: &[u8]) -> Result<()> {
    let page = pack_page(raw)?;
    let length = u32::try_from(page.len()).map_err(|_| misuse("a page over 4 GiB"))?;
    table.extend_from_slice(&length.to_le_bytes());
    table.extend_from_slice(&page);
    Ok(())
}

fn encode_group(group: &[Context], names: &HashMap<String, u64>) -> Vec<u8> {
    let mut raw = Vec::new();
    put_varint(&mut raw, group.len() as u64);
    let (mut values, mut scratch, mut planes) = (Vec::new(), Vec::new(), Vec::new());
    let mut put = |coding, value: &mut dyn FnMut(&Context) -> u64| {
        values.clear();
        values.extend(group.iter().map(value));
        column::put(coding, &values, &[], &mut scratch, &mut raw, &mut planes);
        raw.append(&mut planes);
    };
    put(Coding::Delta, &mut |c| c.id.get().into());
    put(Coding::Plain, &mut |c| c.task_count.into());
    let mut first = 0;
    put(Coding::Plain, &mut |c| {
        zigzag(c.first_ns.wrapping_sub(std::mem::replace(&mut first, c.first_ns)))
    });
    put(Coding::Plain, &mut |c| c.last_ns.wrapping_sub(c.first_ns));
    put(Coding::Plain, &mut |c| u64::from(c.flags) | c.creator.map_or(0, |_| CREATED));
    for sequences in [false, true] {
        // Differences are against the creator before; sequences of other contexts are stored as
        // they are.
        let mut last = TaskId::default();
        put(Coding::Plain, &mut |c| {
            c.creator.map_or(0, |creator| {
                let before = std::mem::replace(&mut last, creator);
                let same = creator.context == before.context;
                let (value, base) = match sequences {
                    false => (creator.context.get(), before.context.get()),
                    true => (creator.seq, if same { before.seq } else { 0 }),
                };
                zigzag(u64::from(value).wrapping_sub(base.into()))
            })
        });
    }
    put(Coding::Plain, &mut |c| c.space.into());
    put(Coding::Plain, &mut |c| names.get(&c.name).copied().unwrap_or(0));
    raw
}

/// A context as the table has it.
#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    id: u32,
    tasks: u32,
    first_ns: u64,
    last_ns: u64,
    creator: TaskId,
    /// The place of its name.
    name: u32,
    flags: u16,
    space: u16,
}

/// The contexts of a graph.
#[derive(Debug)]
pub(crate) struct ContextTable {
    contexts: Vec<Stored>,
    names: Vec<String>,
}

impl ContextTable {
    /// Reads the table.
    pub(crate) fn decode(payload: &[u8]) -> Result<Self> {
        let mut r = Reader::new(WHAT, payload);
        let page = |r: &mut Reader<'_>| {
            let length = r.u32()? as usize;
            unpack(WHAT, r.take(length)?, MAX_PAGE)
        };
        let raw = page(&mut r)?;
        let mut stored = Reader::new(WHAT, &raw);
        let mut names = Vec::new();
        while stored.remaining() > 0 {
            let length = stored.count(stored.remaining())?;
            let name = String::from_utf8_lossy(stored.take(length)?);
            names.push(Cow::into_owned(name));
        }
        let mut contexts = Vec::new();
        while r.remaining() > 0 {
            decode_group(&page(&mut r)?, &mut contexts)?;
        }
        if contexts.iter().any(|c| c.name as usize >= names.len()) {
            return Err(malformed(WHAT, "a name that is not there"));
        }
        Ok(Self { contexts, names })
    }

    pub(crate) fn len(&self) -> usize {
        self.contexts.len()
    }

    /// The context at a place in the table.
    pub(crate) fn get(&self, at: usize) -> Option<Context> {
        let c = self.contexts.get(at)?;
        let flags = u64::from(c.flags);
        Some(Context {
            id: ContextId::new(c.id),
            task_count: c.tasks,
            first_ns: c.first_ns,
            last_ns: c.last_ns,
            creator: (flags & CREATED != 0).then_some(c.creator),
            name: self.names.get(c.name as usize)?.clone(),
            flags: flags.to_le_bytes()[0],
            space: c.space,
        })
    }

    /// The tasks of the context at a place in the table.
    pub(crate) fn task_count(&self, at: usize) -> u32 {
        self.contexts.get(at).map_or(0, |c| c.tasks)
    }

    /// The address space of the context at a place in the table.
    pub(crate) fn space(&self, at: usize) -> u16 {
        self.contexts.get(at).map_or(0, |c| c.space)
    }

    /// The place of a context.
    pub(crate) fn find(&self, id: ContextId) -> Option<usize> {
        // Mostly the ids are the places.
        match self.contexts.get(id.index()) {
            Some(c) if c.id == id.get() => Some(id.index()),
            _ => self.contexts.binary_search_by_key(&id.get(), |c| c.id).ok(),
        }
    }
}

/// Reads a group, column by column.
fn decode_group(raw: &[u8], contexts: &mut Vec<Stored>) -> Result<()> {
    let mut r = Reader::new(WHAT, raw);
    let all = r.count(GROUP)?;
    let from = contexts.len();
    contexts.resize(from + all, Stored::default());
    let group = &mut contexts[from..];
    let mut values = vec![0; all];
    let mut take = |set: &mut dyn FnMut(&mut Stored, u64) -> Result<(), &'static str>| {
        let head = Head::read(&mut r)?;
        let planes = head.take(&mut r, all, true)?;
        head.values(planes, &[], (all, 0..all), &mut values);
        let mut each = group.iter_mut().zip(&values);
        each.try_for_each(|(c, value)| set(c, *value)).map_err(|what| r.error(what))
    };
    take(&mut |c, v| small(v).map(|id| c.id = id))?;
    take(&mut |c, v| small(v).map(|tasks| c.tasks = tasks))?;
    let mut first = 0u64;
    take(&mut |c, v| {
        first = first.wrapping_add(unzigzag(v));
        c.first_ns = first;
        Ok(())
    })?;
    take(&mut |c, v| {
        c.last_ns = c.first_ns.wrapping_add(v);
        Ok(())
    })?;
    take(&mut |c, v| small(v).map(|flags| c.flags = flags))?;
    let step = |base: u32, step: u64| {
        let value = u64::from(base).wrapping_add(unzigzag(step));
        u32::try_from(value).map_err(|_| "a creator over 32 bits")
    };
    let is_created = |c: &Stored| u64::from(c.flags) & CREATED != 0;
    let mut context = 0;
    take(&mut |c, v| {
        if is_created(c) {
            context = step(context, v)?;
            c.creator.context = ContextId::new(context);
        }
        Ok(())
    })?;
    let mut last = TaskId::default();
    take(&mut |c, v| {
        if is_created(c) {
            c.creator.seq = step(if c.creator.context == last.context { last.seq } else { 0 }, v)?;
            last = c.creator;
        }
        Ok(())
    })?;
    take(&mut |c, v| small(v).map(|space| c.space = space))?;
    take(&mut |c, v| small(v).map(|name| c.name = name))?;
    r.end()
}

fn small<T: TryFrom<u64>>(value: u64) -> Result<T, &'static str> {
    T::try_from(value).map_err(|_| "a number that is too large")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_of_several_groups_read_back_as_they_were() {
        let contexts: Vec<Context> = (0..150_000u32)
            .map(|at| Context {
                id: ContextId::new(at + at / 1000),
                task_count: at % 7,
                first_ns: u64::from(at % 100) << 40,
                last_ns: (u64::from(at % 100) << 40) + u64::from(at),
                creator: (at % 5 > 0).then(|| TaskId::new(ContextId::new(at / 2), at % 3)),
                name: format!("worker {}", at % 9),
                flags: (at % 32).to_le_bytes()[0],
                space: u16::try_from(at / 50_000).unwrap(),
            })
            .collect();
        let mut writer = ContextTableWriter::default();
        for context in &contexts {
            writer.push(context.clone()).unwrap();
        }
        let table = ContextTable::decode(&writer.finish().unwrap()).unwrap();
        assert_eq!(table.len(), contexts.len());
        for (at, context) in contexts.into_iter().enumerate() {
            assert_eq!(table.find(context.id), Some(at));
            assert_eq!(table.get(at), Some(context));
        }
    }
}

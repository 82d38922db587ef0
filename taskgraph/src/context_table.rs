//! The context table in a file: groups of contexts, stored by columns. A reader has all of them in
//! memory, about thirty bytes for each.

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
    for creators in [Creators::contexts, Creators::sequences] {
        let mut before = Creators::default();
        put(Coding::Plain, &mut |c| {
            c.creator.map_or(0, |creator| {
                let [context, seq] = before.bases(creator.context);
                before.last = creator;
                let steps = [
                    u64::from(creator.context.get()).wrapping_sub(context),
                    u64::from(creator.seq).wrapping_sub(seq),
                ];
                zigzag(creators(steps))
            })
        });
    }
    put(Coding::Plain, &mut |c| c.space.into());
    put(Coding::Plain, &mut |c| names.get(&c.name).copied().unwrap_or(0));
    raw
}

/// What creators are stored as differences from: the creator before. Sequences of other contexts
/// are stored as they are.
#[derive(Default)]
struct Creators {
    last: TaskId,
}

impl Creators {
    fn bases(&self, context: ContextId) -> [u64; 2] {
        let same = context == self.last.context;
        let seq = if same { self.last.seq } else { 0 };
        [self.last.context.get().into(), seq.into()]
    }

    fn contexts([context, _]: [u64; 2]) -> u64 {
        context
    }

    fn sequences([_, seq]: [u64; 2]) -> u64 {
        seq
    }
}

/// One value for each context; a single one if they are all equal.
#[derive(Debug)]
struct Column<T>(Vec<T>);

impl<T: Copy + PartialEq> Column<T> {
    fn of(values: Vec<T>) -> Self {
        match values.split_first() {
            Some((first, rest)) if rest.iter().all(|value| value == first) => Self(vec![*first]),
            _ => Self(values),
        }
    }

    fn get(&self, at: usize) -> Option<T> {
        self.0.get(if self.0.len() == 1 { 0 } else { at }).copied()
    }
}

/// The contexts of a graph.
#[derive(Debug)]
pub(crate) struct ContextTable {
    /// Empty if the ids are the places.
    ids: Vec<u32>,
    tasks: Vec<u32>,
    /// First and last time.
    times: Vec<(u64, u64)>,
    flags: Column<u16>,
    creators: Column<TaskId>,
    spaces: Column<u16>,
    name: Column<u32>,
    names: Vec<String>,
}

/// Contexts while they are read.
#[derive(Default)]
struct Groups {
    ids: Vec<u32>,
    tasks: Vec<u32>,
    times: Vec<(u64, u64)>,
    flags: Vec<u16>,
    creators: Vec<TaskId>,
    spaces: Vec<u16>,
    name: Vec<u32>,
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
        let mut groups = Groups::default();
        while r.remaining() > 0 {
            groups.group(&page(&mut r)?)?;
        }
        let Groups { mut ids, tasks, times, flags, creators, spaces, name } = groups;
        if (0..).zip(&ids).all(|(at, id)| at == *id) {
            ids = Vec::new();
        }
        if name.iter().any(|name| *name as usize >= names.len()) {
            return Err(malformed(WHAT, "a name that is not there"));
        }
        Ok(Self {
            ids,
            tasks,
            times,
            flags: Column::of(flags),
            creators: Column::of(creators),
            spaces: Column::of(spaces),
            name: Column::of(name),
            names,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// The context at a place in the table.
    pub(crate) fn get(&self, at: usize) -> Option<Context> {
        let &(first_ns, last_ns) = self.times.get(at)?;
        let flags = u64::from(self.flags.get(at)?);
        let id = match self.ids.is_empty() {
            true => u32::try_from(at).ok()?,
            false => *self.ids.get(at)?,
        };
        Some(Context {
            id: ContextId::new(id),
            task_count: self.task_count(at),
            first_ns,
            last_ns,
            creator: self.creators.get(at).filter(|_| flags & CREATED != 0),
            name: self.names.get(self.name.get(at)? as usize)?.clone(),
            flags: flags.to_le_bytes()[0],
            space: self.space(at),
        })
    }

    /// The tasks of the context at a place in the table.
    pub(crate) fn task_count(&self, at: usize) -> u32 {
        self.tasks.get(at).copied().unwrap_or(0)
    }

    /// The address space of the context at a place in the table.
    pub(crate) fn space(&self, at: usize) -> u16 {
        self.spaces.get(at).unwrap_or(0)
    }

    /// The place of a context.
    pub(crate) fn find(&self, id: ContextId) -> Option<usize> {
        match self.ids.is_empty() {
            true => Some(id.index()).filter(|at| *at < self.len()),
            false => self.ids.binary_search(&id.get()).ok(),
        }
    }
}

impl Groups {
    /// Reads a group.
    fn group(&mut self, raw: &[u8]) -> Result<()> {
        let mut r = Reader::new(WHAT, raw);
        let all = r.count(GROUP)?;
        let mut values = vec![0; all];
        let (mut first, mut last) = (0u64, TaskId::default());
        let from = self.tasks.len();
        take(&mut r, &mut values)?;
        push(&r, &values, &mut self.ids)?;
        take(&mut r, &mut values)?;
        push(&r, &values, &mut self.tasks)?;
        take(&mut r, &mut values)?;
        self.times.extend(values.iter().map(|step| {
            first = first.wrapping_add(unzigzag(*step));
            (first, first)
        }));
        take(&mut r, &mut values)?;
        for ((first, last), length) in self.times[from..].iter_mut().zip(&values) {
            *last = first.wrapping_add(*length);
        }
        take(&mut r, &mut values)?;
        push(&r, &values, &mut self.flags)?;
        let mut contexts = values.clone();
        take(&mut r, &mut contexts)?;
        take(&mut r, &mut values)?;
        let flags = self.flags[from..].iter();
        for ((flags, context), seq) in flags.zip(&contexts).zip(&values) {
            if u64::from(*flags) & CREATED == 0 {
                self.creators.push(TaskId::default());
                continue;
            }
            let step = |base: u32, step: u64| {
                let value = u64::from(base).wrapping_add(unzigzag(step));
                u32::try_from(value).map_err(|_| r.error("a creator over 32 bits"))
            };
            let context = ContextId::new(step(last.context.get(), *context)?);
            let base = if context == last.context { last.seq } else { 0 };
            last = TaskId::new(context, step(base, *seq)?);
            self.creators.push(last);
        }
        take(&mut r, &mut values)?;
        push(&r, &values, &mut self.spaces)?;
        take(&mut r, &mut values)?;
        push(&r, &values, &mut self.name)?;
        r.end()
    }
}

/// Reads the next column.
fn take(r: &mut Reader<'_>, values: &mut [u64]) -> Result<()> {
    let head = Head::read(r)?;
    let all = values.len();
    let planes = head.take(r, all, true)?;
    head.values(planes, &[], (all, 0..all), values);
    Ok(())
}

/// Appends the values of a column.
fn push<T: TryFrom<u64>>(r: &Reader<'_>, values: &[u64], out: &mut Vec<T>) -> Result<()> {
    out.reserve(values.len());
    for value in values {
        let value = T::try_from(*value);
        out.push(value.map_err(|_| r.error("a number that is too large"))?);
    }
    Ok(())
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

//! The path tables in a file: the functions and paths that occur in it.

use std::collections::BTreeMap;

use crate::codec::{MAX_TABLES, Packer};
use crate::error::Result;
use crate::page::{pack, unpack};
use crate::path::{Path, PathFunction};
use crate::wire::{Reader, put_varint};

const WHAT: &str = "path tables";
const LEVEL: i32 = 9;

/// The payload of the path tables: functions by ascending number, then paths by ascending number.
pub(crate) fn encode<'a>(
    functions: &BTreeMap<u32, &'a PathFunction>,
    paths: &BTreeMap<u32, &'a Path>,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut previous = 0;
    put_varint(&mut out, functions.len() as u64);
    for (&number, f) in functions {
        put_varint(&mut out, u64::from(number - previous));
        previous = number;
        f.encode(&mut out);
    }
    previous = 0;
    put_varint(&mut out, paths.len() as u64);
    for (&number, p) in paths {
        put_varint(&mut out, u64::from(number - previous));
        previous = number;
        p.encode(&mut out);
    }
    pack(&out, MAX_TABLES, &mut Packer::new(LEVEL)?)
}

/// Functions and paths by number.
pub(crate) type Tables = (Vec<(u32, PathFunction)>, Vec<(u32, Path)>);

/// Reads the payload; it checks only that the bytes can be read.
pub(crate) fn decode(payload: &[u8]) -> Result<Tables> {
    let raw = unpack(WHAT, payload, MAX_TABLES)?;
    let mut r = Reader::new(WHAT, &raw);
    let functions = numbered(&mut r, PathFunction::decode)?;
    let paths = numbered(&mut r, Path::decode)?;
    r.end()?;
    Ok((functions, paths))
}

fn numbered<T>(
    r: &mut Reader<'_>,
    take: impl Fn(&mut Reader<'_>) -> Result<T>,
) -> Result<Vec<(u32, T)>> {
    let n = r.count(r.remaining())?;
    let mut number = 0u32;
    (0..n)
        .map(|i| {
            let step = r.varint32()?;
            let next = number.checked_add(step).filter(|_| step > 0 || i == 0);
            number = next.ok_or_else(|| r.error("its numbers do not ascend"))?;
            Ok((number, take(r)?))
        })
        .collect()
}

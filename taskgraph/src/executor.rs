//! Executors: the threads that executed the tasks of a run. In a file their table has fixed-size
//! records, which are read in place.

use crate::error::{Result, malformed};
use crate::id::ExecutorId;

/// An executor: a thread. A thread that executes one context only has the tasks of that context; a
/// thread of an OpenMP team, of rayon or of tokio has tasks of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executor {
    /// Its id.
    pub id: ExecutorId,
    /// The kernel's id of the thread; 0 if it is not known.
    pub tid: u32,
    /// The process of the thread: in a merged MPI run the place in [`crate::RunMeta::ranks`];
    /// otherwise 0.
    pub space: u16,
}

/// Bytes of a record: kernel thread id `u32`, address space `u16`, two zeros.
const RECORD: usize = 8;

pub(crate) fn encode(executors: &[Executor]) -> Vec<u8> {
    let mut table = Vec::with_capacity(executors.len() * RECORD);
    for executor in executors {
        table.extend_from_slice(&executor.tid.to_le_bytes());
        table.extend_from_slice(&executor.space.to_le_bytes());
        table.extend_from_slice(&[0; 2]);
    }
    table
}

/// Checks a table before its records are read.
pub(crate) fn check(table: &[u8]) -> Result<()> {
    match table.len() % RECORD {
        0 => Ok(()),
        rest => Err(malformed("executor table", format!("{rest} bytes after its last record"))),
    }
}

/// The records of a table.
pub(crate) fn records(table: &[u8]) -> &[[u8; RECORD]] {
    table.as_chunks().0
}

/// The executor with this number.
pub(crate) fn read(number: u32, record: &[u8; RECORD]) -> Executor {
    let [a, b, c, d, e, f, ..] = *record;
    Executor {
        id: ExecutorId::new(number),
        tid: u32::from_le_bytes([a, b, c, d]),
        space: u16::from_le_bytes([e, f]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_read_back() {
        let executor =
            |number| Executor { id: ExecutorId::new(number), tid: u32::MAX - number, space: 513 };
        let all: Vec<Executor> = (0..3).map(executor).collect();
        let table = encode(&all);
        check(&table).unwrap();
        let found = (0..).zip(records(&table)).map(|(n, r)| read(n, r));
        assert!(found.eq(all));
        assert!(check(&table[1..]).is_err());
    }
}

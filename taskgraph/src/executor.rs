//! Executors: the threads that executed the tasks of a run. In a file their table has fixed-size
//! records, which are read in place.

use crate::error::Result;
use crate::id::ExecutorId;
use crate::wire;

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
pub(crate) const RECORD: usize = 8;

pub(crate) fn encode(executors: &[Executor]) -> Vec<u8> {
    let mut table = Vec::with_capacity(executors.len() * RECORD);
    for executor in executors {
        table.extend_from_slice(&executor.tid.to_le_bytes());
        table.extend_from_slice(&executor.space.to_le_bytes());
        table.extend_from_slice(&[0; 2]);
    }
    table
}

/// The records of a table.
pub(crate) fn records(table: &[u8]) -> Result<&[[u8; RECORD]]> {
    wire::records("executor table", table)
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

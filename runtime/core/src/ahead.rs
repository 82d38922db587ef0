#![allow(unsafe_code, reason = "reads a thread's buffer beyond its thread-local cursor")]
//! Where interrupted code really was. Instrumented code keeps its cursor in a register between
//! calls. When a signal ends the process, or a jump leaves a handler, the records beyond the
//! thread-local cursor would be lost. The register that holds the cursor is taken to be one that
//! points into the buffer such that the bytes before it are whole records. The format reads
//! backwards, so another register hardly passes this test by chance. But the test is no proof: the
//! cursor may be in memory, and a register may hold an older cursor. A segment under way is not a
//! whole record. In that case the bytes are kept up to the last id at which they are whole.

use contech_trace::abi::ID_BYTES;
use contech_trace::fast::Decoder;
use contech_trace::program::Program;
use contech_trace::table::ModuleTable;

use crate::buffer::Buffer;
use crate::modules::Modules;
use crate::recorder::Recorder;
use crate::sync::lock;
use contech_interpose::arch::Registers;

/// Each try reads all records again. After this many tries the bytes are something else.
const MOST_TRIED: usize = 64;

impl Recorder {
    /// The cursor of code interrupted with these registers, if one is ahead of `cursor` in this
    /// buffer and the bytes between are whole records; otherwise the end of the whole records
    /// before it.
    pub(crate) fn cursor_ahead(
        &self,
        buffer: &Buffer,
        (cursor, limit): (*mut u8, *mut u8),
        registers: &Registers,
    ) -> Option<*mut u8> {
        if !buffer.contains(cursor) {
            return None;
        }
        // A register that holds the limit says nothing: code compares the limit with the cursor.
        let mut candidates = registers.to_vec();
        let limits = [limit.addr(), buffer.limit().addr()];
        candidates.retain(|at| {
            *at > cursor.addr() && !limits.contains(at) && buffer.contains(cursor.with_addr(*at))
        });
        candidates.sort_unstable();
        let highest = *candidates.last()?;
        // SAFETY: both ends lie in the buffer, whose thread is this one or stands still.
        let bytes = unsafe { std::slice::from_raw_parts(cursor, highest - cursor.addr()) };
        let program = program_of(&lock(&self.modules));
        // The runtime's events move the thread-local cursor. So beyond that cursor there are none,
        // and a leaf only looks like one.
        let whole = |n: &usize| Decoder::default().is_code(&bytes[..*n], &program);
        let ends = candidates.iter().rev().map(|at| at - cursor.addr());
        let found = ends.clone().find(whole).or_else(|| {
            let ends_in_id = |n: &usize| {
                let id = bytes[..*n].last_chunk().map(|id| u32::from_le_bytes(*id));
                id.is_some_and(|id| program.meaning(id).is_some())
            };
            (ID_BYTES..highest - cursor.addr())
                .rev()
                .filter(ends_in_id)
                .take(MOST_TRIED)
                .find(whole)
        });
        Some(cursor.with_addr(cursor.addr() + found?))
    }
}

fn program_of(modules: &Modules) -> Program {
    let mut program = Program::default();
    for found in modules.loaded() {
        if let (Some((base, count)), Ok(mut table)) =
            (found.ids(), ModuleTable::decode(found.table))
        {
            // A module that cannot be added makes its records unreadable, and nothing is recovered.
            let _ = program.add(base, count, &mut table, found.globals, None);
        }
    }
    program
}

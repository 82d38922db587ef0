#![allow(
    unsafe_code,
    reason = "reads a thread's buffer beyond its thread-local cursor"
)]
//! Where interrupted code really was. Instrumented code keeps its cursor in a register between calls;
//! when a signal ends the process, or a handler is left by a jump, the records beyond the thread-local
//! cursor would be lost. The register that holds the cursor is the one that points into the buffer, and
//! up to which the bytes are whole records: the format reads backwards, so that is hard to hit by
//! chance. It is a find, not a proof: the cursor may be in memory, and a register hold an older one.

use contech_trace::fast::Decoder;
use contech_trace::program::Program;
use contech_trace::table::ModuleTable;

use crate::buffer::Buffer;
use crate::level::Registers;
use crate::modules::Modules;
use crate::recorder::Recorder;
use crate::sync::lock;

impl Recorder {
    /// The cursor of code interrupted with these registers, if one is ahead of `cursor` in this
    /// buffer and the bytes between are whole records.
    pub(crate) fn cursor_ahead(
        &self,
        buffer: &Buffer,
        cursor: *mut u8,
        registers: &Registers,
    ) -> Option<*mut u8> {
        if !buffer.contains(cursor) {
            return None;
        }
        let mut candidates = *registers;
        candidates.sort_unstable();
        let mut program = None;
        for candidate in candidates.into_iter().rev() {
            let ahead = cursor.with_addr(candidate);
            if candidate <= cursor.addr() || !buffer.contains(ahead) {
                continue;
            }
            // SAFETY: both ends lie in the buffer, whose thread is this one or stands still.
            let bytes = unsafe { std::slice::from_raw_parts(cursor, candidate - cursor.addr()) };
            let program = program.get_or_insert_with(|| program_of(&lock(&self.modules)));
            if Decoder::default().is_whole(bytes, program) {
                return Some(ahead);
            }
        }
        None
    }
}

fn program_of(modules: &Modules) -> Program {
    let mut program = Program::default();
    for found in modules.loaded() {
        let d = &found.descriptor;
        #[allow(clippy::cast_possible_truncation, reason = "ids are the low 32 bits")]
        let (base, count) = (d.ids as u32, d.id_count as u32);
        if let Ok(table) = ModuleTable::decode(found.table) {
            // A module that cannot be added makes its records unreadable, and nothing is recovered.
            let _ = program.add(base, count, &table, found.globals);
        }
    }
    program
}

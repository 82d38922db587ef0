//! The chunks of both recordings, which the temporary file keeps until the trace was read.

use std::collections::BTreeMap;
use std::sync::Arc;

use contech_trace::file::{ChunkHeader, ChunkKind};
use contech_trace::reader::Chunk;

use crate::error::Result;
use crate::program::Program;
use crate::spill::Spill;

/// A chunk in the temporary file.
#[derive(Debug)]
pub(crate) struct KeptChunk {
    pub(crate) header: ChunkHeader,
    /// The modules as they were when the chunk was recorded. A module that was loaded later may
    /// have taken another one's ids.
    pub(crate) program: Arc<Program>,
    /// Place of the chunk in the trace.
    offset: u64,
    /// Place of the chunk in the temporary file.
    at: u64,
}

/// One of a context's two recordings.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) chunks: Vec<KeptChunk>,
    /// Number of the chunk that comes next.
    next: u64,
    /// A chunk is missing after those that were kept.
    pub(crate) gap: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Recordings {
    pub(crate) main: Recording,
    pub(crate) naive: Recording,
}

/// Everything that is to be compared.
#[derive(Debug)]
pub(crate) struct Kept {
    spill: Arc<Spill>,
    pub(crate) contexts: BTreeMap<u32, Recordings>,
    /// Streams began before the first module that is recorded in both forms, so their first chunks
    /// are missing here.
    pub(crate) began_late: bool,
}

impl Kept {
    pub(crate) fn new(spill: &Arc<Spill>) -> Self {
        Kept { spill: Arc::clone(spill), contexts: BTreeMap::new(), began_late: false }
    }

    /// Takes what was kept and leaves nothing.
    pub(crate) fn take(&mut self) -> Self {
        let nothing = Kept::new(&self.spill);
        std::mem::replace(self, nothing)
    }

    pub(crate) fn keep(&mut self, chunk: &Chunk, program: Arc<Program>) -> Result<()> {
        let header = chunk.header;
        let recordings = self.contexts.entry(header.context).or_default();
        let recording = if header.kind == ChunkKind::Check {
            &mut recordings.naive
        } else {
            &mut recordings.main
        };
        let first = self.began_late && recording.chunks.is_empty() && !recording.gap;
        if recording.gap || header.seq < recording.next {
            return Ok(());
        }
        if header.seq > recording.next && !first {
            recording.gap = true;
            return Ok(());
        }
        recording.next = header.seq.saturating_add(1);
        recording.chunks.push(KeptChunk {
            header,
            program,
            offset: chunk.offset,
            at: self.spill.append(&chunk.stored)?,
        });
        Ok(())
    }

    /// Reads the payload of a chunk. The inner error says why the chunk has none.
    pub(crate) fn payload(&self, kept: &KeptChunk) -> Result<Result<Vec<u8>, String>> {
        let mut stored = vec![0; kept.header.stored_len as usize];
        self.spill.read(&mut stored, kept.at)?;
        let mut chunk = Chunk { header: kept.header, stored, offset: kept.offset };
        let mut raw = Vec::new();
        let read = chunk.payload(&mut raw).map(|_| ());
        match read {
            Err(e) => Ok(Err(e.to_string())),
            Ok(()) if raw.is_empty() => Ok(Ok(std::mem::take(&mut chunk.stored))),
            Ok(()) => Ok(Ok(raw)),
        }
    }
}

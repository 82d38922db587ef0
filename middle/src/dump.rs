//! The text form of a trace has one line for each block execution and event. It serves tests and
//! people.

use std::collections::HashMap;
use std::io::Write;

use contech_trace::event::Event;
use contech_trace::fast::{Decoder, Sink};
use contech_trace::file::{ChunkKind, ModuleLoad, RankInfo, RunInfo, Totals};
use contech_trace::reader::{Chunk, Next};

use crate::error::{Error, Result};
use crate::input::{Input, UNREADABLE};
use crate::program::{Program, ProgramBuilder};

/// Writes the text form of a trace, in file order. With `context`, only what that context recorded
/// is written.
///
/// | line | |
/// |---|---|
/// | `chunk C seq N` ... | a chunk of context C follows |
/// | `C block B FUNCTION FILE:LINE OPERANDS` | execution of block B |
/// | `C EVENT FIELDS` | an event |
/// | `skipped FROM..TO REASON` | bytes that belong to no whole chunk |
///
/// # Errors
/// The input cannot be read or is no trace of this version, or `out` fails.
pub fn dump_trace(input: Input, context: Option<u32>, out: &mut dyn Write) -> Result<()> {
    let name = input.name();
    let (header, mut reader) = input.open()?.chunks(&name, UNREADABLE)?;
    let mut dump = Dump {
        context,
        program: ProgramBuilder::default(),
        decoders: HashMap::new(),
        text: String::new(),
    };
    dump.line(&format!(
        "trace pid {} clock_hz {} start_unix_ns {}",
        header.pid, header.clock_hz, header.start_unix_ns
    ));
    loop {
        let next = reader.next_chunk().map_err(Error::unreadable(&name, UNREADABLE))?;
        match next {
            Next::Chunk(ref chunk) => dump.chunk(chunk),
            Next::Skipped { from, to, ref error } => {
                dump.line(&format!("skipped {from}..{to} {error}"));
            }
            Next::End => dump.line("end of file"),
        }
        out.write_all(dump.text.as_bytes()).map_err(|source| Error::Input {
            action: "print",
            file: name.clone(),
            source,
            remedy: "check where the output goes",
        })?;
        dump.text.clear();
        if matches!(next, Next::End) {
            return Ok(());
        }
    }
}

struct Dump {
    context: Option<u32>,
    program: ProgramBuilder,
    /// For each context, the number of the chunk that comes next and what is known before it.
    decoders: HashMap<u32, (u64, Decoder)>,
    text: String,
}

impl Dump {
    fn line(&mut self, line: &str) {
        self.text.push_str(&contech_plain::line(line));
        self.text.push('\n');
    }

    fn chunk(&mut self, chunk: &Chunk) {
        let mut raw = Vec::new();
        match chunk.payload(&mut raw) {
            Ok(bytes) => self.payload(chunk, bytes),
            Err(e) => self.line(&format!("unreadable {e}")),
        }
    }

    fn payload(&mut self, chunk: &Chunk, bytes: &[u8]) {
        let h = &chunk.header;
        let line = match h.kind {
            ChunkKind::Stream => return self.stream(chunk, bytes),
            ChunkKind::Check => format!("check chunk {} seq {}", h.context, h.seq),
            ChunkKind::Run => match RunInfo::from_bytes(bytes) {
                Ok(run) => {
                    format!("run {:?} exe {:?} options {:?}", run.command, run.exe, run.options)
                }
                Err(e) => format!("run unreadable: {e}"),
            },
            ChunkKind::Module => match ModuleLoad::from_bytes(bytes) {
                Ok(m) => {
                    let (object, ids) = (m.object.clone(), (m.id_base, m.id_count));
                    let added = self.program.add(m);
                    let fault = added.err().map(|e| format!(" unusable: {e}"));
                    format!(
                        "module {:?} ids {:#x}+{}{}",
                        object,
                        ids.0,
                        ids.1,
                        fault.unwrap_or_default()
                    )
                }
                Err(e) => format!("module unreadable: {e}"),
            },
            ChunkKind::Rank => match RankInfo::from_bytes(bytes) {
                Ok(r) => format!("rank {} of {} ({})", r.rank, r.size, r.library),
                Err(e) => format!("rank information: {e}"),
            },
            ChunkKind::End => match Totals::from_bytes(bytes) {
                Ok(t) => format!(
                    "end complete {} clock_hz {} end {} contexts {} lost_bytes {} notes {:?}",
                    t.complete, t.clock_hz, t.end, t.contexts, t.lost_bytes, t.notes
                ),
                Err(e) => format!("end unreadable: {e}"),
            },
        };
        self.line(&line);
    }

    fn stream(&mut self, chunk: &Chunk, bytes: &[u8]) {
        let h = &chunk.header;
        if self.context.is_some_and(|c| c != h.context) {
            return;
        }
        self.line(&format!(
            "chunk {} seq {} byte {} raw {} ticks {}..{}",
            h.context, h.seq, chunk.offset, h.raw_len, h.first, h.last
        ));
        let program = self.program.snapshot();
        let mut lines =
            Lines { context: h.context, program: &program, text: std::mem::take(&mut self.text) };
        let (next, decoder) = self.decoders.entry(h.context).or_default();
        if h.seq != *next {
            decoder.forget();
        }
        *next = h.seq + 1;
        let decoded = decoder.chunk(bytes, &program.ids, &mut lines);
        self.text = lines.text;
        if let Err(e) = decoded {
            self.line(&format!("unreadable in this chunk: {e}"));
        }
    }
}

struct Lines<'a> {
    context: u32,
    program: &'a Program,
    text: String,
}

impl Lines<'_> {
    fn line(&mut self, line: &str) {
        let context = self.context;
        let line = contech_plain::line(line);
        self.text.push_str(&format!("{context} {line}\n"));
    }
}

impl Sink for Lines<'_> {
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.line(&block_text(block, operands, self.program));
    }

    fn event(&mut self, event: Event) {
        self.line(&event_text(&event));
    }
}

fn block_text(block: u32, operands: &[u64], program: &Program) -> String {
    let place = program.place(block).map_or_else(
        || "? ?:0".to_owned(),
        |(function, file, line)| format!("{function} {file}:{line}"),
    );
    let mut text = format!("block {block} {place}");
    for o in operands {
        text.push_str(&format!(" {o:#x}"));
    }
    text
}

fn event_text(event: &Event) -> String {
    match *event {
        Event::Sync { op, object, ticket, aux, before, duration } => format!(
            "sync {op:?} object {object:#x} ticket {ticket} aux {aux:#x} at {before} for {duration}"
        ),
        Event::Untimed { op, object, ticket, aux } => {
            format!("sync {op:?} object {object:#x} ticket {ticket} aux {aux:#x}, time open")
        }
        Event::Alloc { kind, addr, size } => format!("alloc {kind:?} {addr:#x} {size}"),
        Event::Free { addr } => format!("free {addr:#x}"),
        Event::Map { addr, size } => format!("map {addr:#x} {size}"),
        Event::Fresh { addr, size } => format!("fresh {addr:#x} {size}"),
        Event::Unmap { addr, size } => format!("unmap {addr:#x} {size}"),
        Event::ContextStart { context, creator, announced, tid, at } => format!(
            "start context {context} creator {creator} announced {announced} tid {tid} at {at}"
        ),
        Event::ContextEnd { reason, at } => format!("end {reason:?} at {at}"),
        Event::Delay { before, duration } => format!("delay at {before} for {duration}"),
        Event::Stolen { taken } => format!("stolen {taken}"),
        Event::Position { at, ran, system, faults, own, processor } => format!(
            "position {at} ran {ran} us, in the kernel {system} us, faults {faults}, own {own}, processor {processor}"
        ),
        Event::Lost { bytes } => format!("lost {bytes}"),
        Event::Again { bytes, count } => format!("again {count} times {bytes} bytes"),
        Event::Roi { begin, at } => format!("roi begin {begin} at {at}"),
        Event::Accesses { at, recorded } => format!("accesses {recorded:?} at {at}"),
        Event::Switch { context, piece, how, at } => {
            format!("switch {how:?} context {context} piece {piece} at {at}")
        }
    }
}

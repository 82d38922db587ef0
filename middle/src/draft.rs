//! Tasks on their way from the recorded streams to the graph. Their times are still ticks, and
//! barriers have no numbers yet. The drafts of a context are stored one after the other in its log.

use std::ops::Range;

use taskgraph::{Counts, FrameRef, FrameSpan, SyncOp, TaskKind};

use crate::error::{Error, Result};
use crate::log::Pages;
use crate::varint::{get, get32, put};

/// A task or an arrival at a barrier, which then has the kind Barrier.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    pub(crate) kind: TaskKind,
    pub(crate) op: SyncOp,
    pub(crate) object: u64,
    /// The stream in which it was recorded: that of the thread which executed it.
    pub(crate) executor: u32,
    /// In ticks; not before the end of the context's previous draft.
    pub(crate) start: u64,
    /// In ticks; not before the start.
    pub(crate) end: u64,
    /// The times are open until those of a later draft are known ([`settle`]).
    pub(crate) open: bool,
    pub(crate) spans: Vec<FrameSpan>,
    pub(crate) counts: Counts,
}

/// The lowest bits of an entry's first byte say what it is: the last entry of a draft, a span of the
/// draft that follows, or the place in the file of the chunk that the drafts that follow came from.
const WORK: u8 = 0;
const SYNC: u8 = 1;
const SPAN: u8 = 2;
const CHUNK: u8 = 3;
const ENTRY: u8 = 3;
/// A bit of the first byte of a chunk's place: a number of an executor follows instead. The drafts
/// that follow, and the one that has begun, are of that executor.
const EXECUTOR: u8 = 4;
/// A draft that begins where the one before ends. Only its duration follows.
const FOLLOWS: u8 = 4;
/// A work task with the counts of the previous one.
const COUNTED: u8 = 8;
/// A work task whose last span begins where the last span ended. Only the number of the span's
/// records follows.
const GOES_ON: u8 = 16;
/// A synchronisation like the last one, or like the last one that was different from that.
const LAST: u8 = 8;
const BEFORE: u8 = 16;
/// A synchronisation whose record stands where the last span ended.
const HERE: u8 = 64;

/// A draft whose times are open. None follow.
const OPEN: u8 = 32;
/// At most so many drafts in a row have open times.
const MOST_OPEN: usize = 64;

/// What a synchronisation task does: kind, operation and object.
type Deed = (TaskKind, SyncOp, u64);

/// Frame and record at which a span begins if it goes on where `span` ended.
fn after(span: &FrameSpan) -> (u64, u32) {
    (span.frame.0, span.first_record.wrapping_add(span.records))
}

/// Writes the entries of one context as differences from what the reader has already seen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DraftWriter {
    previous_end: u64,
    /// The last two different ones, the last one first.
    deeds: [Option<Deed>; 2],
    counts: Option<Counts>,
    /// Frame and record at which the last span ended.
    next: Option<(u64, u32)>,
    /// The executor of the last draft.
    executor: Option<u32>,
}

impl DraftWriter {
    /// Tick at which the last draft ends.
    pub(crate) fn end(self) -> u64 {
        self.previous_end
    }

    /// An encoder that goes on after a draft that ended at `previous_end`.
    pub(crate) fn after(previous_end: u64) -> Self {
        DraftWriter { previous_end, ..DraftWriter::default() }
    }

    pub(crate) fn put_chunk(out: &mut Vec<u8>, offset: u64) {
        out.push(CHUNK);
        put(out, offset);
    }

    /// Writes a span of the work task whose draft follows.
    pub(crate) fn put_span(&mut self, out: &mut Vec<u8>, span: &FrameSpan) {
        out.push(SPAN);
        put(out, span.frame.0);
        put(out, span.first_record.into());
        put(out, span.records.into());
        self.next = Some(after(span));
    }

    /// Writes the executor of the draft that follows, if the draft before has another one.
    fn put_executor(&mut self, out: &mut Vec<u8>, executor: u32) {
        if self.executor.replace(executor) != Some(executor) {
            out.push(CHUNK | EXECUTOR);
            put(out, executor.into());
        }
    }

    /// Writes the first byte of a draft, and its times.
    fn put_first(&mut self, out: &mut Vec<u8>, first: u8, times: Option<(u64, u64)>) {
        let Some((start, end)) = times else {
            return out.push(first | OPEN);
        };
        let before = std::mem::replace(&mut self.previous_end, end);
        if start <= before {
            out.push(first | FOLLOWS);
        } else {
            out.push(first);
            put(out, start - before);
        }
        put(out, end.saturating_sub(start));
    }

    /// Writes a work task with its last span. The earlier spans were written before.
    pub(crate) fn put_work(
        &mut self,
        out: &mut Vec<u8>,
        executor: u32,
        times: Option<(u64, u64)>,
        counts: &Counts,
        last: Option<&FrameSpan>,
    ) {
        self.put_executor(out, executor);
        let goes_on = last.filter(|s| self.next == Some((s.frame.0, s.first_record)));
        match (goes_on, last) {
            (None, Some(span)) => self.put_span(out, span),
            (Some(span), _) => self.next = Some(after(span)),
            _ => {}
        }
        let same = self.counts.replace(*counts) == Some(*counts);
        let counted = if same { COUNTED } else { 0 };
        let going = if goes_on.is_some() { GOES_ON } else { 0 };
        self.put_first(out, WORK | counted | going, times);
        if let Some(span) = goes_on {
            put(out, span.records.into());
        }
        if !same {
            for n in counts.numbers() {
                put(out, n);
            }
        }
    }

    /// Writes any task that is not work, with its record if it has one.
    pub(crate) fn put_sync(&mut self, out: &mut Vec<u8>, draft: &Draft, own: Option<&FrameSpan>) {
        self.put_executor(out, draft.executor);
        let times = (!draft.open).then_some((draft.start, draft.end));
        let deed = Some((draft.kind, draft.op, draft.object));
        let mut tag = SYNC;
        match own {
            Some(own) if self.next == Some((own.frame.0, own.first_record)) => {
                self.next = Some(after(own));
                tag |= HERE;
            }
            Some(own) => self.put_span(out, own),
            None => {}
        }
        if self.deeds[0] == deed {
            return self.put_first(out, tag | LAST, times);
        }
        self.deeds.swap(0, 1);
        if self.deeds[0] == deed {
            return self.put_first(out, tag | BEFORE, times);
        }
        self.deeds[0] = deed;
        self.put_first(out, tag, times);
        out.extend_from_slice(&[draft.kind as u8, draft.op as u8]);
        put(out, draft.object);
    }
}

#[derive(Debug)]
pub(crate) struct Drafts<'a> {
    pages: Pages<'a>,
    page: Vec<u8>,
    at: usize,
    decoder: Decoder,
    /// Drafts that were read together, because the last of them says when the others were, and what
    /// is still to be handed out of them. The memory of the others is kept.
    ahead: Vec<Draft>,
    left: Range<usize>,
    /// Place in the file of the chunk in which the last draft that was read ended.
    pub(crate) chunk: u64,
}

impl<'a> Drafts<'a> {
    pub(crate) fn new(pages: Pages<'a>) -> Self {
        Drafts {
            pages,
            page: Vec::new(),
            at: 0,
            decoder: Decoder::default(),
            ahead: Vec::new(),
            left: 0..0,
            chunk: 0,
        }
    }

    /// Reads the next draft. Returns false at the end.
    pub(crate) fn next(&mut self, draft: &mut Draft) -> Result<bool> {
        if self.left.is_empty() {
            let from = self.decoder.previous_end;
            if !self.read(draft)? {
                return Ok(false);
            }
            if !draft.open {
                return Ok(true);
            }
            self.left = 0..0;
            self.keep(draft);
            let mut open = true;
            while open && self.left.end < MOST_OPEN && self.read(draft)? {
                open = draft.open;
                self.keep(draft);
            }
            settle(from, &mut self.ahead[self.left.clone()]);
        }
        if let Some(next) = self.left.next() {
            std::mem::swap(draft, &mut self.ahead[next]);
        }
        Ok(true)
    }

    /// Keeps a draft that was read; the caller gets memory for it.
    fn keep(&mut self, draft: &mut Draft) {
        if self.left.end == self.ahead.len() {
            self.ahead.push(Draft::default());
        }
        std::mem::swap(draft, &mut self.ahead[self.left.end]);
        self.left.end += 1;
    }

    fn read(&mut self, draft: &mut Draft) -> Result<bool> {
        draft.spans.clear();
        loop {
            if self.at == self.page.len() {
                self.at = 0;
                if !self.pages.next(&mut self.page)? {
                    return Ok(false);
                }
            }
            if self.decoder.next(&self.page, &mut self.at, draft, &mut self.chunk)? {
                return Ok(true);
            }
        }
    }
}

/// Gives drafts with open times their share of the time from `from` to the last one's start or, if
/// the last one is work, of the time that the work is said to take. Each gets as much as it has of
/// the blocks and accesses in that time.
fn settle(from: u64, drafts: &mut [Draft]) {
    let Some((last, open)) = drafts.split_last_mut() else {
        return;
    };
    if last.open {
        return;
    }
    let weight = |draft: &Draft| {
        let Counts { blocks, reads, writes, others, .. } = draft.counts;
        match draft.kind {
            // A synchronisation whose time is open took next to none.
            TaskKind::Work => [reads, writes, others].into_iter().fold(blocks, u64::saturating_add),
            _ => 0,
        }
    };
    let is_work = last.kind == TaskKind::Work;
    let (time, after) = if is_work {
        (last.end.saturating_sub(last.start), weight(last))
    } else {
        (last.start.saturating_sub(from), 0)
    };
    let all = open.iter().map(weight).fold(after, u64::saturating_add);
    let (mut at, mut before) = (from, 0u64);
    for draft in open {
        before = before.saturating_add(weight(draft));
        draft.start = at;
        let share = match time.checked_mul(before) {
            Some(product) => product / all.max(1),
            None => {
                let share = u128::from(time) * u128::from(before) / u128::from(all.max(1));
                u64::try_from(share).unwrap_or(time)
            }
        };
        at = from + share;
        draft.end = at;
    }
    if is_work {
        last.start += at - from;
    }
}

#[derive(Debug, Default)]
struct Decoder {
    previous_end: u64,
    deeds: [Deed; 2],
    counts: Counts,
    next: (u64, u32),
    executor: u32,
}

impl Decoder {
    /// Reads the entry at `*at` into `draft`, or into the place of a chunk, and moves `at` past it.
    /// Returns whether the draft is complete.
    fn next(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        draft: &mut Draft,
        chunk: &mut u64,
    ) -> Result<bool> {
        let tag = byte(bytes, at)?;
        match tag & ENTRY {
            CHUNK if tag & EXECUTOR != 0 => {
                self.executor = get32(bytes, at)?;
                return Ok(false);
            }
            CHUNK => {
                *chunk = get(bytes, at)?;
                return Ok(false);
            }
            SPAN => {
                self.span(draft, get(bytes, at)?, get32(bytes, at)?, get32(bytes, at)?);
                return Ok(false);
            }
            WORK => {
                draft.kind = TaskKind::Work;
                draft.op = SyncOp::None;
                draft.object = 0;
                self.times(bytes, at, tag, draft)?;
                if tag & GOES_ON != 0 {
                    let (frame, record) = self.next;
                    self.span(draft, frame, record, get32(bytes, at)?);
                }
                if tag & COUNTED == 0 {
                    self.counts = Counts::read(|| get(bytes, at))?;
                }
                draft.counts = self.counts;
            }
            _ => {
                self.times(bytes, at, tag, draft)?;
                if tag & LAST == 0 {
                    self.deeds.swap(0, 1);
                    if tag & BEFORE == 0 {
                        self.deeds[0] = deed(bytes, at)?;
                    }
                }
                (draft.kind, draft.op, draft.object) = self.deeds[0];
                if tag & HERE != 0 {
                    let (frame, record) = self.next;
                    self.span(draft, frame, record, 1);
                }
                draft.counts = Counts { others: draft.spans.len() as u64, ..Counts::default() };
            }
        }
        draft.executor = self.executor;
        Ok(true)
    }

    fn span(&mut self, draft: &mut Draft, frame: u64, first_record: u32, records: u32) {
        let span = FrameSpan { frame: FrameRef(frame), first_record, records };
        self.next = after(&span);
        draft.spans.push(span);
    }

    fn times(&mut self, bytes: &[u8], at: &mut usize, tag: u8, draft: &mut Draft) -> Result<()> {
        draft.open = tag & OPEN != 0;
        draft.start = self.previous_end;
        if draft.open {
            draft.end = draft.start;
            return Ok(());
        }
        if tag & FOLLOWS == 0 {
            draft.start = draft.start.wrapping_add(get(bytes, at)?);
        }
        draft.end = draft.start.wrapping_add(get(bytes, at)?);
        self.previous_end = draft.end;
        Ok(())
    }
}

fn deed(bytes: &[u8], at: &mut usize) -> Result<Deed> {
    let kind = TaskKind::from_u8(byte(bytes, at)?).ok_or_else(cut)?;
    let op = SyncOp::from_u8(byte(bytes, at)?).ok_or_else(cut)?;
    Ok((kind, op, get(bytes, at)?))
}

fn byte(bytes: &[u8], at: &mut usize) -> Result<u8> {
    let byte = *bytes.get(*at).ok_or_else(cut)?;
    *at += 1;
    Ok(byte)
}

#[cold]
fn cut() -> Error {
    Error::internal("a draft in the temporary file is cut")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::log::Logs;
    use crate::spill::Spill;

    fn work(start: u64, end: u64, blocks: u64, open: bool) -> Draft {
        let counts = Counts { blocks, ..Counts::default() };
        Draft { start, end, counts, open, ..Draft::default() }
    }

    fn times(drafts: &[Draft]) -> Vec<(u64, u64)> {
        drafts.iter().map(|d| (d.start, d.end)).collect()
    }

    #[test]
    fn open_times_are_shares_of_the_time_until_the_next_one() {
        let sync = |at, open| Draft { kind: TaskKind::Sync, ..work(at, at, 0, open) };
        let open = |blocks| work(100, 100, blocks, true);
        let mut until_work = [open(1), sync(100, true), open(3), work(130, 230, 6, false)];
        settle(100, &mut until_work);
        let expected = [(100, 110), (110, 110), (110, 140), (170, 230)];
        assert_eq!(times(&until_work), expected, "30 ticks before the last are not its");
        let mut until_sync = [open(1), sync(100, true), open(1), sync(120, false)];
        settle(100, &mut until_sync);
        let expected = [(100, 110), (110, 110), (110, 120), (120, 120)];
        assert_eq!(times(&until_sync), expected);
        let mut huge = [open(u64::MAX), open(u64::MAX), work(100, u64::MAX, u64::MAX, false)];
        settle(100, &mut huge);
        assert!(times(&huge).is_sorted() && huge[2].end == u64::MAX);
        let mut never = [open(1), sync(100, true)];
        settle(100, &mut never);
        assert_eq!(times(&never), [(100, 100); 2]);
    }

    #[test]
    fn drafts_with_open_times_are_read_back_with_times() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Arc::new(Spill::beside(&folder.path().join("x")));
        let mut logs = Logs::new(&spill, 1 << 20);
        let mut writer = DraftWriter::default();
        let rows = 3 * MOST_OPEN as u64;
        logs.append(1, |out| {
            for i in 0..rows + 2 {
                let counts = work(0, 0, 1, false).counts;
                let end = 10 * (i + 1);
                // The longest row without a time is longer than what is read ahead.
                let timed = i % 3 == 0 && i < rows / 2 || i + 1 == rows;
                writer.put_work(out, 0, timed.then_some((writer.end(), end)), &counts, None);
            }
        })
        .unwrap();
        let mut drafts = Drafts::new(logs.pages(1).unwrap());
        let (mut draft, mut found) = (Draft::default(), Vec::new());
        while drafts.next(&mut draft).unwrap() {
            found.push((draft.start, draft.end));
        }
        assert_eq!(found.len() as u64, rows + 2);
        assert!(found.windows(2).all(|w| w[0].1 == w[1].0), "no time is lost");
        assert_eq!(found[..4], [(0, 10), (10, 20), (20, 30), (30, 40)]);
        assert_eq!(found[found.len() - 3].1, 10 * rows);
    }
}

//! The frames of actions and what is needed to decode them: paths, the index of frames, decoders,
//! and memory that is reused.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::TaskGraph;
use crate::error::{Error, ErrorKind, Result, malformed};
use crate::frame::{DecodedFrame, Emission, FrameDecoder, Score, Templates};
use crate::id::ContextId;
use crate::path::PathSet;
use crate::record::FrameSpan;
use crate::unit::{Tag, UNIT_HEADER, Unit};

/// Number of decoded frames that are kept so that their memory can be reused.
const SPARE_FRAMES: usize = 8;

/// A frame of which parts were decoded: how many, and where the last one ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartlyDecoded {
    frame: u64,
    end: u32,
    times: u32,
}

/// After so many parts of a frame, all of it is decoded.
const PARTS: u32 = 4;

impl<D: AsRef<[u8]>> TaskGraph<D> {
    fn path_set(&self) -> Result<&Arc<PathSet>> {
        let decoded = self.paths.get_or_init(|| {
            let Some(section) = &self.path_tables else {
                return Ok(Arc::default());
            };
            PathSet::decode(self.section(section), &self.info, &self.layout)
                .map(Arc::new)
                .map_err(|e| e.to_string())
        });
        decoded.as_ref().map_err(|e| malformed(Tag::Paths.name(), e.as_str()))
    }

    /// What is needed to play decoded frames.
    pub(crate) fn score(&self) -> Result<Score<'_>> {
        Ok(Score { layout: &self.layout, paths: self.path_set()? })
    }

    /// What is needed to compute the accesses of many records at a time.
    pub(crate) fn templates(&self) -> Result<&Templates> {
        let paths = self.path_set()?;
        let new = || Templates::new(&self.info, &self.layout, paths);
        Ok(self.templates.get_or_init(new))
    }

    /// What is needed to read the tasks of a context in batches.
    pub(crate) fn emission(&self, context: ContextId) -> Result<Emission<'_>> {
        Ok(Emission {
            info: &self.info,
            score: self.score()?,
            templates: self.templates()?,
            space: self.space_of(context),
            counting: false,
            silent: false,
        })
    }

    /// The decoded frame of a span, and the span as a range of its records.
    pub(crate) fn frame(&self, span: &FrameSpan) -> Result<(Arc<DecodedFrame>, Range<usize>)> {
        let at = span.frame.0;
        let known = self.frames.get(at);
        let frame = match &known {
            Some(frame) => Arc::clone(frame),
            None if self.is_alone(span) => return self.part(span),
            None => Arc::new(self.decode_frame(at, 0..usize::MAX)?),
        };
        let range = Self::records(&frame, span)?;
        // Several tasks share this frame, so it is kept. A frame that belongs to one task is read
        // once, and keeping it would push out shared ones.
        if known.is_none() && range.len() < frame.len() {
            let spare = self.frames.put(at, Arc::clone(&frame), frame.weight());
            self.keep_spare(spare);
        }
        Ok((frame, range))
    }

    /// The records of a span, without others of their frame.
    fn part(&self, span: &FrameSpan) -> Result<(Arc<DecodedFrame>, Range<usize>)> {
        let first = span.first_record as usize;
        let end = first.saturating_add(span.records as usize);
        let frame = self.decode_frame(span.frame.0, first..end)?;
        Self::records(&frame, span)?;
        let range = 0..frame.len();
        Ok((Arc::new(frame), range))
    }

    /// Whether other spans of the same frame are not likely to be read, too. Who reads all tasks of
    /// a frame begins with the first, or goes on where the span before ended.
    fn is_alone(&self, span: &FrameSpan) -> bool {
        let at = span.frame.0;
        let end = span.first_record.saturating_add(span.records);
        let mut parts = lock(&self.parts);
        let number = parts.len() as u64;
        // Frames are at least as far apart as their headers are long.
        let slot = usize::try_from((at / UNIT_HEADER as u64) % number).unwrap_or(0);
        let PartlyDecoded { frame, end: before, times } = &mut parts[slot];
        if *frame != at {
            (*frame, *times) = (at, 0);
        } else if *before == span.first_record {
            *times = PARTS;
        }
        (*before, *times) = (end, times.saturating_add(1));
        span.first_record > 0 && *times <= PARTS
    }

    /// A span as a range of the records of its frame.
    pub(crate) fn records(frame: &DecodedFrame, span: &FrameSpan) -> Result<Range<usize>> {
        let first = span.first_record as usize;
        let range = first..first.saturating_add(span.records as usize);
        if range.end > frame.whole() {
            let (n, at) = (frame.whole(), span.frame.0);
            let detail =
                format!("records up to {} of the {n} in the frame at byte {at}", range.end);
            return Err(malformed(Tag::TaskPage.name(), detail));
        }
        Ok(range)
    }

    /// How many frames were decoded so far, each as often as it was decoded: what reading has cost.
    #[must_use]
    pub fn frames_decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    fn decode_frame(&self, at: u64, part: Range<usize>) -> Result<DecodedFrame> {
        self.decoded.fetch_add(1, Ordering::Relaxed);
        let payload = Unit::read(self.bytes(), at, Tag::Frame)?;
        let decoder = lock(&self.decoders).pop();
        let mut decoder = match decoder {
            Some(decoder) => decoder,
            None => FrameDecoder::new(Arc::clone(&self.layout), Arc::clone(self.path_set()?)),
        };
        let mut frame = lock(&self.spares).pop().unwrap_or_default();
        let done = decoder.decode(payload, part, &mut frame);
        lock(&self.decoders).push(decoder);
        done.map(|()| frame).map_err(|e| place_frame(e, at))
    }
}

impl<D> TaskGraph<D> {
    /// Takes back a frame, whose memory serves for the next one if nobody else uses it.
    pub(crate) fn recycle(&self, frame: Arc<DecodedFrame>) {
        self.keep_spare(Arc::into_inner(frame));
    }

    fn keep_spare(&self, frame: Option<DecodedFrame>) {
        if let Some(frame) = frame {
            let mut spares = lock(&self.spares);
            if spares.len() < SPARE_FRAMES {
                spares.push(frame);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic runs under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds the place of a frame to an error about its inside.
fn place_frame(error: Error, at: u64) -> Error {
    match error.kind() {
        ErrorKind::Malformed { what, detail } => {
            malformed(what, format!("{detail} (frame at byte {at})"))
        }
        _ => error,
    }
}

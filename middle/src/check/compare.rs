//! Compares one context: its recording is decoded, and the naive form is read beside it.

use std::collections::BTreeMap;

use contech_trace::event::{Event, NOWHERE};
use contech_trace::fast::{Decoder, Sink};

use super::Report;
use super::describe;
use super::kept::{Kept, Recordings};
use super::naive::{Naive, Next};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::program::Program;

/// One level of the context: the program itself, or the signal handlers on top of it.
struct Level<'a> {
    decoder: Decoder,
    naive: Naive<'a>,
    /// Number of blocks compared.
    compared: u64,
    /// Nothing more of this level is compared.
    ended: bool,
    /// The thread is in a library that is not recorded. The naive form goes on there until the
    /// thread comes back.
    nowhere: bool,
}

pub(crate) fn context(
    context: u32,
    recordings: &Recordings,
    kept: &Kept,
    program: &Program,
    options: &Options,
) -> Result<Report> {
    let mut report = Report::default();
    let both = [&recordings.main, &recordings.naive];
    let mut levels: BTreeMap<u8, Level<'_>> = both
        .iter()
        .flat_map(|r| &r.chunks)
        .map(|c| c.header.level)
        .map(|level| {
            let state = Level {
                decoder: Decoder::default(),
                naive: Naive::new(kept, &program.ids, &recordings.naive, level),
                compared: 0,
                ended: false,
                nowhere: false,
            };
            (level, state)
        })
        .collect();
    report.handlers = levels.keys().any(|level| *level > 0);
    for (i, chunk) in recordings.main.chunks.iter().enumerate() {
        let level = chunk.header.level;
        let Some(state) = levels.get_mut(&level) else {
            continue;
        };
        options.check_cancelled()?;
        let payload = kept.payload(chunk)?;
        let mut decoder = std::mem::take(&mut state.decoder);
        let mut pair = Pair {
            context,
            level,
            program,
            state,
            report: &mut report,
            lost: false,
            gated: false,
            error: None,
        };
        let decoded = payload.and_then(|payload| {
            let decoded = decoder.chunk(&payload, &chunk.program.ids, &mut pair);
            decoded.map_err(|e| e.to_string())
        });
        let Pair { lost, gated, error, .. } = pair;
        state.decoder = decoder;
        if let Some(error) = error {
            return Err(error);
        }
        // A function of a module that is not compared may go on at the start of the first chunk
        // that was kept.
        let inherited = kept.began_late && i == 0;
        if let Err(e) = decoded
            && !inherited
        {
            let seq = chunk.header.seq;
            report.broken.push(format!("context {context}: chunk {seq} cannot be decoded: {e}"));
            state.ended = true;
        }
        if gated {
            // From here on the naive form alone goes on.
            levels.values_mut().for_each(|state| state.ended = true);
        }
        if lost {
            report.lost = true;
            report.end_early("records were lost".into());
            levels.values_mut().for_each(|state| state.ended = true);
        }
    }
    for (level, state) in &mut levels {
        if recordings.main.gap {
            report.end_early("chunks are missing".into());
        } else {
            finish(context, *level, state, program, &mut report)?;
        }
        report.compared += state.compared;
    }
    Ok(report)
}

/// Ends a level at the end of the recording. Nothing of the naive form may be left.
fn finish(
    context: u32,
    level: u8,
    state: &mut Level<'_>,
    program: &Program,
    report: &mut Report,
) -> Result<()> {
    if state.ended || state.nowhere {
        return Ok(());
    }
    let at = place(context, level, state.compared);
    match state.naive.next()? {
        Next::End => {}
        Next::Broken(why) => report.end_early(why),
        Next::Block(block, _) => {
            let block = describe::block(program, block);
            let text = format!("{at}: the recording ends, naive goes on with {block}");
            report.tails.push(text);
        }
    }
    Ok(())
}

fn place(context: u32, level: u8, number: u64) -> String {
    match level {
        0 => format!("context {context}, execution {number}"),
        n => format!("context {context}, signal handler level {n}, execution {number}"),
    }
}

/// Compares the blocks of a chunk of the recording with the naive form.
struct Pair<'a, 'b> {
    context: u32,
    level: u8,
    program: &'a Program,
    state: &'b mut Level<'a>,
    report: &'b mut Report,
    lost: bool,
    /// The recording leaves out accesses from some place on.
    gated: bool,
    error: Option<Error>,
}

impl Sink for Pair<'_, '_> {
    #[inline]
    fn block(&mut self, block: u32, operands: &[u64]) {
        if self.state.ended || !self.program.is_checked(block) {
            return;
        }
        let (program, context, level) = (self.program, self.context, self.level);
        let number = self.state.compared;
        let at = || place(context, level, number);
        let here = || describe::block(program, block);
        // Everything that follows would be compared with the wrong blocks.
        let mut ends = true;
        match self.state.naive.next() {
            Ok(Next::Block(naive, values)) => {
                self.state.compared += 1;
                ends = naive != block;
                if ends {
                    let other = || describe::block(program, naive);
                    self.report
                        .differs(|| format!("{}: recorded {}, naive {}", at(), here(), other()));
                } else if values != operands {
                    let what = || describe::operands(program, block, operands, values);
                    self.report.differs(|| format!("{}: {}: {}", at(), here(), what()));
                }
            }
            Ok(Next::End) => self.report.tails.push(format!(
                "{}: the naive form ends, the recording goes on with {}",
                at(),
                here()
            )),
            Ok(Next::Broken(why)) => self.report.end_early(why),
            Err(e) => self.error = Some(e),
        }
        self.state.ended |= ends;
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Lost { .. } => {
                self.lost = true;
                self.state.ended = true;
            }
            Event::Accesses { .. } => {
                self.gated = true;
                self.state.ended = true;
            }
            Event::Switch { context, .. } => self.state.nowhere = context == NOWHERE,
            Event::ContextEnd { reason, .. } => self.report.end = Some(reason),
            _ => {}
        }
    }
}

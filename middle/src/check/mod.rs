//! `--contech-check`: the recording against the naive form of the same run, block by block and operand by
//! operand.
//!
//! The two forms of a run reach the file in different chunks at different times. So the chunks of both go to
//! the temporary file as they are ([`Kept`]), and when the trace was read, each context's recording is decoded
//! once more, from there, and its naive form read beside it ([`Naive`]): memory is a chunk of each per thread.
//!
//! The naive form shares nothing with the fast one but the ids of blocks; it is read here by code of its own.
//! What a signal handler recorded takes its place in the two streams at different points, so each level is
//! compared with the same level. Blocks of modules compiled without the check are not compared.

mod compare;
mod describe;
mod kept;
mod naive;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use contech_trace::event::EndReason;

use crate::error::{Error, Result};
use crate::notes::Notes;
use crate::options::Options;
use crate::program::Program;
use crate::summary::Check;

pub(crate) use kept::Kept;

/// Most differences described.
const MOST: usize = 8;

/// What became of the comparison of one context.
#[derive(Debug, Default)]
struct Report {
    compared: u64,
    mismatches: u64,
    differences: Vec<String>,
    /// Why the comparison ended before the data did.
    ended_early: Option<String>,
    /// One form went on when the other had ended.
    tails: Vec<String>,
    /// Chunks of the recording that cannot be decoded.
    broken: Vec<String>,
    end: Option<EndReason>,
    /// Records were lost: of either form, up to different places (a thread cancelled asynchronously).
    lost: bool,
    /// Signal handlers recorded something.
    handlers: bool,
    error: Option<Error>,
}

impl Report {
    fn differs(&mut self, describe: impl FnOnce() -> String) {
        self.mismatches += 1;
        if self.differences.len() < MOST {
            self.differences.push(describe());
        }
    }

    fn end_early(&mut self, why: String) {
        self.ended_early.get_or_insert(why);
    }
}

/// Compares all contexts.
pub(crate) fn compare(
    kept: &Kept,
    program: &Program,
    options: &Options,
    notes: &mut Notes,
) -> Result<Check> {
    let contexts: Vec<_> = kept.contexts.iter().collect();
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((context, recordings)) = contexts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let report = compare::context(**context, recordings, kept, program, options);
            let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.insert(**context, report);
        }
    };
    thread::scope(|scope| {
        let threads = options.threads.clamp(1, contexts.len().max(1));
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().try_for_each(|t| t.join())
    })
    .map_err(|_| Error::internal("a thread that compares panicked"))?;
    sum(
        reports.into_inner().unwrap_or_else(PoisonError::into_inner),
        notes,
    )
}

fn sum(reports: BTreeMap<u32, Report>, notes: &mut Notes) -> Result<Check> {
    let still_ran = |r: &&Report| r.end != Some(EndReason::Finished);
    // The only context that had not ended by itself ended the process, or replaced its program: from a call, so
    // with all its records.
    let alone = reports.values().filter(still_ran).count() == 1;
    let mut check = Check::default();
    for (context, mut report) in reports {
        if let Some(error) = report.error {
            return Err(error);
        }
        let whole = match report.end {
            _ if report.lost => false,
            Some(EndReason::Finished) => true,
            Some(EndReason::ProcessExit | EndReason::Exec) => alone && !report.handlers,
            _ => false,
        };
        if report.lost {
            // The thread notices the loss only later: a difference before the event that reports it may be the loss itself.
            report.mismatches = 0;
            report.differences.clear();
        }
        for text in std::mem::take(&mut report.broken) {
            report.differs(|| text);
        }
        for tail in std::mem::take(&mut report.tails) {
            if whole {
                report.differs(|| tail);
            } else {
                notes.remark(
                    "the end of a context that did not end by itself is recorded in one form only",
                    || tail,
                );
            }
        }
        if let Some(why) = report.ended_early {
            notes.damage("the comparison of a context ended early", || {
                format!("context {context}: {why}")
            });
        }
        check.compared += report.compared;
        check.mismatches += report.mismatches;
        let room = MOST - check.differences.len();
        check
            .differences
            .extend(report.differences.into_iter().take(room));
    }
    if check.mismatches > 0 {
        let first = check.differences.first().cloned().unwrap_or_default();
        notes.damage("the recording differs from its naive form", || first);
    }
    Ok(check)
}

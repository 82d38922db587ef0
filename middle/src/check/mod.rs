//! `--contech-check` compares the recording with the naive form of the same run, block by block and
//! operand by operand.
//!
//! The two forms of a run reach the file in different chunks at different times. So the chunks of
//! both go to the temporary file as they are ([`Kept`]). When the trace was read, each context's
//! recording is decoded again from there, and its naive form is read beside it ([`Naive`]). Each
//! thread has one chunk of each form in memory.
//!
//! The naive form shares nothing with the fast one except the ids of blocks, and separate code
//! reads it here. What a signal handler recorded stands at different points of the two streams, so
//! each level is compared with the same level. Blocks of modules that were compiled without the
//! check are not compared.

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

/// Largest number of differences that are described.
pub(crate) const MOST: usize = 8;

/// The result of comparing one context.
#[derive(Debug, Default)]
struct Report {
    compared: u64,
    mismatches: u64,
    differences: Vec<String>,
    /// Why the comparison ended before the data did.
    ended_early: Option<String>,
    /// Cases in which one form went on when the other had ended.
    tails: Vec<String>,
    /// Chunks of the recording that could not be decoded.
    broken: Vec<String>,
    end: Option<EndReason>,
    /// Records were lost. Each form may have lost records from a different place on, if a thread
    /// was cancelled asynchronously.
    lost: bool,
    /// At least one signal handler recorded something.
    handlers: bool,
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
    sum(reports.into_inner().unwrap_or_else(PoisonError::into_inner), notes)
}

fn sum(reports: BTreeMap<u32, Result<Report>>, notes: &mut Notes) -> Result<Check> {
    let reports = reports.into_iter().map(|(context, report)| Ok((context, report?)));
    let reports: BTreeMap<u32, Report> = reports.collect::<Result<_>>()?;
    let still_ran = |r: &&Report| r.end != Some(EndReason::Finished);
    // If only one context did not end by itself, it ended the process or replaced its program. It
    // did so in a call, so all its records are there.
    let alone = reports.values().filter(still_ran).count() == 1;
    let mut check = Check::default();
    for (context, mut report) in reports {
        let whole = match report.end {
            _ if report.lost => false,
            Some(EndReason::Finished) => true,
            Some(EndReason::ProcessExit | EndReason::Exec) => alone && !report.handlers,
            _ => false,
        };
        if report.lost {
            // The thread notices the loss only later. A difference before the event that reports
            // the loss may be the loss itself.
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
        check.differences.extend(report.differences.into_iter().take(room));
    }
    if check.mismatches > 0 {
        let first = check.differences.first().cloned().unwrap_or_default();
        notes.damage("the recording differs from its naive form", || first);
    }
    Ok(check)
}

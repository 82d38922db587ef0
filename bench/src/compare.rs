//! All forms of one program, run in turn.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use contech_tests::recording::middle;

use crate::form::Form;
use crate::measure::{Usage, measure};
use crate::spread::{median, minimum, spread};
use crate::subject::Subject;

/// A shorter time in seconds is no measurement.
const LEAST: f64 = 1e-3;

/// What the runs of the three forms used, in the order of [`Form::ALL`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples([Vec<Usage>; 3]);

/// Which time of a run is compared.
pub(crate) type Of = fn(&Usage) -> f64;
pub(crate) const USER: Of = |usage| usage.user;
pub(crate) const CPU: Of = |usage| usage.cpu;
pub(crate) const WALL: Of = |usage| usage.wall;

impl Samples {
    fn seconds(&self, form: Form, of: Of) -> Vec<f64> {
        self.0[form as usize].iter().map(of).collect()
    }

    /// The smallest time of a form, in seconds.
    pub(crate) fn least(&self, form: Form, of: Of) -> f64 {
        minimum(&self.seconds(form, of))
    }

    /// The smallest time of a form over the smallest native time.
    pub(crate) fn ratio(&self, form: Form, of: Of) -> f64 {
        self.least(form, of) / self.least(Form::Native, of).max(LEAST)
    }

    /// The median over rounds of a form over native in the same round.
    pub(crate) fn median(&self, form: Form, of: Of) -> f64 {
        median(&self.rounds(form, of))
    }

    /// How far the ratios of the rounds lie apart, as a share of their median.
    pub(crate) fn spread(&self, form: Form, of: Of) -> f64 {
        spread(&self.rounds(form, of))
    }

    fn rounds(&self, form: Form, of: Of) -> Vec<f64> {
        let native = self.seconds(Form::Native, of);
        let pairs = self.seconds(form, of).into_iter().zip(native);
        pairs.map(|(f, n)| f / n.max(LEAST)).collect()
    }
}

/// Counts of the runtime.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) bytes: f64,
    /// Bytes of the trace's file.
    pub(crate) stored: f64,
    pub(crate) blocks: f64,
    pub(crate) accesses: f64,
    pub(crate) syncs: f64,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) subject: Subject,
    /// Runs whose trace is thrown away.
    pub(crate) null: Samples,
    /// Runs whose trace is kept in a file in memory, on a smaller input.
    pub(crate) kept: Samples,
    /// Counts of the naive and the fast form, on the smaller input.
    counts: [Counts; 2],
}

impl Row {
    /// The counts of the naive or the fast form.
    pub(crate) fn counts(&self, form: Form) -> &Counts {
        &self.counts[usize::from(form == Form::Fast)]
    }

    /// Bytes per access of the naive or fast form. NaN where the recording consists mainly of calls
    /// and locks: where there are fewer accesses than a quarter of the blocks, or more than one
    /// sync event in fifty accesses.
    pub(crate) fn bytes_per_access(&self, form: Form) -> f64 {
        let c = self.counts(form);
        if c.accesses * 4.0 < c.blocks || c.syncs * 50.0 > c.accesses {
            return f64::NAN;
        }
        c.bytes / c.accesses
    }

    /// Bytes of the file per access of the naive or fast form, NaN as above.
    pub(crate) fn stored_per_access(&self, form: Form) -> f64 {
        let c = self.counts(form);
        self.bytes_per_access(form) * c.stored / c.bytes.max(1.0)
    }

    /// Bytes per block of the naive or fast form.
    pub(crate) fn bytes_per_block(&self, form: Form) -> f64 {
        let c = self.counts(form);
        c.bytes / c.blocks.max(1.0)
    }

    /// CPU time of the compiler over that of the native compilation.
    pub(crate) fn compile(&self, form: Form) -> f64 {
        self.subject.form(form).compile_seconds / self.subject.form(Form::Native).compile_seconds
    }

    /// Size of the text over that of the native program.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub(crate) fn text(&self, form: Form) -> f64 {
        self.subject.form(form).text as f64 / self.subject.form(Form::Native).text as f64
    }
}

/// Measures a program: counts, then `runs` rounds with the trace thrown away and as many with it
/// kept in `traces`, after one round of each to warm up.
pub(crate) fn row(subject: Subject, runs: usize, traces: &Path) -> Result<Row> {
    let counts = [counts(&subject, Form::Naive, traces)?, counts(&subject, Form::Fast, traces)?];
    Ok(Row {
        null: rounds(&subject, true, runs, &[("CONTECH_TRACE", "null")], traces)?,
        kept: rounds(&subject, false, runs, &[], traces)?,
        counts,
        subject,
    })
}

/// Runs all forms in turn. Without `CONTECH_TRACE` in `environment`, traces are kept in `traces`,
/// one at a time.
pub(crate) fn rounds(
    subject: &Subject,
    whole: bool,
    runs: usize,
    environment: &[(&str, &str)],
    traces: &Path,
) -> Result<Samples> {
    let mut samples = Samples::default();
    for round in 0..=runs {
        let mut wanted = None;
        for form in Form::ALL {
            let trace = traces.join("trace.bin");
            let mut command = subject.command(form, whole);
            command.env("CONTECH_TRACE", &trace);
            command.envs(environment.iter().copied());
            let (out, used) = measure(&mut command)?;
            if form != Form::Native && trace.exists() {
                fs::remove_file(&trace)?;
            }
            if wanted.get_or_insert_with(|| out.clone()) != &out {
                bail!("{}: the {} run's output differs", subject.name, form.name());
            }
            if round > 0 {
                samples.0[form as usize].push(used);
            }
        }
    }
    Ok(samples)
}

/// What is recorded, as the runtime counts it and as the middle counts it in the records.
fn counts(subject: &Subject, form: Form, traces: &Path) -> Result<Counts> {
    let [stats, trace, graph] = ["stats.json", "trace.bin", "graph.tg"].map(|f| traces.join(f));
    let mut command: Command = subject.command(form, false);
    command.env("CONTECH_TRACE", &trace);
    command.env("CONTECH_STATS", &stats);
    measure(&mut command)?;
    let recorded: serde_json::Value = serde_json::from_slice(&fs::read(&stats)?)?;
    #[expect(clippy::cast_precision_loss, reason = "a count for people")]
    let stored = fs::metadata(&trace)?.len() as f64;
    let counted = middle(&trace, &graph)?.ok()?;
    let counted: serde_json::Value = serde_json::from_slice(&counted.stdout)?;
    for file in [&trace, &graph] {
        fs::remove_file(file)?;
    }
    let number = |said: &serde_json::Value, key: &str| {
        said[key].as_f64().with_context(|| format!("no {key} in {said}"))
    };
    Ok(Counts {
        bytes: number(&recorded, "bytes")?,
        stored,
        blocks: number(&counted, "blocks")?,
        accesses: number(&counted, "accesses")?,
        syncs: number(&recorded, "syncs")?,
    })
}

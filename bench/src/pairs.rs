//! Native and recorded runs of one program, alternating.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use contech_tests::toolchain::Toolchain;

use crate::measure::{Usage, measure};
use crate::programs::{KEPT_SHARE, Program};
use crate::spread::{median, minimum};

/// Where the trace goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    /// Recorded, counted and thrown away.
    Null,
    /// A file in memory.
    Kept,
}

/// The costs of recording one program one way.
#[derive(Debug, Clone)]
pub struct Cost {
    /// Native user CPU, seconds, smallest.
    pub native_user: f64,
    /// Recorded over native user CPU: smallest over smallest.
    pub user: f64,
    /// The same of medians.
    pub user_median: f64,
    /// Recorded over native user and system CPU: smallest over smallest.
    pub cpu: f64,
    /// Recorded over native wall time: smallest over smallest.
    pub wall: f64,
    /// Bytes recorded.
    pub bytes: u64,
    /// Memory accesses recorded.
    pub accesses: u64,
}

impl Cost {
    /// Bytes per access; NaN where nothing was accessed.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn bytes_per_access(&self) -> f64 {
        self.bytes as f64 / self.accesses as f64
    }
}

/// A program compiled both ways.
#[derive(Debug)]
pub struct Pair {
    program: Program,
    native: std::path::PathBuf,
    recorded: std::path::PathBuf,
}

impl Pair {
    /// Compiles a program both ways below `dir`.
    ///
    /// # Errors
    /// With the compiler's messages.
    pub fn new(program: Program, dir: &Path) -> Result<Self> {
        let (native, recorded) = (dir.join("native"), dir.join("recorded"));
        fs::create_dir_all(&native)?;
        fs::create_dir_all(&recorded)?;
        Ok(Self {
            program,
            native: program.compile(&Toolchain::native(), &native)?,
            recorded: program.compile(&Toolchain::contech(), &recorded)?,
        })
    }

    /// Runs both `runs` times, alternating, after one round to warm up. A kept trace is left at `trace`.
    ///
    /// # Errors
    /// When a run fails or the outputs differ.
    pub fn compare(&self, sink: Sink, runs: usize, trace: &Path) -> Result<Cost> {
        let stats = trace.with_extension("json");
        let reps = match sink {
            Sink::Null => self.program.reps,
            Sink::Kept => (self.program.reps / KEPT_SHARE).max(1),
        };
        let (mut natives, mut recordeds) = (Vec::new(), Vec::new());
        for round in 0..=runs {
            let (wanted, native) = measure(Command::new(&self.native).arg(reps.to_string()))?;
            let mut command = Command::new(&self.recorded);
            command.arg(reps.to_string());
            if round == 0 {
                // Counting what is thrown away costs more than throwing it away.
                command.env("CONTECH_STATS", &stats);
            }
            match sink {
                Sink::Null => command.env("CONTECH_TRACE", "null"),
                Sink::Kept => command.env("CONTECH_TRACE", trace),
            };
            let (got, recorded) = measure(&mut command)?;
            if wanted != got {
                bail!("{}: the recorded run's output differs", self.program.name());
            }
            if round > 0 {
                natives.push(native);
                recordeds.push(recorded);
            }
        }
        let said: serde_json::Value = serde_json::from_slice(&fs::read(&stats)?)?;
        let number = |key: &str| {
            said[key]
                .as_u64()
                .with_context(|| format!("no {key} in {said}"))
        };
        let user = |u: &Usage| u.user.as_secs_f64();
        let ratio = |f: &dyn Fn(&Usage) -> f64, pick: &dyn Fn(&[f64]) -> f64| {
            let of = |all: &[Usage]| pick(&all.iter().map(f).collect::<Vec<_>>());
            of(&recordeds) / of(&natives)
        };
        Ok(Cost {
            native_user: minimum(&natives.iter().map(user).collect::<Vec<_>>()),
            user: ratio(&user, &minimum),
            user_median: ratio(&user, &median),
            cpu: ratio(&|u| u.cpu().as_secs_f64(), &minimum),
            wall: ratio(&|u| u.wall.as_secs_f64(), &minimum),
            bytes: number("bytes")?,
            accesses: number("accesses")?,
        })
    }
}

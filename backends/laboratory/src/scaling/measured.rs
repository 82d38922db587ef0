//! Measured speedups, as `contech scale --format json` writes them, to plot them together with what
//! was expected.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Speedups of one program, by number of threads, ascending. It has only the needed parts of the
/// document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// T_s, seconds; T_1 if no baseline was given.
    pub baseline: f64,
    /// The points, of which there is at least one.
    pub points: Vec<MeasuredPoint>,
}

/// What was measured at one number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredPoint {
    /// P.
    pub threads: u32,
    /// T_P, seconds.
    pub t: f64,
    /// The speedup that was reached, out of the factored ones.
    pub speedup: Actual,
}

/// The measured one of [`super::Speedups`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Actual {
    /// T_s / T_P.
    pub actual: f64,
}

const WRITER: &str = "contech scale --format json";

impl Measured {
    /// Reads a file of `contech scale --format json`.
    ///
    /// # Errors
    /// Names the file, what is wrong with it, what was expected, and what to do.
    pub fn read(file: &Path) -> Result<Self> {
        let measured: Self = document(file, "measured speedup", WRITER)?;
        let name = file.display();
        if measured.points.is_empty() {
            bail!(
                "{name} has no points; expected at least one number of threads: measure with `{WRITER}`"
            );
        }
        if !ascending(measured.points.iter().map(|point| point.threads)) {
            bail!(
                "{name}: its points must have ascending numbers of threads, from 1 on, as `{WRITER}` writes them; write it again"
            );
        }
        let positive = |point: &&MeasuredPoint| point.t > 0.0 && point.speedup.actual > 0.0;
        if let Some(point) = measured.points.iter().find(|point| !positive(point)) {
            bail!(
                "{name}: at {} threads it has the time {} and the speedup {}; expected numbers above 0: measure again with `{WRITER}`",
                point.threads,
                point.t,
                point.speedup.actual
            );
        }
        Ok(measured)
    }

    /// A parser for a command-line argument. It reads the file at once, before minutes of work.
    #[must_use]
    pub fn argument() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new()
            .try_map(|file| Self::read(Path::new(&file)).map_err(|error| format!("{error:#}")))
    }
}

/// Whether these can be the numbers of threads of points: each is at least 1, and larger than the
/// one before.
pub(crate) fn ascending(threads: impl Iterator<Item = u32>) -> bool {
    std::iter::once(0).chain(threads).is_sorted_by(|before, threads| before < threads)
}

/// The JSON document in a file that `writer` writes and that is a `what`.
///
/// # Errors
/// When it cannot be read, is empty, or is something else.
pub(crate) fn document<T: DeserializeOwned>(file: &Path, what: &str, writer: &str) -> Result<T> {
    let name = file.display();
    let text = std::fs::read(file)
        .with_context(|| format!("cannot read {name}; expected what `{writer}` writes"))?;
    if text.is_empty() {
        bail!("{name} is empty; expected what `{writer}` writes: write it again");
    }
    serde_json::from_slice(&text)
        .with_context(|| format!("{name} is no {what}; expected what `{writer}` writes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::{Estimate, Measurement, Point, Run, analyse};

    #[test]
    fn what_contech_scale_writes_is_read_again() {
        let point = |threads, t_ns| Point {
            threads,
            runs: vec![Run { t_ns, ..Run::default() }],
            ..Point::default()
        };
        let measurement = Measurement {
            cpus: 4,
            points: vec![point(1, 6_000_000_000), point(3, 2_500_000_000)],
            ..Measurement::default()
        };
        let report = analyse(measurement, Estimate::default(), Default::default());
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = folder.path().join("scale.json");
        std::fs::write(&file, serde_json::to_vec(&report).expect("JSON")).expect("written");
        let point = |threads, t, actual| MeasuredPoint { threads, t, speedup: Actual { actual } };
        let expected =
            Measured { baseline: 6.0, points: vec![point(1, 6.0, 1.0), point(3, 2.5, 2.4)] };
        assert_eq!(Measured::read(&file).expect("read"), expected);
    }
}

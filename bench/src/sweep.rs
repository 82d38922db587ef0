//! Compares buffer sizes and compression, with the writer running.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use crate::compare::{Of, rounds};
use crate::form::Form;
use crate::spread::geometric_mean;
use crate::subject::Subject;

/// The compared settings of `CONTECH_BUFFER` and `CONTECH_COMPRESS`.
pub const SETTINGS: [(&str, &str); 8] = [
    ("64K", "0"),
    ("128K", "0"),
    ("256K", "0"),
    ("512K", "0"),
    ("1M", "0"),
    ("2M", "0"),
    ("4M", "0"),
    ("1M", "1"),
];

/// Programs with large traces: their naive forms fill buffers, and their fast forms do so a little.
pub const PROGRAMS: [&str; 6] = [
    "spmv",
    "histogram",
    "quicksort",
    "parser",
    "words",
    "histogram_threads",
];

/// The table: geometric means over the subjects, with traces kept in `traces`.
pub fn table(subjects: &[Subject], runs: usize, traces: &Path) -> Result<String> {
    let mut text = String::from(
        "| buffer | compressed | naive user | user+sys | wall | fast user | user+sys | wall |\n\
         |---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for (buffer, compress) in SETTINGS {
        let environment = [("CONTECH_BUFFER", buffer), ("CONTECH_COMPRESS", compress)];
        let mut samples = Vec::new();
        for subject in subjects {
            samples.push(rounds(subject, false, runs, &environment, traces)?);
        }
        let mean = |form: Form, of: Of| {
            geometric_mean(
                &samples
                    .iter()
                    .map(|s| s.ratio(form, of))
                    .collect::<Vec<_>>(),
            )
        };
        let _ = write!(
            text,
            "| {buffer} | {} ",
            if compress == "1" { "yes" } else { "no" }
        );
        for form in [Form::Naive, Form::Fast] {
            for of in [Of::User, Of::Cpu, Of::Wall] {
                let _ = write!(text, "| {:.2} ", mean(form, of));
            }
        }
        text += "|\n";
    }
    Ok(text)
}

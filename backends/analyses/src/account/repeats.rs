//! What several runs of one program agree on.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::{Loss, Report, Row};
use crate::analysis::source::Place;
use crate::view::units::time;

/// What several runs would gain without a loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Repeats {
    /// Number of runs.
    pub runs: usize,
    /// Number of runs in which the loss was found.
    pub found: usize,
    /// How many times as fast the run would be without it, at least and at most.
    pub least: f64,
    pub most: f64,
}

impl Repeats {
    /// ` (1.7 to 2.0 in 5 runs)`.
    pub(super) fn words(&self) -> String {
        let of = match self.found == self.runs {
            true => String::new(),
            false => format!("{} of ", self.found),
        };
        format!(" ({:.1} to {:.1} in {of}{} runs)", self.least, self.most, self.runs)
    }
}

/// Losses of several runs are the same if their cause is, and the function and file that they are
/// laid on: what line takes most of it may differ.
type Same = (Loss, String);

impl Row {
    /// The function and the file that the loss is laid on.
    #[must_use]
    pub fn site(&self) -> String {
        let file = |place: &Place| {
            let name = Path::new(&place.file).file_name();
            name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        let place = self.code.as_ref().or(self.wait.as_ref());
        place.map_or_else(String::new, |place| format!("{} {}", place.function, file(place)))
    }

    fn same(&self) -> Same {
        (self.cause, self.site())
    }
}

impl Report {
    /// Takes note of other runs of the same program: how far what the losses cost differs.
    pub fn repeated(&mut self, others: &[Self]) {
        if others.is_empty() {
            return;
        }
        let mut gains: BTreeMap<Same, Vec<f64>> = BTreeMap::new();
        for report in std::iter::once(&*self).chain(others) {
            let mut own: BTreeMap<Same, f64> = BTreeMap::new();
            for row in &report.losses {
                let most = own.entry(row.same()).or_insert(1.0);
                *most = most.max(row.mended.first().copied().unwrap_or(1.0));
            }
            for (loss, gain) in own {
                gains.entry(loss).or_default().push(gain);
            }
        }
        for row in &mut self.losses {
            let found = gains.get(&row.same()).map_or(&[][..], Vec::as_slice);
            row.repeats = range(found.iter().copied()).map(|[least, most]| Repeats {
                runs: others.len() + 1,
                found: found.len(),
                least,
                most,
            });
        }
    }
}

/// What these runs of one program say together, in sentences.
#[must_use]
pub fn agreement(runs: &[Report]) -> String {
    let lengths = || runs.iter().map(|run| run.replayed_ns);
    let (least, most) = (lengths().min(), lengths().max());
    let mut text = format!(
        "{} runs took {} to {}.",
        runs.len(),
        time(least.unwrap_or(0)),
        time(most.unwrap_or(0))
    );
    let mut firsts: BTreeMap<Same, Vec<&Row>> = BTreeMap::new();
    for row in runs.iter().filter_map(|run| run.losses.first()) {
        firsts.entry(row.same()).or_default().push(row);
    }
    let mut firsts: Vec<Vec<&Row>> = firsts.into_values().collect();
    firsts.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
    for rows in firsts {
        let Some(row) = rows.first() else { continue };
        let gain = match range(rows.iter().filter_map(|row| row.promise())) {
            Some([least, most]) => {
                format!(", {least:.1} to {most:.1} times as fast without it")
            }
            None => String::new(),
        };
        text += &format!(" First in {}: {}{}{gain}.", rows.len(), row.cause.name(), row.places());
    }
    text
}

/// The least and the largest gain, if there is one.
fn range(gains: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    gains.fold(None, |range, gain| {
        let [least, most] = range.unwrap_or([gain; 2]);
        Some([least.min(gain), most.max(gain)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(function: &str, line: u32) -> Option<Place> {
        Some(Place { function: function.to_owned(), file: format!("/src/{function}.c"), line })
    }

    fn run(gains: &[(Loss, &str, f64)]) -> Report {
        let mut report = Report::default();
        for (at, &(cause, function, gain)) in (1..).zip(gains) {
            report.losses.push(Row {
                code: place(function, at),
                mended: vec![gain],
                ..Row::of(cause)
            });
        }
        report
    }

    #[test]
    fn the_range_of_a_gain_is_that_of_the_runs_with_the_loss() {
        let mut first = run(&[(Loss::Lock, "pop", 1.8), (Loss::Serial, "main", 1.1)]);
        let others = [
            run(&[(Loss::Serial, "main", 1.3), (Loss::Lock, "pop", 1.6)]),
            run(&[(Loss::Lock, "pop", 2.0), (Loss::Lock, "push", 9.0)]),
        ];
        first.repeated(&others);
        let range = |at: usize| first.losses[at].repeats.map(|one| one.words());
        assert_eq!(range(0).as_deref(), Some(" (1.6 to 2.0 in 3 runs)"));
        assert_eq!(range(1).as_deref(), Some(" (1.1 to 1.3 in 2 of 3 runs)"));
        let runs = [vec![first], others.to_vec()].concat();
        let text = agreement(&runs);
        assert!(
            text.contains("First in 2: lock, most of it in pop (pop.c:1), 1.8 to 2.0"),
            "{text}"
        );
        assert!(text.contains("First in 1: serial, most of it in main (main.c:1)"), "{text}");
    }
}

//! The lines of the source where the run executed, missed and waited most, with these numbers
//! beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;

use crate::analysis::Graph;
use crate::analysis::source::Place;
use crate::page::Section;
use crate::view::units::whole;
use crate::view::{Cell, Table, View};
use crate::{account, blocks, misses};

/// The most lines chosen for each of the numbers, and the lines shown before and after each, which
/// an excerpt has, too.
const CHOSEN: usize = 12;
const AROUND: u32 = 2;
/// A line with less than one part in so many of what the first one has is not chosen.
const LEAST: u64 = 100;
/// Longer files are not read.
const FILE: u64 = 4 << 20;
/// Misses are those of the smallest cache of at least this size, which is a usual first one.
const CACHE: u64 = 32 << 10;

/// Time, executions, misses and waiting time of a line.
type Numbers = [u64; 4];

fn around(line: u32) -> RangeInclusive<u32> {
    line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND)
}

/// Lines of files with their numbers.
#[derive(Debug, Default)]
struct Lines(BTreeMap<String, BTreeMap<u32, Numbers>>);

impl Lines {
    fn add(&mut self, place: &Place, which: usize, number: u64) {
        if place.line == 0 || place.file.is_empty() || number == 0 {
            return;
        }
        let lines = self.0.entry(place.file.clone()).or_default();
        lines.entry(place.line).or_default()[which] += number;
    }

    /// The lines with the most of each number, and those around them.
    fn chosen(&self) -> BTreeSet<(&str, u32)> {
        let mut chosen = BTreeSet::new();
        for which in 0..4 {
            let all = self.0.iter().flat_map(|(file, lines)| {
                let line = move |(&line, numbers): (&u32, &Numbers)| (numbers[which], file, line);
                lines.iter().map(line)
            });
            let mut all: Vec<_> = all.filter(|&(number, ..)| number > 0).collect();
            all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
            let least = all.first().map_or(0, |&(most, ..)| most / LEAST);
            let many = all.into_iter().take_while(|&(number, ..)| number >= least);
            for (_, file, line) in many.take(CHOSEN) {
                chosen.extend(around(line).map(|line| (file.as_str(), line)));
            }
        }
        chosen
    }
}

/// A few lines of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Excerpt {
    /// The file's name and the line that it is about.
    pub place: String,
    /// Number, text, and time spent or waited at each line (ns).
    pub lines: Vec<(u32, String, u64)>,
}

/// The most characters of a line of an excerpt.
const LONG: usize = 200;

/// What was measured of the lines of a run, and the files as far as they were read.
#[derive(Debug, Default)]
pub(super) struct Source {
    lines: Lines,
    /// What the misses are of.
    missed: String,
    started_unix_ns: u64,
}

impl Source {
    /// Adds up what belongs to each line.
    pub(super) fn of(
        graph: &Graph,
        account: &account::Report,
        blocks: &blocks::Report,
        misses: Option<&misses::Report>,
    ) -> Self {
        let mut lines = Lines::default();
        for row in &blocks.blocks {
            let ns = account.times.get(row.block as usize).copied();
            lines.add(&row.place, 0, whole(ns.unwrap_or(0.0)));
            lines.add(&row.place, 1, row.executions);
        }
        let size = misses.and_then(|misses| misses.sizes.iter().position(|&size| size >= CACHE));
        let mut missed = String::new();
        if let (Some(misses), Some(size)) = (misses, size) {
            missed = format!("Misses are those of one cache of {} KiB. ", misses.sizes[size] >> 10);
            for row in &misses.instructions {
                lines.add(&row.place, 2, row.misses.get(size).copied().unwrap_or(0));
            }
        }
        for row in &account.losses {
            if let Some(wait) = &row.wait {
                lines.add(wait, 3, row.ns);
            }
        }
        Self { lines, missed, started_unix_ns: graph.meta().start_unix_ns }
    }

    /// The lines at these places, each once, of the first two files that can be read and were not
    /// changed since.
    pub(super) fn excerpts(&self, places: &[Place]) -> Vec<Excerpt> {
        let mut found: Vec<Excerpt> = Vec::new();
        let mut seen: Vec<&Place> = Vec::new();
        for place in places.iter().filter(|place| place.line > 0) {
            let near = |other: &&Place| {
                other.file == place.file && other.line.abs_diff(place.line) <= AROUND
            };
            if found.len() == 2 || seen.iter().any(near) {
                continue;
            }
            seen.push(place);
            found.extend(self.excerpt(place));
        }
        found
    }

    fn excerpt(&self, place: &Place) -> Option<Excerpt> {
        let (text, changed) = read(&place.file, self.started_unix_ns)?;
        let around = around(place.line);
        let numbers = self.lines.0.get(&place.file);
        let lines = text.lines().zip(1..).filter(|(_, line)| !changed && around.contains(line));
        let lines: Vec<_> = lines
            .map(|(text, line)| {
                let numbers = numbers.and_then(|lines| lines.get(&line));
                let ns = numbers.map_or(0, |numbers| numbers[0] + numbers[3]);
                (line, text.chars().take(LONG).collect(), ns)
            })
            .collect();
        (!lines.is_empty()).then(|| Excerpt { place: place.short(), lines })
    }

    /// The section; `None` if no file of the program can be read here.
    pub(super) fn section(&self) -> Option<Section> {
        let lines = &self.lines;
        let mut files: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (file, line) in lines.chosen() {
            files.entry(file).or_default().push(line);
        }
        let executions = |file: &str| lines.0[file].values().map(|numbers| numbers[1]).sum::<u64>();
        let mut files: Vec<_> = files.into_iter().collect();
        files.sort_by_key(|&(file, _)| std::cmp::Reverse(executions(file)));
        let tables = files.into_iter().filter_map(|(file, chosen)| {
            let (note, table) = table(file, &chosen, &lines.0[file], self.started_unix_ns)?;
            Some((file, note, table))
        });
        let mut tables = tables.peekable();
        tables.peek()?;
        let missed = &self.missed;
        let mut view = View::default().heading("Source lines").line(format!(
            "The {CHOSEN} lines with the most time, executions, misses and waiting, and {AROUND} lines around each. Executions of a block stand at its first line. Time is that of all contexts while they ran; a task's time is divided among its blocks in proportion to their instructions. {missed}Waiting is the processor time that the account lays on waits there."
        ));
        for (heading, note, table) in tables {
            view = view.heading(heading).line(note).table(table);
        }
        Some(Section::of("source", "Source lines", &view))
    }
}

/// A file of the program, and whether it was changed since the run.
fn read(file: &str, started_unix_ns: u64) -> Option<(String, bool)> {
    let meta = std::fs::metadata(file).ok()?;
    if !meta.is_file() || meta.len() > FILE {
        return None;
    }
    let text = std::fs::read(file).ok()?;
    let started = UNIX_EPOCH + Duration::from_nanos(started_unix_ns);
    let changed = started_unix_ns > 0 && meta.modified().is_ok_and(|at| at > started);
    Some((String::from_utf8_lossy(&text).into_owned(), changed))
}

/// The chosen lines of a file: a warning, and the table.
fn table(
    file: &str,
    chosen: &[u32],
    numbers: &BTreeMap<u32, Numbers>,
    started_unix_ns: u64,
) -> Option<(&'static str, Table)> {
    let (text, changed) = read(file, started_unix_ns)?;
    let text: Vec<&str> = text.lines().collect();
    let note =
        if changed { "The file was changed after the run: its lines may be others." } else { "" };
    let rows = chosen.iter().filter_map(|&line| {
        let source = text.get(line as usize - 1)?;
        Some((line, source, numbers.get(&line).copied().unwrap_or_default()))
    });
    let some = |number, cell: fn(u64) -> Cell| match number {
        0 => Cell::Empty,
        number => cell(number),
    };
    let table = Table::of(rows)
        .text("line", "line", |row| row.0.to_string())
        .cell("time", "time_ns", |row| some(row.2[0], Cell::Time))
        .cell("executions", "executions", |row| some(row.2[1], Cell::Count))
        .cell("misses", "misses", |row| some(row.2[2], Cell::Count))
        .cell("waiting", "waiting_ns", |row| some(row.2[3], Cell::Time))
        .text("source", "source", |row| *row.1);
    Some((note, table.table()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_numbers_and_those_around_them_are_shown_once() {
        let mut lines = Lines::default();
        let place = |line| Place { function: "f".to_owned(), file: "a.c".to_owned(), line };
        for (line, which, number) in
            [(2, 1, 500), (2, 1, 600), (3, 3, 7), (0, 2, 9), (50, 1, 10), (90, 2, 0)]
        {
            lines.add(&place(line), which, number);
        }
        let chosen: Vec<_> = lines.chosen().into_iter().map(|(_, line)| line).collect();
        assert_eq!(chosen, [1, 2, 3, 4, 5]);
        assert_eq!(lines.0["a.c"][&2], [0, 1100, 0, 0]);
    }

    #[test]
    fn a_table_ends_with_its_file_and_says_when_that_changed() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "one\n  two\n").expect("written");
        let path = file.path().display().to_string();
        let numbers = BTreeMap::from([(2, [8, 3, 0, 4])]);
        let (note, rows) = table(&path, &[1, 2, 3], &numbers, 1).expect("a table");
        assert!(note.contains("changed after the run"), "{note}");
        let parts = View::default().table(rows).to_page();
        let rows = parts[0]["rows"].as_array().expect("a table");
        assert_eq!(rows.len(), 2, "there is no third line");
        assert_eq!(rows[1], serde_json::json!(["2", 8, 3, null, 4, "  two"]));
        assert!(table("/nowhere/a.c", &[1], &numbers, 0).is_none());
    }
}

//! Pictures of results: plain data that the HTML report draws. Text and CSV leave them out.

use serde::Serialize;

/// What the values along an axis or in a cell are. This decides how they are written, and whether
/// zero belongs to the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A number of things.
    Count,
    /// A number.
    Number,
    /// A share of one.
    Share,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Time,
}

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Values are spaced evenly.
    #[default]
    Linear,
    /// Values are spaced by powers of two, as for cache sizes.
    Log2,
}

/// One axis of a plot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[must_use]
pub struct Axis {
    /// What it shows, with the unit if the labels of the ticks do not have it.
    pub label: String,
    /// Unit of its values.
    pub unit: Unit,
    /// Layout of its values.
    pub scale: Scale,
}

impl Axis {
    /// An axis with even spacing.
    pub fn new(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, scale: Scale::Linear }
    }

    /// The same axis, spaced by powers of two.
    pub fn log2(self) -> Self {
        Self { scale: Scale::Log2, ..self }
    }
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, `x` ascending.
    pub points: Vec<(f64, f64)>,
}

/// A box of a flame graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flame {
    /// Index of the box that it stands on; its own index for the first.
    pub parent: usize,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub place: String,
    /// Its own value in each graph, without those of the boxes on it.
    pub own: Vec<u64>,
}

/// One component of stacked bars.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its name, which is one of [`super::states`].
    pub name: String,
    /// Its height in each bar; negative parts hang below zero.
    pub values: Vec<f64>,
}

impl Part {
    /// A component with the height that `of` says in the bar of each row.
    pub fn of<R>(name: &str, rows: &[R], of: impl Fn(&R) -> f64) -> Self {
        Self { name: name.to_owned(), values: rows.iter().map(of).collect() }
    }
}

/// A row of an activity graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActivityRow {
    /// Its name.
    pub name: String,
    /// The states it was in.
    pub states: Vec<ActivityState>,
    /// Notes on its bins: for how many bins, and the number of the note from 1 on; 0 for none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<(u32, usize)>,
}

/// What a lane did for the longest part of a bin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Note {
    /// The name of its state.
    pub state: &'static str,
    /// The function it was in.
    pub function: String,
    /// The file and line.
    pub place: String,
    /// Whom it waited for; empty if nobody or if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub whom: String,
}

/// How much of each bin a state takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActivityState {
    /// Its name, which is one of [`super::states`].
    pub name: String,
    /// A letter for each bin, which gives 64ths of it in the order of base 64, so that a page with
    /// many lanes stays small.
    pub levels: String,
}

impl ActivityState {
    /// A state that takes these times of the bins; `None` if it does not occur.
    pub fn of(name: &str, times: impl Iterator<Item = u64>, bin_ns: u64) -> Option<Self> {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        // A state that occurs at all is visible: it has at least one step.
        let letter = |ns: u64| {
            let step = (ns.saturating_mul(63) / bin_ns.max(1)).clamp(u64::from(ns > 0), 63);
            char::from(LETTERS[usize::try_from(step).unwrap_or(0)])
        };
        let levels: String = times.map(letter).collect();
        levels.contains(|letter| letter != 'A').then(|| Self { name: name.to_owned(), levels })
    }
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "lowercase")]
pub enum Chart {
    /// Curves over a common axis.
    Lines {
        /// What it shows, in words.
        title: String,
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// Whether a value holds until the next point (a step) instead of leading to it.
        steps: bool,
        /// The curves.
        series: Vec<Series>,
    },
    /// A square of values, in which larger values are darker.
    Matrix {
        /// What it shows, in words.
        title: String,
        /// What a row is, and what a column is.
        axes: (String, String),
        /// The names, which are the same for rows and columns.
        names: Vec<String>,
        /// Unit of the values.
        unit: Unit,
        /// The values, row by row.
        values: Vec<Vec<u64>>,
    },
    /// Flame graphs of the same boxes, side by side. A box is as wide as its own value and the
    /// boxes on it.
    Flames {
        /// What they show, in words.
        title: String,
        /// What each graph measures.
        names: Vec<String>,
        /// Unit of the values.
        unit: Unit,
        /// The boxes, each after the one that it stands on.
        boxes: Vec<Flame>,
    },
    /// Bars of parts that stand on each other.
    Stacks {
        /// What it shows, in words.
        title: String,
        /// What a bar is.
        x: String,
        /// The vertical axis.
        y: Axis,
        /// The bars.
        names: Vec<String>,
        /// The parts of the bars, from below.
        parts: Vec<Part>,
    },
    /// What each of several lanes did over time.
    Activity {
        /// What it shows, in words.
        title: String,
        /// Width of a bin.
        bin_ns: u64,
        /// What a lane is called, before its name.
        lane: String,
        /// The lanes.
        rows: Vec<ActivityRow>,
        /// What the rows' notes say.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        notes: Vec<Note>,
        /// A line through the lanes, in order of time: lane, from and until when (ns).
        path: Vec<(usize, u64, u64)>,
    },
}

//! Speedup stacks as a table and as stacked bars (Eklov et al., figure 3b).

use crate::scaling::Stack;
use crate::scaling::report::Report;
use crate::view::chart::Part;
use crate::view::{Axis, Chart, Table, Unit, View};

/// A part of a stack: its name and the number.
type Named = (&'static str, fn(&Stack) -> f64);

/// From below.
const PARTS: [Named; 3] = [
    ("measured", |stack| stack.measured),
    ("synchronization", |stack| stack.synchronization),
    ("memory", |stack| stack.memory),
];

impl Report {
    pub(super) fn stacks(&self, view: View) -> View {
        let rows: Vec<_> = self
            .points
            .iter()
            .filter(|point| !point.oversubscribed)
            .flat_map(|point| &point.stacks)
            .collect();
        if rows.is_empty() {
            return view;
        }
        let name = |place: usize| self.measurement.place(place);
        let short = |place: usize| match self.measurement.places.get(place) {
            Some(name) if !name.function.is_empty() => name.function.clone(),
            _ => name(place),
        };
        let mut table = Table::of(&rows)
            .text("phase", "phase", |stack| name(stack.place))
            .count("threads", "threads", |stack| stack.threads)
            .share("of run", "share", |stack| stack.share);
        for (name, of) in PARTS {
            table = table.number(name, name, |stack| of(stack));
        }
        let chart = Chart::Stacks {
            title: "Speedup stacks of parallel phases".to_owned(),
            x: "phase".to_owned(),
            y: Axis::new("speedup", Unit::Number),
            names: rows
                .iter()
                .map(|stack| format!("{} ×{}", short(stack.place), stack.threads))
                .collect(),
            parts: PARTS.map(|(name, of)| Part::of(name, &rows, |stack| of(stack))).into(),
        };
        view.heading("Speedup stacks")
            .line(
                "What keeps each parallel phase from linear speedup, limits added in the order memory (caches and memory \
                 together, and unequal shares of work), synchronization; the parts add up to the number of threads. \
                 contech-backend stack estimates what caches cost in a recorded run.",
            )
            .table(table.table())
            .chart(chart)
    }
}

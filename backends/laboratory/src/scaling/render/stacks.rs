//! Speedup stacks as a table and as stacked bars (Eklov et al., figure 3b).

use crate::scaling::report::Report;
use crate::scaling::{PlaceName, Stack};
use crate::view::chart::Part;
use crate::view::{Axis, Chart, Table, Unit, View};

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
        let name = |place: usize| {
            let name = self.measurement.places.get(place);
            name.map_or_else(String::new, PlaceName::words)
        };
        let short = |place: usize| match self.measurement.places.get(place) {
            Some(name) if !name.function.is_empty() => name.function.clone(),
            _ => name(place),
        };
        let table = Table::of(&rows)
            .text("phase", "phase", |stack| name(stack.place))
            .count("threads", "threads", |stack| stack.threads)
            .share("of run", "share", |stack| stack.share)
            .number("measured", "measured", |stack| stack.measured)
            .number("synchronization", "synchronization", |stack| stack.synchronization)
            .number("memory", "memory", |stack| stack.memory)
            .table();
        let part = |name: &str, of: &dyn Fn(&Stack) -> f64| Part {
            name: name.to_owned(),
            values: rows.iter().map(|stack| of(stack)).collect(),
        };
        let chart = Chart::Stacks {
            title: "Speedup stacks of parallel phases".to_owned(),
            x: "phase".to_owned(),
            y: Axis::new("speedup", Unit::Number),
            names: rows
                .iter()
                .map(|stack| format!("{} ×{}", short(stack.place), stack.threads))
                .collect(),
            parts: vec![
                part("measured", &|stack| stack.measured),
                part("synchronization", &|stack| stack.synchronization),
                part("memory", &|stack| stack.memory),
            ],
        };
        view.heading("Speedup stacks")
            .line(
                "What keeps each parallel phase from linear speedup, limits added in the order memory (caches and memory \
                 together, and unequal shares of work), synchronization; the parts add up to the number of threads. \
                 contech-backend stack estimates what caches cost in a recorded run.",
            )
            .table(table)
            .chart(chart)
    }
}

//! Speedup stacks as a table and as stacked bars (Eklov et al., figure 3b).

use crate::scaling::report::Report;
use crate::scaling::{PlaceName, Stack};
use crate::view::chart::Part;
use crate::view::{Axis, Cell, Chart, Table, Unit, View};

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
        let columns = [
            ("phase", "phase"),
            ("threads", "threads"),
            ("of run", "share"),
            ("measured", "measured"),
            ("synchronization", "synchronization"),
            ("memory", "memory"),
            ("cache", "cache"),
            ("shares of work", "share_of_work"),
        ];
        let table = Table::new(&columns).rows(rows.iter().map(|stack| {
            [
                Cell::from(name(stack.place)),
                Cell::Count(stack.threads.into()),
                Cell::Share(stack.share),
                Cell::Number(stack.measured),
                Cell::Number(stack.synchronization),
                Cell::Number(stack.memory),
                stack.cache.map_or(Cell::Empty, Cell::Number),
                Cell::Number(stack.share_of_work),
            ]
        }));
        let part = |name: &str, color: &str, of: &dyn Fn(&Stack) -> f64| Part {
            name: name.to_owned(),
            color: color.to_owned(),
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
                part("measured", "running", &|stack| stack.measured),
                part("synchronization", "lock", &|stack| stack.synchronization),
                part("memory", "message", &|stack| stack.memory),
                part("cache", "condition", &|stack| stack.cache.unwrap_or(0.0)),
                part("shares of work", "join", &|stack| stack.share_of_work),
            ],
        };
        let mut view = view
            .heading("Speedup stacks")
            .line(
                "What keeps each parallel phase from linear speedup, limits added in the order cache, memory, \
                 synchronization; the parts add up to the number of threads.",
            )
            .table(table)
            .chart(chart);
        let unmeasured = rows.iter().any(|stack| stack.cache.is_none());
        if unmeasured {
            view = view.line(
                "Without a cache component, what is called memory is cache and memory together (and with no alone-run, \
                 unequal shares of work as well): contech scale --stack measures them.",
            );
        }
        let mut notes: Vec<&String> = rows.iter().flat_map(|stack| &stack.notes).collect();
        notes.sort();
        notes.dedup();
        notes
            .into_iter()
            .fold(view, |view, note| view.line(format!("Note: {note}.")))
    }
}

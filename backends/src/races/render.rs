//! How `races` looks in a terminal and in CSV.

use super::{Race, Report, Side};
use crate::analysis::Windows;
use crate::view::units::{count, ratio};
use crate::view::{Cell, Render, Table, View};

/// Number of races that are shown in full as text.
const SHOWN: usize = 25;

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default()
            .csv(self.table())
            .heading("Races")
            .line(self.sentence());
        if !self.races.is_empty() {
            view = view.table_in_page(self.pairs_table());
        }
        for (race, number) in self.races.iter().zip(1..).take(SHOWN) {
            view = view
                .line_in_text("")
                .line_in_text(format!("{number}. {}", side(&race.a)))
                .line_in_text(format!("   {}", side(&race.b)))
                .line_in_text(format!(
                    "   at {:#x}, {} times. {}",
                    race.address,
                    count(race.count),
                    race.missing
                ));
        }
        if self.races.len() > SHOWN {
            let more = count((self.races.len() - SHOWN) as u64);
            view = view.line_in_text("").line_in_text(format!(
                "... {more} more (all of them: --format csv or json)"
            ));
        }
        view
    }
}

impl Report {
    /// The result in words.
    #[must_use]
    pub fn sentence(&self) -> String {
        let found = match self.races.len() {
            0 => "No two unordered accesses conflict".to_owned(),
            1 => "1 pair of source places races".to_owned(),
            pairs => format!("{} pairs of source places race", count(pairs as u64)),
        };
        let mut sentence = format!("{found} ({} accesses looked at).", count(self.accesses));
        if self.races.iter().any(|race| race.atomics) {
            sentence += " Some of the contexts also share atomic variables, whose order the graph does not have.";
        }
        if let Some(every) = self.windows {
            sentence += " ";
            sentence += &Windows::sentence(every, "Races were looked for in");
            sentence += " There may be others.";
        }
        sentence
    }

    /// One row per race, for people.
    fn pairs_table(&self) -> Table {
        let total = self.races.iter().map(|race| race.count).sum();
        let rows = self.races.iter().map(|race| {
            [
                Cell::Text(side(&race.a)),
                Cell::Text(side(&race.b)),
                Cell::Count(race.count),
                Cell::Share(ratio(race.count, total)),
                Cell::Text(race.missing.clone()),
            ]
        });
        Table::new(&[
            ("one side", "a"),
            ("the other", "b"),
            ("times", "count"),
            ("of all", "share"),
            ("what is missing", "missing"),
        ])
        .rows(rows)
    }

    fn table(&self) -> Table {
        let rows = self.races.iter().map(|race: &Race| {
            let side = |side: &Side| {
                [
                    Cell::Count(side.context.into()),
                    Cell::Text(side.task.clone()),
                    Cell::Function(side.place.function.clone()),
                    Cell::Text(side.place.file.clone()),
                    Cell::Count(side.place.line.into()),
                    Cell::from(access(side)),
                ]
            };
            let rest = [Cell::Count(race.count), Cell::Text(race.missing.clone())];
            std::iter::once(Cell::Text(format!("{:#x}", race.address)))
                .chain(side(&race.a))
                .chain(side(&race.b))
                .chain(rest)
        });
        let sides = ["a", "b"].into_iter().flat_map(|name| {
            ["context", "task", "function", "file", "line", "access"]
                .map(|column| format!("{name}_{column}"))
        });
        let columns = std::iter::once("address".to_owned())
            .chain(sides)
            .chain(["count".to_owned(), "missing".to_owned()]);
        Table::titled(columns).rows(rows)
    }
}

fn access(side: &Side) -> &'static str {
    match (side.write, side.atomic) {
        _ if side.free => "free",
        (false, false) => "read",
        (true, false) => "write",
        (false, true) => "atomic read",
        (true, true) => "atomic write",
    }
}

fn side(side: &Side) -> String {
    format!(
        "{} {}, context {}, task {}",
        access(side),
        side.place.located(),
        side.context,
        side.task
    )
}

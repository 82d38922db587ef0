//! How `races` looks in a terminal and in CSV.

use super::{Race, Report, Side};
use crate::analysis::Windows;
use crate::view::units::{count, ratio};
use crate::view::{Render, Table, View};

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
        Table::of(&self.races)
            .text("one side", "a", |race| side(&race.a))
            .text("the other", "b", |race| side(&race.b))
            .count("times", "count", |race| race.count)
            .share("of all", "share", |race| ratio(race.count, total))
            .text("what is missing", "missing", |race| race.missing.clone())
            .table()
    }

    fn table(&self) -> Table {
        type Pick = fn(&Race) -> &Side;
        let mut columns = Table::of(&self.races)
            .text("address", "address", |race| format!("{:#x}", race.address));
        let sides: [(&str, Pick); 2] = [("a", |race| &race.a), ("b", |race| &race.b)];
        for (name, side) in sides {
            let [context, task, function, file, line, how] =
                ["context", "task", "function", "file", "line", "access"]
                    .map(|column| format!("{name}_{column}"));
            columns = columns
                .count(&context, &context, |race| side(race).context)
                .text(&task, &task, |race| side(race).task.clone())
                .function(&function, &function, |race| {
                    side(race).place.function.clone()
                })
                .text(&file, &file, |race| side(race).place.file.clone())
                .count(&line, &line, |race| side(race).place.line)
                .text(&how, &how, |race| access(side(race)));
        }
        columns
            .count("count", "count", |race| race.count)
            .text("missing", "missing", |race| race.missing.clone())
            .table()
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

//! How `races` looks in a terminal and in CSV.

use super::{Call, Destroyed, Race, Report, Side, Unknown};
use crate::analysis::Windows;
use crate::view::units::{count, ratio};
use crate::view::{Render, Table, View};

/// Number of races that are shown in full as text.
const SHOWN: usize = 25;

impl Render for Report {
    fn view(&self) -> View {
        let mut view = View::default().csv(self.table()).heading("Races").line(self.sentence());
        if !self.races.is_empty() {
            view = view.table_in_page(self.pairs_table());
        }
        for (race, number) in self.races.iter().zip(1..).take(SHOWN) {
            view = view.line_in_text("").line_in_text(format!("{number}. {}", side(&race.a)));
            view = way(view, &race.a).line_in_text(format!("   {}", side(&race.b)));
            view = way(view, &race.b).line_in_text(format!(
                "   {}, {} times. {}",
                memory(race),
                count(race.count),
                race.missing
            ));
        }
        if self.races.len() > SHOWN {
            let more = count((self.races.len() - SHOWN) as u64);
            view = view
                .line_in_text("")
                .line_in_text(format!("... {more} more (all of them: --format csv or json)"));
        }
        for use_after in &self.destroyed {
            view = view.line_in_text("").line(use_after.sentence());
        }
        for unknown in &self.unknown {
            view = view.line_in_text("").line(unknown.sentence());
        }
        view
    }
}

impl Destroyed {
    fn sentence(&self) -> String {
        let Self { address, used, destroyed, .. } = self;
        let object = match &self.variable {
            Some(name) => format!("{name} ({address:#x})"),
            None => format!("the object at {address:#x}"),
        };
        let call = |call: &Call| {
            let Call { context, task, place } = call;
            format!("{}, context {context}, task {task}", place.located())
        };
        format!(
            "Used after it was destroyed: {object}, by {} {}; it was destroyed {}; {} times.",
            self.operation,
            call(used),
            call(destroyed),
            count(self.count)
        )
    }
}

impl Unknown {
    /// How many pairs are withheld, and why.
    fn sentence(&self) -> String {
        let pairs = match self.pairs.len() {
            1 => "1 pair of source places is".to_owned(),
            pairs => format!("{} pairs of source places are", count(pairs as u64)),
        };
        let reason = &self.reason;
        format!("Whether {pairs} ordered is not known: {reason} (--format json names them).")
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
            .text("memory", "memory", |race| memory(race))
            .count("times", "count", |race| race.count)
            .share("of all", "share", |race| ratio(race.count, total))
            .text("what is missing", "missing", |race| race.missing.clone())
            .table()
    }

    fn table(&self) -> Table {
        type Pick = fn(&Race) -> &Side;
        let mut columns = Table::of(&self.races)
            .text("address", "address", |race| format!("{:#x}", race.address))
            .text("memory", "memory", |race| memory(race));
        let sides: [(&str, Pick); 2] = [("a", |race| &race.a), ("b", |race| &race.b)];
        for (name, side) in sides {
            let [context, task, function, file, line, how] =
                ["context", "task", "function", "file", "line", "access"]
                    .map(|column| format!("{name}_{column}"));
            columns = columns
                .count(&context, &context, |race| side(race).context)
                .text(&task, &task, |race| side(race).task.clone())
                .function(&function, &function, |race| side(race).place.function.clone())
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

/// The calls that led to a side, and where its context was created.
fn way(view: View, side: &Side) -> View {
    let callers = side.callers.iter().map(|place| format!("called {}", place.located()));
    let created = side.created.iter();
    let created = created.map(|place| format!("context created {}", place.located()));
    callers.chain(created).fold(view, |view, line| view.line_in_text(format!("      {line}")))
}

/// What the program calls the byte, or where its memory comes from.
fn memory(race: &Race) -> String {
    let at = format!("at {:#x}", race.address);
    match (&race.variable, &race.made, race.stack) {
        (Some(name), ..) => format!("{name}, {at}"),
        (None, Some(made), _) => {
            let from = made.place.located();
            match made.offset.zip(made.size) {
                Some((offset, size)) => {
                    let (offset, size) = (count(offset), count(size));
                    format!("byte {offset} of the {size} allocated {from}, {at}")
                }
                None => format!("memory from the call {from}, {at}"),
            }
        }
        (None, None, Some(context)) => format!("the stack of context {context}, {at}"),
        (None, None, None) => at,
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

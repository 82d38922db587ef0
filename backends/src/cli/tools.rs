//! The words that can follow `contech-backend` and are no analyses: one line each.

use super::registry::{ENTRIES, Entry, Place, tool};

/// Everything that `contech-backend` can do, in the order that `--list` shows.
pub(super) fn entries() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().chain(TOOLS)
}

const TOOLS: &[Entry] = &[
    tool::<crate::workspan::online::Options>(
        "profile",
        "Work and span that a program measured itself: contech-cc --contech-mode=workspan",
        Place::AnalyseToo,
        "workspan.json",
        crate::workspan::online::run,
    ),
    tool::<crate::export::Options>(
        "export",
        "The graph for other programs: timelines, profiles, tables, pictures",
        Place::Command,
        "graph.tg --perfetto run.pftrace",
        crate::export::run,
    ),
    tool::<crate::dump::Options>(
        "dump",
        "Tasks, edges, blocks or accesses as text or JSON",
        Place::Debug,
        "graph.tg --tasks",
        crate::dump::run,
    ),
    tool::<super::shard::Options>(
        "shard",
        "One analysis by several processes: plan, run each share, merge",
        Place::Debug,
        "plan shares --workers 2 --graph graph.tg cache",
        super::shard::run,
    ),
    tool::<super::Common>(
        "verify",
        "Checks the whole file; exit 1 with the place of the first fault",
        Place::Debug,
        "graph.tg",
        crate::verify::run,
    ),
    tool::<crate::diff::Options>(
        "diff",
        "What changed between two runs, in processor time by cause and place",
        Place::Command,
        "before.tg after.tg",
        crate::diff::run,
    ),
    tool::<crate::report::Options>(
        "report",
        "One self-contained HTML page with all of it",
        Place::Command,
        "graph.tg -o report.html",
        crate::report::run,
    ),
];

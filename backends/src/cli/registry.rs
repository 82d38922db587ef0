//! Every word that can follow `contech-backend`: one line each.

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::Common;
use crate::analysis::{Analysis, run, something_to_analyse};
use crate::view::Render;

/// What `contech-backend` can do, in the order `--list` shows.
pub const ENTRIES: &[Entry] = &[
    analysis::<crate::stats::Stats>(),
    analysis::<crate::parallelism::Parallelism>(),
    analysis::<crate::blocks::Blocks>(),
    analysis::<crate::cache::Cache>(),
    analysis::<crate::hierarchy::Hierarchy>(),
    analysis::<crate::critpath::CritPath>(),
    analysis::<crate::workspan::WorkSpan>(),
    analysis::<crate::scaling::recorded::Factors>(),
    analysis::<crate::scaling::recorded::Stack>(),
    analysis::<crate::races::Races>(),
    analysis::<crate::misses::Misses>(),
    analysis::<crate::sharing::Sharing>(),
    analysis::<crate::memuse::MemUse>(),
    tool::<crate::workspan::online::Options>(
        "profile",
        "Work and span that a program measured itself: contech-cc --contech-mode=workspan",
        crate::workspan::online::run,
    ),
    tool::<crate::export::Options>(
        "export",
        "The graph for other programs: --dot draws a small one",
        crate::export::run,
    ),
    tool::<crate::dump::Options>(
        "dump",
        "Tasks, edges, blocks or accesses as text or JSON",
        crate::dump::run,
    ),
    tool::<crate::verify::Options>(
        "verify",
        "Checks the whole file; exit 1 with the place of the first fault",
        crate::verify::run,
    ),
    tool::<crate::report::Options>(
        "report",
        "One self-contained HTML page with all of it",
        crate::report::run,
    ),
];

/// A subcommand.
#[derive(Debug)]
pub struct Entry {
    /// The word on the command line.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    arguments: fn(Command) -> Command,
    /// Does it.
    pub run: fn(&ArgMatches) -> Result<()>,
}

impl Entry {
    /// Its command line.
    #[must_use]
    pub fn command(&self) -> Command {
        (self.arguments)(Command::new(self.name)).about(self.about)
    }
}

/// An analysis: its options after the common ones.
const fn analysis<A>() -> Entry
where
    A: Analysis,
    A::Config: Args,
    A::Report: Render,
{
    Entry {
        name: A::NAME,
        about: A::ABOUT,
        arguments: |command| A::Config::augment_args(Common::augment_args(command)),
        run: |matches| {
            let common = Common::from_arg_matches(matches)?;
            let graph = common.open()?;
            if A::NEEDS_ACCESSES {
                something_to_analyse(&graph, A::NAME)?;
            }
            let report = run::<A>(A::Config::from_arg_matches(matches)?, &graph)?;
            common.write(&graph, &report)
        },
    }
}

/// Anything that is not an [`Analysis`]: it has its own options and does its own output.
const fn tool<O: Args>(
    name: &'static str,
    about: &'static str,
    run: fn(&ArgMatches) -> Result<()>,
) -> Entry {
    Entry {
        name,
        about,
        arguments: O::augment_args,
        run,
    }
}

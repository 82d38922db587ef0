//! The analyses: one line each. `tools` has the other words that can follow `contech-backend`.

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::Common;
use crate::analysis::{Analysis, run, something_to_analyse};
use crate::cache::Cache;
use crate::critpath::CritPath;
use crate::hierarchy::Hierarchy;
use crate::memuse::MemUse;
use crate::misses::Misses;
use crate::parallelism::Parallelism;
use crate::races::Races;
use crate::report::{Choices, Shown, begin, default_config};
use crate::scaling::recorded::Factors;
use crate::sharing::Sharing;
use crate::view::Render;
use crate::workspan::{self, WorkSpan};

/// The analyses, in the order that `--list` and the report show.
pub const ENTRIES: &[Entry] = &[
    analysis::<crate::stats::Stats>().shown(Shown::of::<crate::stats::Stats>()),
    analysis::<crate::account::Account>()
        .shown(Shown::of::<crate::account::Account>().section("Account")),
    analysis::<crate::predict::Predict>(),
    analysis::<Parallelism>().shown(Shown::of::<Parallelism>()),
    analysis::<crate::blocks::Blocks>().shown(Shown::of::<crate::blocks::Blocks>()),
    analysis::<Cache>().shown(Shown::with::<Cache>(|graph, choices| {
        begin::<Cache>(choices.cache(graph)?, graph)
    })),
    analysis::<CritPath>().shown(Shown::of::<CritPath>().section("Critical path")),
    analysis::<WorkSpan>().shown(
        Shown::with::<WorkSpan>(|graph, choices| begin::<WorkSpan>(measured(choices)?, graph))
            .section("Call sites"),
    ),
    analysis::<Factors>().shown(Shown::of::<Factors>().section("Factors")),
    analysis::<crate::scaling::recorded::Stack>(),
    analysis::<Misses>().shown(
        Shown::with::<Misses>(|graph, choices| begin::<Misses>(choices.misses(graph)?, graph))
            .section("Misses"),
    ),
    analysis::<Hierarchy>().shown(Shown::of::<Hierarchy>().section("Hierarchy")),
    analysis::<Sharing>().shown(Shown::of::<Sharing>().section("Sharing")),
    analysis::<Races>().shown(Shown::of::<Races>().section("Races")),
    analysis::<MemUse>().shown(
        Shown::with::<MemUse>(|graph, choices| begin::<MemUse>(choices.memuse(graph)?, graph))
            .section("Memory"),
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
    /// How it takes part in the report, if it does.
    pub shown: Option<Shown>,
}

impl Entry {
    const fn shown(self, shown: Shown) -> Self {
        Self {
            shown: Some(shown),
            ..self
        }
    }

    /// Its command line.
    #[must_use]
    pub fn command(&self) -> Command {
        (self.arguments)(Command::new(self.name)).about(self.about)
    }
}

/// The speedups that the report sets beside the bounds are those of the call sites.
fn measured(choices: &Choices) -> Result<workspan::Options> {
    Ok(workspan::Options {
        measured: choices.measured.clone(),
        ..default_config::<WorkSpan>()?
    })
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
            let mut report = run::<A>(A::Config::from_arg_matches(matches)?, &graph)?;
            A::complete(&mut report, &graph)?;
            common.write(&graph, &report)
        },
        shown: None,
    }
}

/// Anything that is not an [`Analysis`]: it has its own options and does its own output.
pub(super) const fn tool<O: Args>(
    name: &'static str,
    about: &'static str,
    run: fn(&ArgMatches) -> Result<()>,
) -> Entry {
    Entry {
        name,
        about,
        arguments: O::augment_args,
        run,
        shown: None,
    }
}

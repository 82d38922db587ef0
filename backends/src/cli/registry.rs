//! The analyses: one line each. `tools` has the other words that can follow `contech-backend`.

use anyhow::{Result, anyhow};
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::division::{Division, config};
use super::{Common, said};
use crate::analysis::{Analysis, Graph, default_config, run, warnings};
use crate::cache::Cache;
use crate::critpath::CritPath;
use crate::memuse::MemUse;
use crate::misses::Misses;
use crate::output::json;
use crate::parallelism::Parallelism;
use crate::races::Races;
use crate::report::{Begin, Choices, Shown, begin, usual};
use crate::sharing::Sharing;
use crate::view::Render;
use crate::workspan::{self, WorkSpan};

/// The analyses, in the order that `--list` and the report show.
pub const ENTRIES: &[Entry] = &[
    analysis::<crate::stats::Stats>()
        .too()
        .example("graph.tg --format json")
        .shown(None, usual::<crate::stats::Stats>),
    analysis::<crate::account::Account>()
        .word("time")
        .example("graph.tg --processors 8")
        .shown(Some("Account"), usual::<crate::account::Account>)
        .told_first(),
    analysis::<crate::predict::Predict>().example("graph.tg --processors 1..16"),
    analysis::<Parallelism>().shown(None, usual::<Parallelism>).told_first(),
    analysis::<crate::blocks::Blocks>()
        .too()
        .example("graph.tg --top 10")
        .shown(None, usual::<crate::blocks::Blocks>),
    analysis::<Cache>()
        .example("graph.tg --sizes 1K..8M --ways 8,full --format csv")
        .divided(Division::of::<Cache>()),
    analysis::<CritPath>()
        .word("path")
        .example("graph.tg --halve 5")
        .shown(Some("Critical path"), usual::<CritPath>),
    analysis::<WorkSpan>()
        .example("graph.tg --metric ops")
        .shown(Some("Call sites"), |graph, choices| begin::<WorkSpan>(measured(choices)?, graph))
        .divided(Division::of::<WorkSpan>()),
    analysis::<crate::recorded::RecordedFactors>().too().example("graph.tg --processors 8"),
    analysis::<crate::recorded::RecordedStack>().too().example("graph.tg --processors 8"),
    analysis::<Misses>()
        .example("graph.tg --sizes 32K,1M")
        .shown(Some("Misses"), |graph, choices| begin::<Misses>(choices.misses(graph)?, graph)),
    analysis::<Sharing>()
        .word("coherence")
        .example("graph.tg --line 64,128")
        .shown(Some("Sharing"), |graph, choices| begin::<Sharing>(choices.sharing(graph)?, graph)),
    analysis::<Races>()
        .shown(Some("Races"), |graph, choices| begin::<Races>(choices.races(graph)?, graph)),
    analysis::<MemUse>()
        .word("heap")
        .example("graph.tg --top 10")
        .shown(Some("Memory"), |graph, choices| begin::<MemUse>(choices.memuse(graph)?, graph)),
];

/// Where `contech` has a subcommand of `contech-backend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Below `analyse`, in its help.
    Analyse,
    /// Below `analyse`, at the end of its help.
    AnalyseToo,
    /// A command of its own.
    Command,
    /// Below `debug`.
    Debug,
}

impl Place {
    /// The command that it is below.
    pub(super) fn group(self) -> Option<&'static str> {
        match self {
            Self::Analyse | Self::AnalyseToo => Some("analyse"),
            Self::Command => None,
            Self::Debug => Some("debug"),
        }
    }
}

/// A subcommand.
#[derive(Debug)]
pub struct Entry {
    /// The word on the command line.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The word after `contech analyse`, if it is another one.
    word: Option<&'static str>,
    /// Where `contech` has it.
    pub(super) place: Place,
    /// What follows the command in its example.
    example: &'static str,
    arguments: fn(Command) -> Command,
    /// Does it.
    pub(super) run: fn(&ArgMatches) -> Result<()>,
    /// What it says of a graph, as JSON, if it is an analysis.
    answer: Option<fn(&ArgMatches, &Graph) -> Result<String>>,
    /// How it takes part in the report, if it does.
    pub(crate) shown: Option<Shown>,
    /// Whether the answer that is told before the page is made needs its result.
    pub(crate) told_first: bool,
    /// How several processes share it, if they can.
    divided: Option<Division>,
}

impl Entry {
    /// It takes part in the report, with a section if there is a word for the menu; otherwise the
    /// page draws its result itself.
    const fn shown(self, menu: Option<&'static str>, begin: Begin) -> Self {
        Self { shown: Some(Shown { menu, begin }), ..self }
    }

    /// Its result is a part of the answer that is told before the page is made, so it should not
    /// take long.
    const fn told_first(self) -> Self {
        Self { told_first: true, ..self }
    }

    /// Another word for it after `contech analyse`.
    const fn word(self, word: &'static str) -> Self {
        Self { word: Some(word), ..self }
    }

    /// An analysis that the help of `contech analyse` names at its end.
    pub(super) const fn too(self) -> Self {
        Self { place: Place::AnalyseToo, ..self }
    }

    /// What follows the command in its example.
    const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// The word that `contech` has for it.
    pub(super) fn front_name(&self) -> &'static str {
        self.word.unwrap_or(self.name)
    }

    /// Its command line in `contech`.
    pub(super) fn front_command(&self) -> Command {
        let command = self.command().hide(self.place == Place::AnalyseToo);
        match self.word {
            Some(word) => command.name(word).visible_alias(self.name),
            None => command,
        }
    }

    /// Its command line with these options.
    fn parsed(&self, options: &[String]) -> Result<ArgMatches> {
        let words = std::iter::once(self.name).chain(options.iter().map(String::as_str));
        let command = self.command().disable_help_flag(true);
        command.try_get_matches_from(words).map_err(|error| said(&error))
    }

    const fn divided(self, division: Division) -> Self {
        Self { divided: Some(division), ..self }
    }

    /// Its command line.
    pub(super) fn command(&self) -> Command {
        let words = self.place.group().into_iter().chain([self.front_name(), self.example]);
        (self.arguments)(Command::new(self.name))
            .about(self.about)
            .after_help(format!("Example: contech {}", words.collect::<Vec<_>>().join(" ")))
    }
}

/// The speedups that the report sets beside the bounds are those of the call sites.
fn measured(choices: &Choices) -> Result<workspan::Options> {
    Ok(workspan::Options { measured: choices.measured.clone(), ..default_config::<WorkSpan>()? })
}

/// What has this name, and does what this function does.
const fn entry(
    name: &'static str,
    about: &'static str,
    arguments: fn(Command) -> Command,
    run: fn(&ArgMatches) -> Result<()>,
) -> Entry {
    Entry {
        name,
        about,
        word: None,
        place: Place::Analyse,
        example: "graph.tg",
        arguments,
        run,
        answer: None,
        shown: None,
        told_first: false,
        divided: None,
    }
}

/// An analysis: its options after the common ones.
const fn analysis<A: Analysis<Config: Args, Report: Render>>() -> Entry {
    let arguments = |command| A::Config::augment_args(Common::augment_args(command));
    let run = |matches: &ArgMatches| {
        let common = Common::from_arg_matches(matches)?;
        let graph = common.open()?;
        common.write(&graph, &report::<A>(matches, &graph)?)
    };
    Entry {
        answer: Some(|matches, graph| json(&report::<A>(matches, graph)?, &warnings(graph))),
        ..entry(A::NAME, A::ABOUT, arguments, run)
    }
}

fn report<A: Analysis<Config: Args>>(matches: &ArgMatches, graph: &Graph) -> Result<A::Report> {
    let mut report = run::<A>(config::<A>(matches, graph)?, graph)?;
    A::complete(&mut report, graph)?;
    Ok(report)
}

/// The analysis of this name that can do something, or the names of all that can.
fn named<T>(name: &str, can: fn(&Entry) -> Option<T>) -> Result<(&'static Entry, T), String> {
    let all = || ENTRIES.iter().filter_map(|entry| Some((entry, can(entry)?)));
    let names = || all().map(|(entry, _)| entry.name).collect::<Vec<_>>().join(", ");
    all().find(|(entry, _)| entry.name == name).ok_or_else(names)
}

/// What an analysis says of a graph, as the JSON of its command with these options.
///
/// # Errors
/// When there is no such analysis or option, or the graph cannot be read.
pub fn answer(name: &str, options: &[String], graph: &Graph) -> Result<String> {
    let found = named(name, |entry| entry.answer);
    let (entry, answer) =
        found.map_err(|all| anyhow!("there is no analysis {name}; there are {all}"))?;
    answer(&entry.parsed(options)?, graph)
}

/// How several processes share an analysis, with its options.
///
/// # Errors
/// When there is no such analysis or option, or one process must do it.
pub(super) fn division(name: &str, options: &[String]) -> Result<(Division, ArgMatches)> {
    let found = named(name, |entry| entry.divided);
    let (entry, division) = found.map_err(|all| anyhow!("{name} cannot be divided; {all} can"))?;
    Ok((division, entry.parsed(options)?))
}

/// Anything that is not an [`Analysis`]: it has its own options and does its own output.
pub(super) const fn tool<O: Args>(
    name: &'static str,
    about: &'static str,
    place: Place,
    example: &'static str,
    run: fn(&ArgMatches) -> Result<()>,
) -> Entry {
    Entry { place, example, ..entry(name, about, O::augment_args, run) }
}

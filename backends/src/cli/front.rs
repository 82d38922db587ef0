//! What `contech` has of the commands that read graphs: `report`, `export` and `diff`, and the
//! groups `analyse` and `debug`. They are the entries of `contech-backend`, whose words stay as
//! they are.

use std::fmt::Write as _;

use anyhow::Result;
use clap::{ArgMatches, Command};

use super::registry::{Entry, Place};
use super::tools::entries;

fn of(place: Place) -> impl Iterator<Item = &'static Entry> {
    entries().filter(move |entry| entry.place == place)
}

fn group(name: &'static str, about: &'static str, places: &[Place], end: String) -> Command {
    let command = Command::new(name)
        .about(about)
        .subcommand_value_name("NAME")
        .subcommand_help_heading("Names")
        .disable_help_subcommand(true)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .after_help(end);
    let entries = places.iter().flat_map(|&place| of(place));
    command.subcommands(entries.map(Entry::front_command))
}

/// `contech` with the commands that read graphs.
pub(crate) fn add_to(contech: Command) -> Command {
    let too: Vec<&str> = of(Place::AnalyseToo).map(Entry::front_name).collect();
    let mut end = format!("Also: {}\n", too.join(", "));
    let _ = write!(end, "\nExample: contech analyse time graph.tg");
    let analyse =
        group("analyse", "Does one analysis of a graph", &[Place::Analyse, Place::AnalyseToo], end);
    let debug = group(
        "debug",
        "Looks into a graph, checks it, or divides an analysis among processes",
        &[Place::Debug],
        "Example: contech debug verify graph.tg".to_owned(),
    );
    let commands = of(Place::Command).map(|entry| entry.front_command().display_order(11));
    contech
        .subcommand(analyse.display_order(10).visible_alias("analyze"))
        .subcommands(commands)
        .subcommand(debug.display_order(12))
}

/// Runs what the matches of `contech` name, if it is a command that reads graphs.
pub(crate) fn run(matches: &ArgMatches) -> Option<Result<()>> {
    let (mut word, mut matches) = matches.subcommand()?;
    let places: &[Place] = match word {
        "analyse" => &[Place::Analyse, Place::AnalyseToo],
        "debug" => &[Place::Debug],
        _ => &[Place::Command],
    };
    if places != [Place::Command] {
        (word, matches) = matches.subcommand()?;
    }
    let named = |entry: &&Entry| entry.front_name() == word && places.contains(&entry.place);
    entries().find(named).map(|entry| (entry.run)(matches))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_contech_backend_is_a_word_of_contech() {
        let contech = add_to(Command::new("contech"));
        contech.clone().debug_assert();
        crate::cli::command().debug_assert();
        for entry in entries() {
            let group: &[&str] = match entry.place {
                Place::Analyse | Place::AnalyseToo => &["analyse"],
                Place::Command => &[],
                Place::Debug => &["debug"],
            };
            let mut found = &contech;
            for word in group.iter().copied().chain([entry.name]) {
                found = found.find_subcommand(word).expect(word);
            }
            let help = found.clone().render_help().to_string();
            let end = help.trim_end().lines().last().unwrap_or_default().to_owned();
            assert!(
                end.starts_with("Example: contech ") && end.contains(entry.front_name()),
                "{help}"
            );
        }
    }
}

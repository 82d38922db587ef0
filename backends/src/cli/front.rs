//! What `contech` has of the commands that read graphs: `report`, `export` and `diff`, and the
//! groups `analyse` and `debug`. They are the entries of `contech-backend`, whose words stay as
//! they are.

use anyhow::Result;
use clap::{ArgMatches, Command};

use super::registry::{Entry, Place};
use super::tools::entries;

fn of(place: Place) -> impl Iterator<Item = &'static Entry> {
    entries().filter(move |entry| entry.place == place)
}

fn group(name: &'static str, about: &'static str, end: String) -> Command {
    let mut own: Vec<&Entry> = entries().filter(|e| e.place.group() == Some(name)).collect();
    own.sort_by_key(|entry| entry.place == Place::AnalyseToo);
    let command = Command::new(name)
        .about(about)
        .subcommand_value_name("NAME")
        .subcommand_help_heading("Names")
        .disable_help_subcommand(true)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .after_help(end);
    command.subcommands(own.into_iter().map(Entry::front_command))
}

/// `contech` with the commands that read graphs.
pub(crate) fn add_to(contech: Command) -> Command {
    let too: Vec<&str> = of(Place::AnalyseToo).map(Entry::front_name).collect();
    let end = format!("Also: {}\n\nExample: contech analyse time graph.tg", too.join(", "));
    let analyse = group("analyse", "Does one analysis of a graph", end);
    let debug = group(
        "debug",
        "Looks into a graph, checks it, or divides an analysis among processes",
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
    let group = Some(word).filter(|word| ["analyse", "debug"].contains(word));
    if group.is_some() {
        (word, matches) = matches.subcommand()?;
    }
    let named = |entry: &&Entry| entry.front_name() == word && entry.place.group() == group;
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
            let mut found = &contech;
            for word in entry.place.group().into_iter().chain([entry.name]) {
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

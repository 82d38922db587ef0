//! Completions and manual pages, made from the command lines themselves.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap_complete::Shell;

use crate::cli;

fn commands() -> [clap::Command; 2] {
    [super::command(), cli::command()]
}

/// What a shell needs to complete the command lines.
pub(super) fn completions(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    for mut command in commands() {
        let name = command.get_name().to_owned();
        clap_complete::generate(shell, &mut command, name, &mut text);
    }
    text
}

/// Writes the manual pages into a folder, which is made if it does not exist.
pub(super) fn manual(folder: &Path) -> Result<()> {
    let name = folder.display();
    fs::create_dir_all(folder).with_context(|| format!("cannot make {name}"))?;
    for command in commands() {
        clap_mangen::generate_to(command, folder)
            .with_context(|| format!("cannot write the pages to {name}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_manual_page_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let man = folder.path().join("man1");
        manual(&man).unwrap();
        for page in [
            "contech",
            "contech-run",
            "contech-analyse-path",
            "contech-backend",
            "contech-backend-cache",
        ] {
            let path = man.join(format!("{page}.1"));
            let text = fs::read_to_string(&path).expect(page);
            assert!(text.contains("SYNOPSIS"), "{page}");
        }
    }

    #[test]
    fn a_shell_completes_the_analyses_and_their_options() {
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            let text = String::from_utf8(completions(shell)).unwrap();
            for word in ["scale", "keep-trace", "critpath", "sizes"] {
                assert!(text.contains(word), "{shell}: {word}");
            }
        }
    }
}

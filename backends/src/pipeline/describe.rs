//! Completions and manual pages, made from the command lines themselves.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap_complete::Shell;

use crate::cli;
use crate::output;

#[derive(Debug, clap::Args)]
pub(super) struct Completions {
    /// The shell, as in `source <(contech completions bash)`
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct Man {
    /// Folder for the pages, which is made if it does not exist
    folder: PathBuf,
}

fn commands() -> [clap::Command; 2] {
    [super::command(), cli::command()]
}

impl Completions {
    pub(super) fn print(&self) -> Result<()> {
        output::to(None, |out| Ok(out.write_all(&self.text())?))
    }

    fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for mut command in commands() {
            let name = command.get_name().to_owned();
            clap_complete::generate(self.shell, &mut command, name, &mut text);
        }
        text
    }
}

impl Man {
    pub(super) fn write(&self) -> Result<()> {
        let folder = self.folder.display();
        fs::create_dir_all(&self.folder).with_context(|| format!("cannot make {folder}"))?;
        for command in commands() {
            clap_mangen::generate_to(command, &self.folder)
                .with_context(|| format!("cannot write the pages to {folder}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_manual_page_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let man = Man { folder: folder.path().join("man1") };
        man.write().unwrap();
        for page in [
            "contech",
            "contech-run",
            "contech-analyse-path",
            "contech-backend",
            "contech-backend-cache",
        ] {
            let path = man.folder.join(format!("{page}.1"));
            let text = fs::read_to_string(&path).expect(page);
            assert!(text.contains("SYNOPSIS"), "{page}");
        }
    }

    #[test]
    fn a_shell_completes_the_analyses_and_their_options() {
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            let text = String::from_utf8(Completions { shell }.text()).unwrap();
            for word in ["scale", "keep-trace", "critpath", "sizes"] {
                assert!(text.contains(word), "{shell}: {word}");
            }
        }
    }
}

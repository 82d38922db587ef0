//! `--contech-*` options.

use std::ffi::OsString;

use crate::Error;

/// What to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Blocks, addresses, synchronisation, time.
    #[default]
    Full,
    /// Synchronisation and time.
    Sync,
}

/// The driver's own options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// `--contech-mode`.
    pub mode: Mode,
    /// `--contech-naive`.
    pub naive: bool,
    /// `--contech-explain`.
    pub explain: bool,
    /// `--contech-help`.
    pub help: bool,
}

const PREFIX: &str = "--contech-";
const VALID: &str = "--contech-mode=full|sync, --contech-naive, --contech-explain, --contech-help";

impl Options {
    /// Takes the options out of the command line, after those of `from_env` (words separated by
    /// blanks); returns them and the arguments left for clang, in order.
    ///
    /// # Errors
    /// [`Error::UnknownOption`] and [`Error::Unavailable`].
    pub fn extract(
        from_env: &str,
        arguments: Vec<OsString>,
    ) -> Result<(Self, Vec<OsString>), Error> {
        let mut options = Options::default();
        for word in from_env.split_whitespace() {
            options.set(word)?;
        }
        let mut rest = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument.to_str().filter(|a| a.starts_with(PREFIX)) {
                Some(option) => options.set(option)?,
                None => rest.push(argument),
            }
        }
        Ok((options, rest))
    }

    fn set(&mut self, option: &str) -> Result<(), Error> {
        match option {
            "--contech-mode=full" => self.mode = Mode::Full,
            "--contech-mode=sync" => self.mode = Mode::Sync,
            "--contech-naive" => self.naive = true,
            "--contech-explain" => self.explain = true,
            "--contech-help" => self.help = true,
            "--contech-mode=workspan" => {
                return Err(Error::Unavailable {
                    option: option.into(),
                    instead: "record with --contech-mode=full and use `contech-backend workspan`",
                });
            }
            "--contech-check" => {
                return Err(Error::Unavailable {
                    option: option.into(),
                    instead: "the naive form is still the only one, so there is nothing to compare",
                });
            }
            _ => {
                return Err(Error::UnknownOption {
                    option: option.into(),
                    valid: VALID,
                });
            }
        }
        Ok(())
    }

    /// The options in the form the pass reads.
    #[must_use]
    pub fn for_pass(&self) -> String {
        let mut words = vec![match self.mode {
            Mode::Full => "mode=full",
            Mode::Sync => "mode=sync",
        }];
        words.extend(self.naive.then_some("naive"));
        words.extend(self.explain.then_some("explain"));
        words.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extract(env: &str, arguments: &[&str]) -> Result<(Options, Vec<OsString>), Error> {
        Options::extract(env, arguments.iter().map(OsString::from).collect())
    }

    #[test]
    fn contech_options_are_taken_out_and_the_rest_keeps_its_order() {
        let (options, rest) = extract(
            "",
            &[
                "-c",
                "--contech-naive",
                "a.c",
                "--contech-mode=sync",
                "-o",
                "a.o",
            ],
        )
        .unwrap();
        assert_eq!(
            options,
            Options {
                mode: Mode::Sync,
                naive: true,
                ..Options::default()
            }
        );
        assert_eq!(rest, ["-c", "a.c", "-o", "a.o"]);
        assert_eq!(options.for_pass(), "mode=sync,naive");
    }

    #[test]
    fn the_command_line_overrides_the_environment() {
        let (options, _) = extract(
            " --contech-mode=sync\t--contech-explain ",
            &["--contech-mode=full"],
        )
        .unwrap();
        assert_eq!(options.for_pass(), "mode=full,explain");
    }

    #[test]
    fn an_unknown_option_lists_the_valid_ones() {
        let error = extract("", &["--contech-fast"]).unwrap_err().to_string();
        assert!(
            error.contains("--contech-fast") && error.contains("--contech-explain"),
            "{error}"
        );
        assert!(
            extract("naive", &[]).is_err(),
            "words of the variable need the prefix too"
        );
    }
}

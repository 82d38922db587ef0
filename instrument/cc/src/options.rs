//! `--contech-*` options.

use std::ffi::OsString;

use crate::{Error, response};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// Blocks, addresses, synchronisation, time.
    #[default]
    Full,
    /// Synchronisation and time only.
    Sync,
    /// The profile of work and span while the program runs, and no recording.
    Workspan,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    /// The last of [`FORMS`], as the pass calls it. Without one the pass uses its default.
    pub(crate) form: Option<&'static str>,
    /// The last of [`ATOMICS`], in the same way.
    pub(crate) atomics: Option<&'static str>,
    pub(crate) explain: bool,
    /// Functions that are regions of interest.
    pub(crate) regions: Vec<String>,
    /// The bitcode among the inputs of a link is instrumented before the link.
    pub(crate) bitcode: bool,
    pub(crate) help: bool,
    /// The variables of developers are asked for.
    pub(crate) developers: bool,
}

/// The forms of the recording.
const FORMS: [&str; 3] = ["naive", "fast", "check"];
/// All atomic operations order the program in the graph.
pub(crate) const ATOMICS_ALL: &str = "atomics=all";
/// Which atomic operations order the program in the graph.
const ATOMICS: [&str; 3] = ["atomics=none", "atomics=ordered", ATOMICS_ALL];

const PREFIX: &str = "--contech-";
const VALID: &str = "--contech-mode=full|sync|workspan, --contech-naive, --contech-fast, --contech-check, --contech-atomics=all|ordered|none, --contech-explain, --contech-region=FUNCTION, --contech-bitcode, --contech-help[=developers]";

impl Options {
    /// The options on the command line and in `CONTECH_OPTIONS`, for builds that own their flags.
    pub(crate) fn given(arguments: Vec<OsString>) -> Result<(Self, Vec<OsString>), Error> {
        Self::extract(&std::env::var("CONTECH_OPTIONS").unwrap_or_default(), arguments)
    }

    /// Separates the driver's options from the command line; those of `from_env` (words separated
    /// by blanks) come first. Returns them and the arguments left for clang, in order. A response
    /// file that holds such options is replaced by its words; clang reads the others itself.
    fn extract(from_env: &str, arguments: Vec<OsString>) -> Result<(Self, Vec<OsString>), Error> {
        let mut options = Options::default();
        for word in from_env.split_whitespace() {
            options.set(word)?;
        }
        let mut rest = Vec::with_capacity(arguments.len());
        let has_option = |words: &[OsString]| words.iter().any(|w| option(w).is_some());
        let expanded = arguments.into_iter().flat_map(|argument| {
            let words = response::expand(std::slice::from_ref(&argument));
            if has_option(&words) { words } else { vec![argument] }
        });
        for argument in expanded {
            match option(&argument) {
                Some(option) => options.set(option)?,
                None => rest.push(argument),
            }
        }
        Ok((options, rest))
    }

    fn set(&mut self, option: &str) -> Result<(), Error> {
        let word = option.strip_prefix(PREFIX).unwrap_or_default();
        let one_of = |words: [&'static str; 3]| words.into_iter().find(|w| *w == word);
        match word {
            "mode=full" => self.mode = Mode::Full,
            "mode=sync" => self.mode = Mode::Sync,
            "mode=workspan" => self.mode = Mode::Workspan,
            "explain" => self.explain = true,
            "bitcode" => self.bitcode = true,
            "help" => self.help = true,
            "help=developers" => self.developers = true,
            _ if FORMS.contains(&word) => self.form = one_of(FORMS),
            _ if ATOMICS.contains(&word) => self.atomics = one_of(ATOMICS),
            _ => match word.strip_prefix("region=") {
                // The pass gets its options separated by commas.
                Some(name) if !name.is_empty() && !name.contains(',') => {
                    self.regions.push(name.into());
                }
                _ => {
                    return Err(Error::UnknownOption { option: option.into(), valid: VALID });
                }
            },
        }
        Ok(())
    }

    /// The options in the form that the pass reads.
    pub(crate) fn for_pass(&self) -> String {
        let mut words = vec![match self.mode {
            Mode::Full => "mode=full",
            Mode::Sync => "mode=sync",
            Mode::Workspan => "mode=workspan",
        }];
        words.extend(self.form);
        words.extend(self.atomics);
        words.extend(self.explain.then_some("explain"));
        let regions = self.regions.iter().map(|name| format!(",region={name}"));
        words.join(",") + &regions.collect::<String>()
    }
}

/// The argument, if it is an option of the driver.
fn option(argument: &OsString) -> Option<&str> {
    argument.to_str().filter(|a| a.starts_with(PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extract(env: &str, arguments: &[&str]) -> Result<(Options, Vec<OsString>), Error> {
        Options::extract(env, arguments.iter().map(OsString::from).collect())
    }

    #[test]
    fn options_reach_the_pass_in_its_own_words() {
        for (env, arguments, words) in [
            ("", &["--contech-naive", "--contech-mode=sync"][..], "mode=sync,naive"),
            // The command line overrides the environment.
            (
                " --contech-mode=sync\t--contech-explain ",
                &["--contech-mode=full"],
                "mode=full,explain",
            ),
            // Functions are regions of interest.
            (
                "--contech-region=a",
                &["--contech-naive", "--contech-region=n::b"],
                "mode=full,naive,region=a,region=n::b",
            ),
            // The last form asked for counts.
            ("--contech-fast", &["--contech-fast"], "mode=full,fast"),
            ("--contech-fast", &["--contech-check"], "mode=full,check"),
            ("--contech-fast", &["--contech-fast", "--contech-naive"], "mode=full,naive"),
            ("--contech-fast", &["--contech-naive", "--contech-check"], "mode=full,check"),
        ] {
            assert_eq!(extract(env, arguments).unwrap().0.for_pass(), words);
        }
        for bad in ["--contech-region=", "--contech-region=f<1,2>"] {
            assert!(matches!(extract("", &[bad]), Err(Error::UnknownOption { .. })));
        }
    }

    #[test]
    fn the_rest_of_the_command_line_keeps_its_order() {
        let line = ["-c", "--contech-naive", "a.c", "--contech-mode=sync", "-o", "a.o"];
        assert_eq!(extract("", &line).unwrap().1, ["-c", "a.c", "-o", "a.o"]);
    }

    #[test]
    fn options_in_response_files_are_found_and_other_files_left_alone() {
        let folder = std::env::temp_dir().join(format!("contech-options-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            format!("@{}", path.display())
        };
        let plain = file("plain", "-O2 'a b.c'");
        let inner = file("inner", "--contech-fast\n-DX");
        let outer = file("outer", &format!("-c {inner} {plain} 'a b.c'"));
        let got = extract("", &["-g", &outer, &plain, "--contech-explain"]);
        let wrong = extract("", &[&file("wrong", "--contech-slow")]);
        std::fs::remove_dir_all(&folder).unwrap();
        let (options, rest) = got.unwrap();
        assert_eq!(options.for_pass(), "mode=full,fast,explain");
        assert_eq!(rest, ["-g", "-c", "-DX", "-O2", "a b.c", "a b.c", &plain]);
        assert!(wrong.is_err(), "an unknown option there is an error too");
    }

    #[test]
    fn an_unknown_option_lists_the_valid_ones() {
        let error = extract("", &["--contech-slow"]).unwrap_err().to_string();
        assert!(error.contains("--contech-slow") && error.contains("--contech-explain"), "{error}");
        assert!(extract("naive", &[]).is_err(), "words of the variable need the prefix too");
    }
}

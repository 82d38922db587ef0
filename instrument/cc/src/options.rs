//! `--contech-*` options.

use std::ffi::OsString;

use crate::{Error, response};

/// What a program records: blocks, addresses, synchronisation and time.
pub(crate) const FULL: &str = "mode=full";
/// The profile of work and span while the program runs, and no recording.
const WORKSPAN: &str = "mode=workspan";
/// All atomic operations order the program in the graph.
const ATOMICS_ALL: &str = "atomics=all";

/// The options that are the pass's own words. The last one of each group counts; without one, the
/// pass uses its default.
const OF_PASS: [&[&str]; 4] = [
    // `sync`: synchronisation and time only.
    &[FULL, "mode=sync", WORKSPAN],
    // The forms of the recording.
    &["naive", "fast", "check"],
    // Which atomic operations order the program in the graph.
    &["atomics=none", "atomics=ordered", ATOMICS_ALL],
    &["explain"],
];
const ATOMICS: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Options {
    /// The chosen word of each group of [`OF_PASS`].
    of_pass: [Option<&'static str>; 4],
    /// Functions that are regions of interest.
    regions: Vec<String>,
    /// The bitcode among the inputs of a link is instrumented before the link.
    pub(crate) bitcode: bool,
    pub(crate) help: bool,
    /// The variables of developers are asked for.
    pub(crate) developers: bool,
}

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
        for (group, chosen) in OF_PASS.iter().zip(&mut self.of_pass) {
            if let Some(known) = group.iter().find(|known| **known == word) {
                *chosen = Some(known);
                return Ok(());
            }
        }
        match word {
            "bitcode" => self.bitcode = true,
            "help" => self.help = true,
            "help=developers" => self.developers = true,
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

    /// What the program records.
    pub(crate) fn mode(&self) -> &'static str {
        self.of_pass[0].unwrap_or(FULL)
    }

    /// Whether the program profiles itself instead of recording.
    pub(crate) fn online(&self) -> bool {
        self.mode() == WORKSPAN
    }

    /// Lets all atomic operations order the program, unless the options say which do.
    pub(crate) fn order_all(&mut self) {
        self.of_pass[ATOMICS].get_or_insert(ATOMICS_ALL);
    }

    /// The options in the form that the pass reads.
    pub(crate) fn for_pass(&self) -> String {
        let words = std::iter::once(self.mode()).chain(self.of_pass.into_iter().skip(1).flatten());
        let regions = self.regions.iter().map(|name| format!(",region={name}"));
        words.collect::<Vec<_>>().join(",") + &regions.collect::<String>()
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
        assert!(extract("naive", &[]).is_err(), "words of the variable need the prefix too");
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
}

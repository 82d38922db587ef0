//! What the driver asks of the pass, by environment variable.

/// Variable that carries the options: comma-separated words.
pub(crate) const VARIABLE: &str = "CONTECH_PASS_OPTIONS";

/// Parsed [`VARIABLE`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// `mode=sync`: register the module, record no blocks.
    pub(crate) sync_only: bool,
    /// `explain`: one line per function on stderr, and what could not be recorded.
    pub(crate) explain: bool,
    /// `verify`: run LLVM's verifier over the instrumented module.
    pub(crate) verify: bool,
}

impl Options {
    /// Options of the environment.
    pub(crate) fn from_env() -> Result<Self, String> {
        Self::parse(&std::env::var(VARIABLE).unwrap_or_default())
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut options = Options {
            verify: cfg!(debug_assertions),
            ..Options::default()
        };
        for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match word {
                // The naive form is the only one so far; the word selects it for good.
                "mode=full" => options.sync_only = false,
                "naive" => {}
                "mode=sync" => options.sync_only = true,
                "explain" => options.explain = true,
                "verify" => options.verify = true,
                _ => {
                    return Err(format!(
                        "{VARIABLE}: unknown option `{word}`; known: mode=full, mode=sync, naive, explain, verify"
                    ));
                }
            }
        }
        Ok(options)
    }
}

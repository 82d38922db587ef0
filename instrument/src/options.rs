//! What the driver asks of the pass, through an environment variable.

/// The variable that carries the options: comma-separated words.
pub(crate) const VARIABLE: &str = "CONTECH_PASS_OPTIONS";

/// `region=NAME`: a function that is a region of interest.
const REGION: &str = "region=";

/// Whether the options name this function as a region of interest. The on-line profiler knows no
/// regions.
pub(crate) fn is_region(name: &str) -> bool {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    let mut words = text.split(',').map(str::trim);
    let chosen = |word: &str| word.strip_prefix(REGION) == Some(name);
    words.clone().any(chosen) && !words.any(|word| word == "mode=workspan")
}

/// Which atomic operations order the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Atomics {
    /// `atomics=none`: atomic operations are accesses only.
    None,
    /// `atomics=ordered`: all but relaxed operations order the program; relaxed ones do so too in a
    /// file with fences.
    #[default]
    Ordered,
    /// `atomics=all`: relaxed operations order the program too.
    All,
}

/// The options in [`VARIABLE`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// `mode=sync`: register the module, record no blocks.
    pub(crate) sync_only: bool,
    /// `mode=workspan`: insert the on-line profiler's hooks instead of a recording.
    pub(crate) workspan: bool,
    /// `fast` (the default; `naive` switches it off): record path ids and leaf values where that is
    /// exact.
    pub(crate) fast: bool,
    /// `check`: record the fast form, and the naive form beside it.
    pub(crate) check: bool,
    pub(crate) atomics: Atomics,
    /// `explain`: one line per function on stderr, and what could not be recorded.
    pub(crate) explain: bool,
    /// `verify`: run LLVM's verifier over the instrumented module.
    pub(crate) verify: bool,
}

impl Options {
    pub(crate) fn from_env() -> Result<Self, String> {
        let text = std::env::var(VARIABLE).unwrap_or_default();
        let mut options =
            Options { fast: true, verify: cfg!(debug_assertions), ..Options::default() };
        for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match word {
                "mode=full" => options.sync_only = false,
                "naive" => (options.fast, options.check) = (false, false),
                "fast" => options.fast = true,
                "check" => (options.fast, options.check) = (true, true),
                "mode=sync" => options.sync_only = true,
                "mode=workspan" => options.workspan = true,
                "atomics=none" => options.atomics = Atomics::None,
                "atomics=ordered" => options.atomics = Atomics::Ordered,
                "atomics=all" => options.atomics = Atomics::All,
                "explain" => options.explain = true,
                "verify" => options.verify = true,
                _ if word.starts_with(REGION) => {}
                _ => {
                    return Err(format!(
                        "{VARIABLE}: unknown option `{word}`; known: mode=full, mode=sync, mode=workspan, naive, fast, check, atomics=none, atomics=ordered, atomics=all, explain, region=NAME, verify"
                    ));
                }
            }
        }
        Ok(options)
    }
}

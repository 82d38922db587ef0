//! Where a trace goes: a file by a pattern, an open descriptor, or nowhere.

/// The value of `CONTECH_TRACE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `null`: count and throw away.
    Null,
    /// `-` (descriptor 1) or `fd:N`.
    Descriptor(i32),
    /// A path with `%p` (process id), `%r` (MPI rank), `%%`.
    Path(String),
}

/// Variables in which MPI launchers and job managers say the rank.
const RANKS: [&str; 5] = [
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "MV2_COMM_WORLD_RANK",
    "SLURM_PROCID",
];

impl Target {
    /// Parses the variable; `None` for an empty path or a descriptor that is no number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" => None,
            "null" => Some(Target::Null),
            "-" => Some(Target::Descriptor(1)),
            _ => match text.strip_prefix("fd:") {
                Some(n) => n.parse().ok().filter(|n| *n >= 0).map(Target::Descriptor),
                None => Some(Target::Path(text.to_owned())),
            },
        }
    }
}

/// The path of a process's trace. A forked child's gets its process id at the end, unless the pattern
/// has it already. `rank` looks up a variable.
#[must_use]
pub fn expand(
    pattern: &str,
    pid: u32,
    forked: bool,
    rank: impl Fn(&str) -> Option<String>,
) -> String {
    let mut path = String::new();
    let mut has_pid = false;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            path.push(c);
            continue;
        }
        match chars.next() {
            Some('p') => {
                has_pid = true;
                path.push_str(&pid.to_string());
            }
            Some('r') => {
                let rank = RANKS.iter().find_map(|name| rank(name));
                path.push_str(rank.as_deref().unwrap_or("0"));
            }
            Some('%') => path.push('%'),
            Some(other) => {
                path.push('%');
                path.push(other);
            }
            None => path.push('%'),
        }
    }
    if forked && !has_pid {
        path.push_str(&format!(".{pid}"));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_apart() {
        assert_eq!(Target::parse("-"), Some(Target::Descriptor(1)));
        assert_eq!(Target::parse("fd:7"), Some(Target::Descriptor(7)));
        assert_eq!(Target::parse("fd:-7"), None);
        assert_eq!(Target::parse("fd:"), None);
        assert_eq!(Target::parse(""), None);
        assert_eq!(Target::parse("./null"), Some(Target::Path("./null".into())));
    }

    #[test]
    fn patterns_expand() {
        let rank = |name: &str| (name == "PMI_RANK").then(|| "3".to_owned());
        let none = |_: &str| None;
        assert_eq!(expand("t-%p-%r.bin", 42, false, rank), "t-42-3.bin");
        assert_eq!(expand("t-%r", 42, false, none), "t-0");
        assert_eq!(expand("100%%p%x%", 42, false, none), "100%p%x%");
    }

    #[test]
    fn a_forked_child_has_a_trace_of_its_own() {
        let none = |_: &str| None;
        assert_eq!(expand("t.bin", 42, true, none), "t.bin.42");
        assert_eq!(expand("t.%p", 42, true, none), "t.42");
    }
}

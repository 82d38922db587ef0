//! The place a trace goes to: a file by a pattern, an open descriptor, or nowhere.

/// The value of `CONTECH_TRACE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `null`: records are counted and thrown away.
    Null,
    /// `-` (descriptor 1) or `fd:N`.
    Descriptor(i32),
    /// A path with `%p` (process id), `%r` (MPI rank), `%%`.
    Path(String),
}

/// Variables in which MPI launchers and job managers give the rank.
const RANKS: [&str; 5] =
    ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"];

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

/// Variables in which MPI launchers and job managers give the number of ranks.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"];

/// The path of a process's trace. The path of a forked child gets the child's process id at the
/// end, unless the pattern has it already. The path of one of several ranks gets the rank before
/// the extension, unless the pattern has rank or process id. `variable` looks up a variable.
pub(crate) fn expand(
    pattern: &str,
    pid: u32,
    forked: bool,
    variable: impl Fn(&str) -> Option<String>,
) -> String {
    let rank = RANKS.iter().find_map(|name| variable(name));
    let size = SIZES.iter().find_map(|name| variable(name));
    let one_of_many = size.is_some_and(|n| n.trim() != "1");
    let pattern = match (&rank, one_of_many && !numbers(pattern)) {
        (Some(_), true) => with_rank(pattern),
        _ => pattern.to_owned(),
    };
    let (pid, rank) = (pid.to_string(), rank.as_deref().unwrap_or("0"));
    let parts = pattern.split("%%").map(|part| part.replace("%p", &pid).replace("%r", rank));
    let mut path = parts.collect::<Vec<_>>().join("%");
    if forked && !pattern.split("%%").any(|part| part.contains("%p")) {
        path.push('.');
        path.push_str(&pid);
    }
    path
}

/// Whether different processes get different paths from the pattern.
fn numbers(pattern: &str) -> bool {
    let pattern = pattern.replace("%%", "");
    pattern.contains("%r") || pattern.contains("%p")
}

/// Turns `trace.bin` into `trace.%r.bin`; devices stay as they are.
fn with_rank(pattern: &str) -> String {
    if pattern.starts_with("/dev/") {
        return pattern.to_owned();
    }
    let name = pattern.rfind('/').map_or(0, |slash| slash + 1);
    match pattern[name..].rfind('.').filter(|dot| *dot > 0) {
        Some(dot) => {
            let (stem, extension) = pattern.split_at(name + dot);
            format!("{stem}.%r{extension}")
        }
        None => format!("{pattern}.%r"),
    }
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
    fn one_of_several_ranks_has_a_trace_of_its_own() {
        let of = |size: &'static str| {
            move |name: &str| match name {
                "OMPI_COMM_WORLD_RANK" => Some("3".to_owned()),
                "OMPI_COMM_WORLD_SIZE" => Some(size.to_owned()),
                _ => None,
            }
        };
        assert_eq!(expand("trace.bin", 42, false, of("4")), "trace.3.bin");
        assert_eq!(expand("a.b/trace", 42, false, of("4")), "a.b/trace.3");
        assert_eq!(expand("t.%p.bin", 42, false, of("4")), "t.42.bin");
        assert_eq!(expand("t-%r", 42, false, of("4")), "t-3");
        assert_eq!(expand("trace.bin", 42, false, of("1")), "trace.bin");
        assert_eq!(expand("/dev/null", 42, false, of("4")), "/dev/null");
    }

    #[test]
    fn a_forked_child_has_a_trace_of_its_own() {
        let none = |_: &str| None;
        assert_eq!(expand("t.bin", 42, true, none), "t.bin.42");
        assert_eq!(expand("t.%p", 42, true, none), "t.42");
    }
}

//! Conversion of linkage names to names as the source has them.

/// The source name of a linkage name, or the name itself if it is not mangled.
///
/// Rust names (both manglings) come out without their hash, C++ names (Itanium ABI) with their parameter types, and
/// flang's names (`_QM` module, `F` host, `P` procedure) as `module::host::procedure`.
pub(crate) fn demangle(linkage: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(linkage) {
        return format!("{rust:#}");
    }
    if linkage.starts_with("_Z") || linkage.starts_with("__Z") {
        let options = cpp_demangle::DemangleOptions::default();
        if let Some(name) = cpp_demangle::Symbol::new(linkage)
            .ok()
            .and_then(|symbol| symbol.demangle(&options).ok())
        {
            return name;
        }
    }
    fortran(linkage).unwrap_or_else(|| linkage.to_owned())
}

/// Decodes flang's names: `_Q`, then parts that begin with a capital letter, which Fortran's own names do not have.
/// What follows a dot (`..omp_par`, the outlined body of a parallel region) is kept.
fn fortran(linkage: &str) -> Option<String> {
    let rest = linkage.strip_prefix("_Q")?;
    let end = rest.find('.').unwrap_or(rest.len());
    let (name, suffix) = rest.split_at(end);
    if name == "Qmain" {
        return Some(format!("main program{suffix}"));
    }
    let mut parts = Vec::new();
    let mut left = name;
    while let Some(kind) = left.chars().next() {
        if !matches!(kind, 'M' | 'S' | 'F' | 'P') {
            return None;
        }
        left = &left[1..];
        let end = left.find(|c: char| c.is_ascii_uppercase());
        let (part, after) = left.split_at(end.unwrap_or(left.len()));
        // The host of an internal procedure of the main program has no name.
        if !part.is_empty() {
            parts.push(part);
        }
        left = after;
    }
    Some(parts.join("::") + suffix).filter(|_| !parts.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_written_and_odd_ones_kept() {
        for (linkage, name) in [
            ("main", "main"),
            ("", ""),
            ("_Z3fooiPKc", "foo(int, char const*)"),
            ("_ZN5outer5innerIiE3runEv", "outer::inner<int>::run()"),
            (
                "_ZN4core3fmt5Write9write_str17h0123456789abcdefE",
                "core::fmt::Write::write_str",
            ),
            ("_Znonsense", "_Znonsense"),
            ("__kmpc_fork_call", "__kmpc_fork_call"),
            ("_QMalphaPone", "alpha::one"),
            ("_QMalphaFonePinner..omp_par", "alpha::one::inner..omp_par"),
            ("_QFPlocals", "locals"),
            ("_QQmain..omp_par.1", "main program..omp_par.1"),
            ("_QQclX2F746D70", "_QQclX2F746D70"),
            ("_Q", "_Q"),
            ("_Qé", "_Qé"),
        ] {
            assert_eq!(demangle(linkage), name);
        }
    }
}

//! Linkage names to names as written in the source.

/// The source name of a linkage name, or the name itself where it is not a mangled one.
///
/// Rust names (both manglings) come out without their hash, C++ names (Itanium ABI) with their
/// parameter types.
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
    linkage.to_owned()
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
        ] {
            assert_eq!(demangle(linkage), name);
        }
    }
}

//! Conversion of linkage names to names as the source has them.

/// The source name of a linkage name, or the name itself if it is not mangled.
///
/// Rust names (both manglings) come out without their hash and with short types ([`shortened`]),
/// C++ names (Itanium ABI) with their parameter types, and flang's names (`_QM` module, `F` host,
/// `P` procedure) as `module::host::procedure`.
pub(crate) fn demangle(linkage: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(linkage) {
        return shortened(&format!("{rust:#}"));
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

/// A Rust name in which only the function and the type that it belongs to have modules:
/// `<alloc::vec::Vec<T> as Drop>::drop`, `alloc::vec::Vec<T>::push`. In a name that is still long,
/// types within types are left out: `Map<..>`.
fn shortened(name: &str) -> String {
    /// Bytes of a name that is shown with all its types.
    const LONG: usize = 100;
    let short = without_modules(name);
    if short.len() <= LONG {
        return short;
    }
    let (mut text, mut depth, mut last) = (String::with_capacity(short.len()), 0, ' ');
    for c in short.chars() {
        let closes = c == '>' && last != '-';
        depth -= usize::from(closes && depth > 0);
        if depth < 2 {
            text.push(c);
        }
        if c == '<' {
            depth += 1;
            if depth == 2 {
                text.push_str("..");
            }
        }
        last = c;
    }
    text
}

/// The name without the modules in front of traits, parameters and arguments.
fn without_modules(name: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut text, mut depth, mut rest) = (String::with_capacity(name.len()), 0, name);
    // Up to here the name of the type is given that a function belongs to.
    let mut own = usize::from(name.starts_with('<'));
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::").filter(|_| depth > own) {
            // A closure keeps the function that it is in.
            if after.starts_with(is_word) && text.ends_with(is_word) {
                text.truncate(text.trim_end_matches(is_word).len());
            } else {
                text.push_str("::");
            }
            rest = after;
            continue;
        }
        match c {
            '<' => depth += 1,
            '>' if !text.ends_with('-') => depth -= usize::from(depth > 0),
            ' ' if depth == 1 && rest.starts_with(" as ") => own = 0,
            _ => {}
        }
        text.push(c);
        if own == 1 && depth == 0 {
            // There is no trait, so the brackets say nothing.
            text.pop();
            text.remove(0);
            own = 0;
        }
        rest = &rest[c.len_utf8()..];
    }
    text
}

/// Decodes flang's names: `_Q`, then parts that begin with a capital letter, which Fortran's own
/// names do not have. What follows a dot (`..omp_par`, the outlined body of a parallel region) is
/// kept.
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
            ("_ZN4core3fmt5Write9write_str17h0123456789abcdefE", "core::fmt::Write::write_str"),
            ("_RNvNtNtCsgEmfK2I1SDS_4core3fmt5Write9write_str", "core::fmt::Write::write_str"),
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

    #[test]
    fn types_in_the_names_of_rust_are_short() {
        for (name, short) in [
            (
                "std::thread::spawn::<a::main::{closure#0}, ()>",
                "std::thread::spawn::<main::{closure#0}, ()>",
            ),
            (
                "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
                "<alloc::vec::Vec<T,A> as Drop>::drop",
            ),
            (
                "<alloc::boxed::Box<dyn core::ops::Fn() -> a::b::C> as x::Y>::call",
                "<alloc::boxed::Box<dyn Fn() -> C> as Y>::call",
            ),
            ("core::ptr::drop_in_place<[a::B; 3]>", "core::ptr::drop_in_place<[B; 3]>"),
            ("<a::b::Lock<c::D>>::take::<e::F>", "a::b::Lock<D>::take::<F>"),
            ("a::b<", "a::b<"),
            ("<", "<"),
            ("<>", ""),
            ("a>::b", "a>::b"),
            ("é::<é::é>", "é::<é>"),
        ] {
            assert_eq!(shortened(name), short);
        }
        let long = format!("f::<a::Map<{}>>", "b::Filter<c::D>, ".repeat(10));
        assert_eq!(shortened(&long), "f::<Map<..>>");
    }
}

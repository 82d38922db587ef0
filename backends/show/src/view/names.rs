//! Names of functions as one says them in a sentence.

/// What a compiler made of a function of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The function itself.
    Whole,
    /// The body of an OpenMP parallel region.
    Region,
    /// The body of an OpenMP task.
    Task,
}

/// What the source calls the code or data of a symbol. A name of C is itself: a demangler takes
/// some for types (`x`, `f`).
#[must_use]
pub fn demangled(symbol: &str) -> String {
    match symbol.starts_with('_') {
        true => addr2line::demangle_auto(symbol.into(), None).into_owned(),
        false => symbol.to_owned(),
    }
}

/// Which part of which function of the source this is: `f(int) [clone .omp_outlined.1]` is a region
/// of `f(int)`.
///
/// The name is empty where the compiler does not tell the function.
#[must_use]
pub fn part(function: &str) -> (Part, &str) {
    if function.starts_with(".omp_task_entry.") {
        return (Part::Task, "");
    }
    match function.split_once(".omp_outlined") {
        Some((outer, _)) => (Part::Region, outer.trim_end_matches(" [clone ")),
        None => (Part::Whole, function),
    }
}

/// What a table calls the function: its spoken name and, if it is only a part of it, which.
#[must_use]
pub fn label(function: &str) -> String {
    match part(function) {
        (Part::Whole, name) => spoken(name),
        (Part::Region, name) => format!("{} parallel region", spoken(name)).trim_start().to_owned(),
        (Part::Task, _) => "OpenMP task".to_owned(),
    }
}

/// Where Rust's threads begin. The closure of a thread is usually inlined there, and then has this
/// name.
const THREAD: &str = "std::sys::backtrace::__rust_begin_short_backtrace";

/// Whether a function is one of the standard library of Rust or C++.
#[must_use]
pub fn is_standard(function: &str) -> bool {
    let name = function.trim_start_matches('<');
    let crates = ["core::", "alloc::", "std::"];
    function != THREAD && crates.iter().any(|c| name.starts_with(c))
}

/// A function's name without its parameters, and without what stands between `<` and `>` of a
/// template or a generic: a sentence names the line as well, which tells overloads apart.
#[must_use]
pub fn spoken(function: &str) -> String {
    if function == THREAD {
        return "the closure of a thread".to_owned();
    }
    let mut said = String::with_capacity(function.len());
    let mut rest = function;
    while let Some(c) = rest.chars().next() {
        if let Some(operator) = operator(&said, rest) {
            said.push_str(operator);
            rest = &rest[operator.len()..];
            continue;
        }
        let named =
            said.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '}' || c == ':');
        match c {
            '<' if named || said.ends_with(' ') => {
                let Some(after) = after_bracket(rest) else {
                    return function.to_owned();
                };
                said.truncate(said.trim_end_matches(':').len());
                rest = after;
            }
            // Parameters follow a name; `(anonymous namespace)` stands where a name does.
            '(' if !said.is_empty() && !said.ends_with("::") => {
                let Some(after) = after_bracket(rest) else {
                    return function.to_owned();
                };
                // After the parameters come qualifiers (`const`, `&`), a clone, or what is within
                // the function.
                let within = said.rfind('{') > said.rfind('}');
                rest = match after.find("::") {
                    _ if within => after,
                    Some(at) => &after[at..],
                    None => "",
                };
            }
            _ => {
                said.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    said.truncate(said.trim_end().len());
    without_closures(without_result(said))
}

/// A name without the type of the function's result, which the names of templates begin with.
fn without_result(name: String) -> String {
    if name.contains(" to ") || name.contains(" for ") {
        return name;
    }
    // `operator new` has a space of its own.
    let before = name.find("operator").unwrap_or(name.len());
    let mut depth = 0_usize;
    let mut result = 0;
    for (at, c) in name[..before].char_indices() {
        match c {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => result = at + 1,
            _ => {}
        }
    }
    name[result..].to_owned()
}

/// The name without Rust's closures and bodies of `async`, in both manglings: they belong to the
/// function around them, and the line tells which it is.
fn without_closures(mut said: String) -> String {
    while let Some(at) = ["::{closure#", "::{{closure"].iter().find_map(|c| said.find(c)) {
        let end = said[at..].find('}').map_or(said.len(), |end| at + end);
        let after = said[end..].trim_start_matches('}').len();
        said.replace_range(at..said.len() - after, "");
    }
    said
}

/// The symbols of a C++ operator, if `said` ends with the word and `rest` begins with them.
fn operator<'a>(said: &str, rest: &'a str) -> Option<&'a str> {
    let before = said.strip_suffix("operator")?;
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let known = ["()", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "<", ">"];
    known.iter().find(|symbols| rest.starts_with(**symbols)).map(|symbols| &rest[..symbols.len()])
}

/// What follows the bracket that `text` begins with and the one that closes it.
fn after_bracket(text: &str) -> Option<&str> {
    let (open, close) = if text.starts_with('<') { ('<', '>') } else { ('(', ')') };
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && before != '-' {
            depth -= 1;
            if depth == 0 {
                return Some(&text[at + c.len_utf8()..]);
            }
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_parameters_and_arguments_of_templates() {
        for (name, said) in [
            ("", ""),
            ("main", "main"),
            (THREAD, "the closure of a thread"),
            ("foo(int, char const*)", "foo"),
            ("outer::inner<int>::run() const", "outer::inner::run"),
            (
                "std::vector<NVector<Index>, std::allocator<NVector<Index> > >::_M_default_append(unsigned long)",
                "std::vector::_M_default_append",
            ),
            ("(anonymous namespace)::work(void (*)(int))", "(anonymous namespace)::work"),
            ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda#1}::operator()"),
            ("f(int)::{lambda()#1}::operator()() const", "f::{lambda#1}::operator()"),
            ("operator<< <int>(std::ostream&, int)", "operator<<"),
            ("a::operator<(a const&) const", "a::operator<"),
            (
                "void sort<int*>(int*, int*)::{lambda()#1}::operator()() const",
                "sort::{lambda#1}::operator()",
            ),
            ("std::ostream& std::ostream::_M_insert<double>(double)", "std::ostream::_M_insert"),
            ("operator new(unsigned long)", "operator new"),
            ("non-virtual thunk to A::f()", "non-virtual thunk to A::f"),
            ("pool::run<f::{closure#0}>", "pool::run"),
            (
                "<alloc::vec::Vec<u8> as core::ops::Drop>::drop",
                "<alloc::vec::Vec as core::ops::Drop>::drop",
            ),
            ("core::iter::sum::<u64>", "core::iter::sum"),
            ("main::one::{closure#1}", "main::one"),
            ("main::one::{{closure}}::{{closure}}", "main::one"),
            ("main::{closure#0}::inner::<u8>", "main::inner"),
            ("a::{closure#", "a"),
            ("{{closure}}", "{{closure}}"),
            ("cut<int, std::", "cut<int, std::"),
        ] {
            assert_eq!(spoken(name), said, "{name}");
        }
    }

    #[test]
    fn names_of_c_are_no_types_of_cxx() {
        for name in ["x", "z", "f", "i", "main", "_start"] {
            assert_eq!(demangled(name), name);
        }
        assert_eq!(demangled("_Z3foov"), "foo()");
        assert_eq!(demangled("_RNvC1p4main"), "p::main");
    }

    #[test]
    fn regions_and_tasks_belong_to_their_function() {
        assert_eq!(part("main.omp_outlined.1"), (Part::Region, "main"));
        assert_eq!(part("a::f(int) [clone .omp_outlined]"), (Part::Region, "a::f(int)"));
        assert_eq!(part(".omp_outlined."), (Part::Region, ""));
        assert_eq!(part(".omp_task_entry..5"), (Part::Task, ""));
        assert_eq!(part("main"), (Part::Whole, "main"));
    }
}

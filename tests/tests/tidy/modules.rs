//! Which module of a crate names which other, read from the sources: `use` and paths in the code,
//! through re-exports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The modules of a crate by path (`a::b`; the root is empty), each with the modules it names. What
/// a module names of those around it is left out: they include it. Tests are left out, too.
pub(crate) fn arrows(src: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut texts = BTreeMap::new();
    read(src, "", &mut texts)?;
    let crate_ = Crate { exports: texts.iter().map(|(m, t)| (m.clone(), exports(t))).collect() };
    let named = |module: &String, text: &String| {
        let paths = paths(text).into_iter();
        paths
            .filter_map(|path| crate_.find(module, &path, 0))
            .filter(|to| !within(module, to))
            .collect()
    };
    Ok(texts.iter().map(|(m, t)| (m.clone(), named(m, t))).collect())
}

/// Circles among modules: each module of a circle can be reached from every other.
pub(crate) fn circles(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&String> = arrows[from].iter().collect();
        while let Some(module) = next.pop() {
            if seen.insert(module) {
                next.extend(&arrows[module]);
            }
        }
        seen
    };
    let all: BTreeMap<_, _> = arrows.keys().map(|m| (m, reached(m))).collect();
    let mut circles = BTreeSet::new();
    for (module, reached) in &all {
        let circle = reached.iter().filter(|other| all[*other].contains(module));
        circles.insert(circle.map(|m| (*m).clone()).collect::<Vec<_>>());
    }
    circles.into_iter().filter(|c| c.len() > 1).collect()
}

fn within(module: &str, of: &str) -> bool {
    of.is_empty() || module == of || module.strip_prefix(of).is_some_and(|r| r.starts_with("::"))
}

fn join(module: &str, name: &str) -> String {
    match module {
        "" => name.to_owned(),
        module => format!("{module}::{name}"),
    }
}

/// Reads the modules below a folder, without comments, texts in quotes and tests.
fn read(folder: &Path, module: &str, texts: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "bin" {
                read(&path, &join(module, &name), texts)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            let root = ["lib", "main", "mod"].contains(&&*name);
            let name = if root { module.to_owned() } else { join(module, &name) };
            if !name.ends_with("tests") {
                texts.insert(name, without_tests(&bare(&fs::read_to_string(&path)?)));
            }
        }
    }
    Ok(())
}

fn bare(text: &str) -> String {
    // The first line gets a line break before it, like every other line.
    let mut bare = String::from("\n");
    for line in text.lines() {
        let mut quoted = false;
        let mut before = ' ';
        for c in line.split("//").next().unwrap_or_default().chars() {
            if c == '"' && before != '\\' && before != '\'' {
                quoted = !quoted;
            } else if !quoted {
                bare.push(c);
            }
            before = c;
        }
        bare.push('\n');
    }
    bare
}

fn without_tests(text: &str) -> String {
    let Some((before, after)) = text.split_once("#[cfg(test)]") else {
        return text.to_owned();
    };
    let body = after.find('{').filter(|at| !after[..*at].contains(';'));
    let Some(begin) = body else {
        let rest = after.split_once(';').map_or("", |(_, rest)| rest);
        return before.to_owned() + &without_tests(rest);
    };
    let mut depth = 0;
    for (at, c) in after[begin..].char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return before.to_owned() + &without_tests(&after[begin + at + 1..]);
        }
    }
    before.to_owned()
}

/// The statements `use PATHS;` of a text: whether they export, and their paths one by one.
fn uses(text: &str) -> Vec<(bool, Vec<String>)> {
    let mut found = Vec::new();
    for statement in text.split(';') {
        let begin = statement.rfind("\nuse ").map(|at| at + 1).or_else(|| statement.rfind(" use "));
        let Some(begin) = begin else { continue };
        let line = statement[..begin].rsplit('\n').next().unwrap_or_default();
        let mut paths = Vec::new();
        let said: String = statement[begin + 4..].split_whitespace().fold(String::new(), |a, w| {
            if w == "as" || a.ends_with(" as") { a + " " + w } else { a + w }
        });
        expand("", said.trim(), &mut paths);
        found.push((line.trim_start().starts_with("pub"), paths));
    }
    found
}

fn expand(prefix: &str, said: &str, paths: &mut Vec<String>) {
    let Some((head, list)) = said.split_once('{').filter(|(h, _)| !h.contains(',')) else {
        paths.push(format!("{prefix}{said}"));
        return;
    };
    let prefix = format!("{prefix}{head}");
    let (mut depth, mut from) = (0, 0);
    for (at, c) in list.char_indices() {
        if depth == 0 && (c == ',' || c == '}') {
            if !list[from..at].is_empty() {
                expand(&prefix, &list[from..at], paths);
            }
            from = at + 1;
        }
        depth += i32::from(c == '{') - i32::from(c == '}');
    }
}

/// The names that a module exports from elsewhere, and their paths.
fn exports(text: &str) -> BTreeMap<String, String> {
    let exported = uses(text).into_iter().filter(|(public, _)| *public);
    let named = |path: String| {
        let (path, name) = match path.split_once(" as ") {
            Some((path, name)) => (path.to_owned(), name.to_owned()),
            None => (path.clone(), path.rsplit("::").next()?.to_owned()),
        };
        Some((name, path))
    };
    exported.flat_map(|(_, paths)| paths).filter_map(named).collect()
}

/// Every path of a text that begins in the crate.
fn paths(text: &str) -> Vec<String> {
    let mut found: Vec<String> = uses(text).into_iter().flat_map(|(_, paths)| paths).collect();
    for begin in ["crate::", "super::"] {
        for (at, _) in text.match_indices(begin) {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            if !text[..at].ends_with(inside) {
                let rest = &text[at..];
                let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
                // What is in braces is a list of `use`.
                if !rest[end..].starts_with('{') {
                    found.push(rest[..end].trim_end_matches(':').to_owned());
                }
            }
        }
    }
    found
}

struct Crate {
    exports: BTreeMap<String, BTreeMap<String, String>>,
}

impl Crate {
    /// The module that has what a path in `module` names.
    fn find(&self, module: &str, path: &str, depth: u32) -> Option<String> {
        let path = path.split(" as ").next().unwrap_or_default();
        let mut words = path.split("::").peekable();
        let mut at = match *words.peek()? {
            "crate" | "self" => {
                let at = if words.next() == Some("self") { module } else { "" };
                at.to_owned()
            }
            "super" => module.to_owned(),
            child if self.exports.contains_key(&join(module, child)) => module.to_owned(),
            _ => return None,
        };
        while words.next_if(|word| *word == "super").is_some() {
            at = at.rsplit_once("::").map_or("", |(up, _)| up).to_owned();
        }
        while let Some(word) = words.next_if(|w| self.exports.contains_key(&join(&at, w))) {
            at = join(&at, word);
        }
        let exported = words.next().and_then(|word| self.exports.get(&at)?.get(word));
        match exported {
            Some(path) if depth < 8 => self.find(&at, path, depth + 1),
            _ => Some(at),
        }
    }
}

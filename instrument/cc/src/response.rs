//! Response files (`@file`). The driver reads them to see what a command line does and to find its
//! own options; clang reads them itself unless they hold such options. And values of options among
//! the words of a command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// A file that is nested more deeply is taken to include itself.
const DEPTH: usize = 16;

/// The arguments with every readable `@file` replaced by its words.
pub(crate) fn expand(arguments: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::with_capacity(arguments.len());
    expand_into(&mut out, arguments, DEPTH);
    out
}

fn expand_into(out: &mut Vec<OsString>, arguments: &[OsString], depth: usize) {
    for argument in arguments {
        let file = argument.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
        match file.and_then(|f| std::fs::read(Path::new(OsStr::from_bytes(f))).ok()) {
            Some(text) => expand_into(out, &words(&text), depth - 1),
            None => out.push(argument.clone()),
        }
    }
}

/// The values of a flag, which are the rest of its word or the next word.
pub(crate) fn values<'a>(words: &'a [OsString], flag: &str) -> Vec<&'a OsStr> {
    let mut values = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_bytes().strip_prefix(flag.as_bytes()) {
            Some(b"") => values.extend(words.next().map(OsString::as_os_str)),
            Some(rest) => values.push(OsStr::from_bytes(rest)),
            None => {}
        }
    }
    values
}

/// Where an option (`--flag VALUE` or `--flag=VALUE`) is, how many words it has, and its value.
pub(crate) fn option<'a>(
    arguments: &'a [OsString],
    flag: &str,
) -> Option<(usize, usize, &'a OsStr)> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        if word == flag {
            return Some((at, 2, arguments.get(at + 1)?.as_os_str()));
        }
        let value = word.to_str()?.strip_prefix(flag)?.strip_prefix('=')?;
        Some((at, 1, OsStr::new(value)))
    })
}

pub(crate) fn value<'a>(arguments: &'a [OsString], flag: &str) -> Option<&'a OsStr> {
    option(arguments, flag).map(|(_, _, value)| value)
}

/// The words under the GNU quoting rules: blanks separate, quotes group, and a backslash takes the
/// next character as it is.
fn words(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(b) = bytes.next() {
        match (quote, b) {
            (_, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (Some(q), _) if q == b => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(b);
                word.get_or_insert_default();
            }
            (None, b' ' | b'\t' | b'\n' | b'\r') => {
                words.extend(word.take().map(OsString::from_vec));
            }
            _ => word.get_or_insert_default().push(b),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_the_gnu_quoting_rules() {
        assert_eq!(words(b"-c  'a b.c'\n\"x\\\"y\" d\\ e ''"), ["-c", "a b.c", "x\"y", "d e", ""]);
        assert_eq!(words(b" \n"), Vec::<OsString>::new());
    }

    #[test]
    fn a_missing_or_self_including_file_stays_as_it_is() {
        let missing = vec![OsString::from("@/nonexistent/contech")];
        assert_eq!(expand(&missing), missing);
        let path = std::env::temp_dir().join(format!("contech-rsp-{}", std::process::id()));
        let own = format!("@{}", path.display());
        std::fs::write(&path, format!("-c {own}")).unwrap();
        let got = expand(&[OsString::from(&own)]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(got.len(), DEPTH + 1);
        assert_eq!(got.last().unwrap().to_str(), Some(own.as_str()));
    }
}

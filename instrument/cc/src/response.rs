//! Response files (`@file`). The driver reads them to see what a command line does and to find its
//! own options; clang reads them itself unless they hold such options.

use std::ffi::OsString;
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
        match file.and_then(|f| std::fs::read(Path::new(std::ffi::OsStr::from_bytes(f))).ok()) {
            Some(text) => expand_into(out, &words(&text), depth - 1),
            None => out.push(argument.clone()),
        }
    }
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

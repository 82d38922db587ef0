//! How tools write text that has names of a program in it, and read sizes and durations.
//!
//! A function or a file may have any name, and a terminal obeys what it reads: an escape sequence
//! in a name would colour, hide or replace lines, or ask the terminal for things. So all text
//! leaves through [`Plain`], standard error's through [`say!`], and control characters are shown as
//! JSON writes them (`\u001b`), by which JSON stays the same JSON.
//!
//! The second half is that a reader who has seen enough and goes (`| head`) ends nothing and is no
//! error.

pub mod duration;
pub mod size;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

/// Whether a terminal would do something other than show the character. The last two ranges turn
/// the direction of writing, so that a line would not read as it is.
fn acts(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn without(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&acts) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match acts(c) {
            // All of them are below 2^16.
            true => plain.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// The text as one line that does nothing to a terminal.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    without(text, acts)
}

/// The text as lines that do nothing to a terminal: line breaks and tabulators stay.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    without(text, |c| acts(c) && !matches!(c, '\n' | '\t'))
}

/// A writer of text in UTF-8 that passes on [`lines`]. Other bytes become U+FFFD.
#[derive(Debug)]
pub struct Plain<W> {
    out: W,
    /// The beginning of a character whose other bytes have not come yet.
    begun: Vec<u8>,
}

impl<W: Write> Plain<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        let begun = Vec::new();
        Self { out, begun }
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let simple = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\t');
        if self.begun.is_empty() && bytes.iter().all(simple) {
            return self.out.write_all(bytes);
        }
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.out.write_all(lines(chunk.valid()).as_bytes())?;
            match std::str::from_utf8(chunk.invalid()) {
                Ok(_) => {}
                Err(error) if error.error_len().is_none() && chunks.peek().is_none() => {
                    self.begun = chunk.invalid().to_vec();
                }
                Err(_) => self.out.write_all("\u{fffd}".as_bytes())?,
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a line to standard error, as `eprintln!` does, but plainly, and no matter whether
/// somebody reads it.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => { $crate::say(::std::format_args!($($text)*)) };
}

/// What [`say!`] does.
pub fn say(text: fmt::Arguments<'_>) {
    let text = format!("{text}\n");
    // Nobody is left to tell.
    let _ = io::stderr().lock().write_all(lines(&text).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&[u8]]) -> String {
        let mut out = Plain::new(Vec::new());
        for part in parts {
            out.write_all(part).unwrap();
        }
        String::from_utf8(out.out).unwrap()
    }

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let name = "a\u{1b}[31m\u{7}\r\u{7f}\u{9b}5m\u{202e}é\u{10000}\tb\n";
        let shown = "a\\u001b[31m\\u0007\\u000d\\u007f\\u009b5m\\u202eé\u{10000}\tb\n";
        assert_eq!(written(&[name.as_bytes()]), shown);
        assert_eq!(lines(name), shown);
        assert_eq!(line("a\tb\n"), "a\\u0009b\\u000a");
        assert!(matches!(line("<int, é>"), Cow::Borrowed(_)));
    }

    #[test]
    fn it_does_not_matter_where_the_text_is_cut() {
        let text = "x\u{9b}é\u{2028}\u{2067}\u{1f600}\u{1b}y".as_bytes();
        let whole = written(&[text]);
        assert!(whole.starts_with("x\\u009bé") && whole.ends_with("\\u001by"));
        for at in 0..text.len() {
            assert_eq!(written(&[&text[..at], &text[at..]]), whole, "{at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(written(&bytes), whole);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(written(&[b"a\xffb\xc3", b"c"]), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn json_stays_the_same_json() {
        // JSON escapes what is below U+0020 itself.
        let json = "\"\u{7f}\u{9b}\"";
        assert_eq!(written(&[json.as_bytes()]), "\"\\u007f\\u009b\"");
    }
}

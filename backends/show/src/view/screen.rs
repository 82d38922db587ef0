//! What text is written for: so many columns, in colours or not.
//!
//! A terminal says how wide it is, unless `COLUMNS` does. Names of the program are never broken
//! where a line can be broken elsewhere.

use std::io::{self, Write as _};
use std::os::fd::AsFd;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use contech_plain::lines;
use unicode_width::UnicodeWidthStr as _;

/// Columns of what is no terminal.
const COLUMNS: usize = 100;
/// Fewer columns than this are not believed.
const FEWEST: usize = 20;

/// Titles of parts.
pub(super) const HEADING: Style = Style::new().bold();
/// Titles of columns.
pub(super) const TITLE: Style = Style::new().underline();
/// Who speaks.
const SPEAKER: Style = Style::new().dimmed();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The width of the text and whether it has colours.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Screen {
    /// Columns of a line.
    pub width: usize,
    /// Whether styles are shown.
    pub colour: bool,
}

impl Screen {
    /// Standard output.
    pub fn stdout() -> Self {
        Self::of(&io::stdout())
    }

    /// Standard error.
    pub fn stderr() -> Self {
        Self::of(&io::stderr())
    }

    fn of(out: &(impl RawStream + AsFd)) -> Self {
        Self { width: columns(out), colour: AutoStream::choice(out) != ColorChoice::Never }
    }

    /// A file: without colours, as wide as what is no terminal.
    pub fn file() -> Self {
        Self { width: asked().unwrap_or(COLUMNS), colour: false }
    }

    /// The text in a style, if styles are shown.
    pub(super) fn styled(self, style: Style, text: &str) -> String {
        match self.colour {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }
}

/// The columns that the variable `COLUMNS` asks for.
fn asked() -> Option<usize> {
    let columns: usize = std::env::var("COLUMNS").ok()?.parse().ok()?;
    (columns > 0).then_some(columns.max(FEWEST))
}

fn columns(stream: impl AsFd) -> usize {
    let terminal = || {
        let size = rustix::termios::tcgetwinsize(stream).ok()?;
        (size.ws_col > 0).then(|| usize::from(size.ws_col).max(FEWEST))
    };
    asked().or_else(terminal).unwrap_or(COLUMNS)
}

/// The columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The parts of a word that a line may be broken between: `a::b<c,d>` has `a::`, `b<c,` and `d>`.
/// No part takes more than `most` columns.
pub(super) fn pieces(word: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while width(rest) > most {
        let mut hard = rest.len();
        let mut soft = None;
        let mut columns = 0;
        for (at, c) in rest.char_indices() {
            columns += width(c.encode_utf8(&mut [0; 4]));
            if columns > most && at > 0 {
                hard = at;
                break;
            }
            let end = at + c.len_utf8();
            if matches!(c, '/' | ',' | ';' | '&') || rest[..end].ends_with("::") {
                soft = Some(end);
            }
        }
        let (piece, after) = rest.split_at(soft.unwrap_or(hard));
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// The text in lines of at most `most` columns, the first of them `indent` columns shorter. Spaces
/// within a line stay as they are.
pub(super) fn broken(text: &str, most: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut room = most.saturating_sub(indent).max(1);
    let mut begun = false;
    for word in text.split(' ') {
        if begun && width(&line) + 1 + width(word) > room && !line.trim().is_empty() {
            lines.push(line.trim_end().to_owned());
            (line, room, begun) = (String::new(), most.max(1), false);
        }
        // What stands between two words is no indentation of the second one's line.
        if !begun && word.is_empty() && !lines.is_empty() {
            continue;
        }
        if begun {
            line.push(' ');
        }
        begun = true;
        let left = room.saturating_sub(width(&line)).max(1);
        let mut parts = pieces(word, left).into_iter();
        line.push_str(parts.next().unwrap_or_default());
        for part in parts {
            lines.push(std::mem::replace(&mut line, part.to_owned()));
            room = most.max(1);
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// The text in lines of `width` columns after `first`; lines after the first one begin with as many
/// spaces as `first` has columns, if that leaves half of the width, and otherwise with two.
pub fn hanging(first: &str, text: &str, width: usize) -> Vec<String> {
    let before = self::width(first);
    let indent = if before * 2 > width { 2 } else { before };
    let lines = broken(text, width.saturating_sub(indent), before.saturating_sub(indent));
    let mut from = String::from(first);
    let lines = lines.into_iter().map(|line| {
        let whole = format!("{}{line}", std::mem::take(&mut from));
        from = " ".repeat(indent);
        whole.trim_end().to_owned()
    });
    lines.collect()
}

/// A line of a text after `first`; its own indentation its other lines have, too.
pub(super) fn paragraph(first: &str, text: &str, width: usize) -> Vec<String> {
    let words = text.trim_start_matches(' ');
    let indentation = &text[..text.len() - words.len()];
    hanging(&format!("{first}{indentation}"), words, width)
}

/// The speaker of a message, `contech: ` or `warning: `, and what it says.
fn spoken(text: &str) -> (&str, &str) {
    match text.split_once(": ") {
        Some((who, _)) if !who.contains([' ', '\n', '/']) => text.split_at(who.len() + 2),
        _ => ("", text),
    }
}

/// The lines of a message of `speaker`.
pub fn message(text: &str, width: usize) -> Vec<String> {
    let (first, said) = spoken(text);
    let firsts = std::iter::once(first).chain(std::iter::repeat(""));
    said.split('\n').zip(firsts).flat_map(|(part, first)| paragraph(first, part, width)).collect()
}

/// Writes lines to standard error, and no matter whether somebody reads them.
pub fn tell(lines: &[String], screen: Screen) {
    show(lines, screen, SPEAKER);
}

/// Writes lines to standard error, the speaker of the first one in this style.
fn show(lines: &[String], screen: Screen, style: Style) {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = contech_plain::line(line);
        let (who, said) = if at == 0 { spoken(&line) } else { ("", &*line) };
        let (warning, said) = match said.split_once(": ") {
            Some(("warning", _)) => said.split_at("warning: ".len()),
            _ => ("", said),
        };
        let style = if who == "warning: " { WARNING } else { style };
        for (style, part) in [(style, who), (WARNING, warning)] {
            if !part.is_empty() {
                text.push_str(&screen.styled(style, part));
            }
        }
        text.push_str(said);
        text.push('\n');
    }
    // Nobody is left to tell.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// What [`say!`](crate::view::say) does. Returns the number of lines.
pub fn remark(text: &str) -> usize {
    let screen = Screen::stderr();
    let lines = message(&lines(text), screen.width);
    tell(&lines, screen);
    lines.len()
}

/// Says what a tool could not do.
pub fn fail(tool: &str, error: &anyhow::Error) {
    let screen = Screen::stderr();
    let text = format!("{tool}: {error:#}");
    show(&message(&lines(&text), screen.width), screen, ERROR);
}

/// Writes a message to standard error in lines of its width, and no matter whether somebody reads
/// it. It begins with who speaks: `contech: ` or `warning: `.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {{ $crate::view::screen::remark(&::std::format!($($text)*)); }};
}
pub use say;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_hang_below_the_text() {
        let lines = message("contech: one two three four", 18);
        assert_eq!(lines, ["contech: one two", "         three", "         four"]);
        // Half of a narrow line is not spent on indentation.
        let lines = hanging("contech:     81%  1.02 s  ", "io in part (a.c:1)", 40);
        assert_eq!(lines, ["contech:     81%  1.02 s  io in part", "  (a.c:1)"]);
        let lines = paragraph("", "  a b c", 5);
        assert_eq!(lines, ["  a b", "  c"]);
    }

    #[test]
    fn a_name_is_broken_only_where_it_is_longer_than_a_line() {
        let lines = message("in a::b::c now", 9);
        assert_eq!(lines, ["in", "a::b::c", "now"]);
        assert_eq!(pieces("space::name<first,second>", 14), ["space::", "name<first,", "second>"]);
        assert_eq!(pieces("abcdef", 4), ["abcd", "ef"]);
        // Characters of two columns.
        assert_eq!(pieces("日本語", 4), ["日本", "語"]);
        assert_eq!(pieces("日", 1), ["日"]);
    }

    #[test]
    fn no_line_is_too_long_and_no_word_is_lost() {
        let text = "2 processors for 402 ms: 58% went to std::vector<int,std::allocator<int>>::push_back (hot_lock.c:13).";
        for columns in 20..120 {
            let lines = message(&format!("contech: {text}"), columns);
            assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {lines:?}");
            let all: String = lines.concat().split_whitespace().collect();
            let words: String = text.split_whitespace().collect();
            assert_eq!(all, format!("contech:{words}"));
        }
    }

    #[test]
    fn each_line_of_a_message_is_a_line() {
        assert_eq!(
            message("contech: unexpected\n\n  tip: see --help", 80),
            ["contech: unexpected", "", "  tip: see --help"]
        );
    }
}

//! What the user should know about a recording, and whether something is missing from it.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize, Serializer};

/// What a note is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoteKind {
    /// Something that the program did and that a recording normally holds is missing: the graph is
    /// incomplete.
    Loss,
    /// Accesses are missing because the user wanted so: those after the limit of the trace, or
    /// outside of the region of interest. Order and times are of the whole run.
    Accesses,
    /// Something that no recording holds: accesses inside library functions, or inline assembly.
    Limit,
    /// The note is only information; nothing is missing.
    Remark,
    /// A later release made the graph, and has more kinds.
    #[default]
    #[serde(other)]
    Unknown,
}

/// A sentence for the reader of a report; in JSON `{"kind", "missing", "text"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Note {
    /// What the note is about.
    pub kind: NoteKind,
    /// The sentence.
    pub text: String,
}

impl Note {
    /// A sentence of a kind.
    #[must_use]
    pub fn new(kind: NoteKind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, text }
    }

    /// Whether something is missing that a recording normally holds; `None` if that is not known.
    #[must_use]
    pub fn missing(&self) -> Option<bool> {
        (self.kind != NoteKind::Unknown)
            .then_some(matches!(self.kind, NoteKind::Loss | NoteKind::Accesses))
    }
}

impl Deref for Note {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq<&str> for Note {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            kind: NoteKind,
            missing: Option<bool>,
            text: &'a str,
        }
        let (kind, missing, text) = (self.kind, self.missing(), &*self.text);
        Written { kind, missing, text }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_say_whether_something_is_missing_if_their_kind_is_known() {
        let text = r#"[{"kind": "loss", "missing": true, "text": "gone"}, {"kind": "newer", "text": "n"}]"#;
        let notes: Vec<Note> = serde_json::from_str(text).unwrap();
        assert_eq!(notes, ["gone", "n"]);
        let missing: Vec<_> = notes.iter().map(Note::missing).collect();
        assert_eq!(missing, [Some(true), None]);
        let limit = Note::new(NoteKind::Limit, "inline assembly");
        assert_eq!(
            serde_json::to_string(&limit).unwrap(),
            r#"{"kind":"limit","missing":false,"text":"inline assembly"}"#
        );
    }
}

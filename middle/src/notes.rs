//! Remarks for the user about what was found in a trace. Each kind is stored once, with a count.

use taskgraph::NoteKind;

/// Collects remarks. Memory does not grow with how often one is made.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    list: Vec<Note>,
    damaged: bool,
}

#[derive(Debug)]
struct Note {
    what: &'static str,
    first: String,
    times: u64,
    kind: NoteKind,
}

impl Notes {
    /// Adds something worth knowing.
    pub(crate) fn remark(&mut self, what: &'static str, detail: impl FnOnce() -> String) {
        self.add(NoteKind::Remark, what, detail);
    }

    /// Adds something worth knowing of the run, which counts once however often it is told.
    pub(crate) fn fact(&mut self, what: &'static str) {
        if !self.list.iter().any(|n| n.what == what) {
            self.remark(what, String::new);
        }
    }

    fn add(&mut self, kind: NoteKind, what: &'static str, detail: impl FnOnce() -> String) {
        if let Some(n) = self.list.iter_mut().find(|n| n.what == what) {
            n.times += 1;
        } else {
            self.list.push(Note { what, first: detail(), times: 1, kind });
        }
    }

    /// Says that something is missing from the trace, so the graph is not complete.
    pub(crate) fn damage(&mut self, what: &'static str, detail: impl FnOnce() -> String) {
        self.told_damage();
        self.add(NoteKind::Loss, what, detail);
    }

    /// Says that something is missing which another sentence reports.
    pub(crate) fn told_damage(&mut self) {
        self.damaged = true;
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Returns one sentence for each kind.
    pub(crate) fn sentences(&self) -> Vec<taskgraph::Note> {
        let note = |n: &Note| taskgraph::Note::new(n.kind, n.sentence());
        self.list.iter().map(note).collect()
    }
}

impl Note {
    fn sentence(&self) -> String {
        match (self.times, self.first.as_str()) {
            (1, "") => self.what.to_owned(),
            (1, first) => format!("{}: {first}", self.what),
            (n, "") => format!("{} ({n} times)", self.what),
            (n, first) => format!("{} ({n} times, first: {first})", self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_note_is_one_sentence_with_a_count() {
        let mut notes = Notes::default();
        notes.remark("late", || "a".into());
        notes.remark("late", || "b".into());
        assert!(!notes.is_damaged());
        notes.damage("lost", String::new);
        assert!(notes.is_damaged());
        (0..3).for_each(|_| notes.fact("over"));
        let expected = [
            (NoteKind::Remark, "late (2 times, first: a)"),
            (NoteKind::Loss, "lost"),
            (NoteKind::Remark, "over"),
        ];
        let expected = expected.map(|(kind, text)| taskgraph::Note::new(kind, text));
        assert_eq!(notes.sentences(), expected);
    }
}

//! Remarks for the user about what was found in a trace, each kind once with a count.

/// Collects remarks; memory does not grow with how often one is made.
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
}

impl Notes {
    /// Something worth knowing.
    pub(crate) fn remark(&mut self, what: &'static str, detail: impl FnOnce() -> String) {
        if let Some(n) = self.list.iter_mut().find(|n| n.what == what) {
            n.times += 1;
        } else {
            self.list.push(Note {
                what,
                first: detail(),
                times: 1,
            });
        }
    }

    /// Something is missing from the trace: the graph is not complete.
    pub(crate) fn damage(&mut self, what: &'static str, detail: impl FnOnce() -> String) {
        self.damaged = true;
        self.remark(what, detail);
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// One sentence per kind.
    pub(crate) fn sentences(&self) -> Vec<String> {
        self.list.iter().map(Note::sentence).collect()
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
        assert_eq!(notes.sentences(), ["late (2 times, first: a)", "lost"]);
    }
}

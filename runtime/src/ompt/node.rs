//! The tasks of libomp, and what is kept of one with dependences, from its generation to its end.

use super::abi::{self, DEPENDENCE_MUTEXINOUTSET, Data, Dependence};
use super::word::Word;
use crate::active::Active;

/// A task, by the word that libomp has in it for a tool. Nothing is known of the task without one
/// (null), and nothing is kept of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Task(Data);

/// One dependence of a task.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) variable: u64,
    pub(super) kind: u32,
    /// The place in the order in which tasks that name the variable were generated.
    pub(super) ticket: u64,
}

/// What is kept of a task that does not fit in its word.
pub(super) struct Node {
    /// The word that the task has besides.
    word: Word,
    /// The context that generated the task.
    pub(super) parent: u32,
    /// Ticks when the task was generated.
    pub(super) before: u64,
    pub(super) items: Vec<Item>,
    /// The mutexinoutset items that the task holds, and their tickets.
    pub(super) held: Vec<(u64, u64)>,
}

const ADDRESS: u64 = (1 << 48) - 1;

impl Task {
    pub(super) const NONE: Self = Task(std::ptr::null_mut());

    /// The task with this word.
    ///
    /// # Safety
    /// The word is null, or libomp passed it. While the result is used, the task lives and no other
    /// thread uses its word.
    pub(super) unsafe fn of(word: Data) -> Self {
        Task(word)
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// The address of the task's word.
    pub(super) fn addr(self) -> usize {
        self.0.addr()
    }

    fn read(self) -> Word {
        // SAFETY: `of` demands that the word can be used.
        Word(unsafe { abi::read(self.0) })
    }

    /// Gives a task, which has no node, a word.
    pub(super) fn write(self, word: Word) {
        // SAFETY: as in `read`.
        unsafe { abi::write(self.0, word.0) };
    }

    /// The task's node, which replaces the word if there is one.
    fn node(self) -> Option<*mut Node> {
        let word = self.read();
        let address = usize::try_from(word.0 & ADDRESS).ok()?;
        word.has(Word::NODE).then(|| std::ptr::with_exposed_provenance_mut(address))
    }

    /// The word, even if the task has a node.
    pub(super) fn word(self) -> Word {
        // SAFETY: such a word has the address of a node that `put` leaked, and only `take` frees
        // it, after which the word is another one.
        self.node().map_or_else(|| self.read(), |node| unsafe { (*node).word })
    }

    /// Sets the word, even if the task has a node.
    pub(super) fn set_word(self, word: Word) {
        match self.node() {
            // SAFETY: as in `word`.
            Some(node) => unsafe { (*node).word = word },
            None => self.write(word),
        }
    }

    /// Gives the task, which has none, a node.
    pub(super) fn put(self, mut node: Box<Node>) {
        node.word = self.read();
        let address = Box::into_raw(node).expose_provenance() as u64;
        self.write(Word(address & ADDRESS | Word::NODE | Word::VALID));
    }

    /// Takes the node from the task, which gets its word back.
    pub(super) fn take(self) -> Option<Box<Node>> {
        // SAFETY: `put` made the pointer from a box, and this is the only place that takes it back.
        let node = unsafe { Box::from_raw(self.node()?) };
        self.write(node.word);
        Some(node)
    }
}

impl Node {
    pub(super) fn new(parent: u32, before: u64) -> Box<Self> {
        let (items, held) = (Vec::new(), Vec::new());
        Box::new(Node { word: Word(0), parent, before, items, held })
    }

    pub(super) fn add(&mut self, a: Active, dependences: &[Dependence]) {
        self.items.extend(dependences.iter().map(|d| Item {
            variable: d.variable,
            kind: d.kind,
            ticket: a.ticket(usize::try_from(d.variable).unwrap_or(0)),
        }));
    }

    pub(super) fn exclusive(&self) -> impl Iterator<Item = u64> {
        let items = self.items.iter();
        items.filter(|i| i.kind == DEPENDENCE_MUTEXINOUTSET).map(|i| i.variable)
    }
}

//! A task with dependences, from its generation to its end.

use super::abi::{self, DEPENDENCE_MUTEXINOUTSET, Data, Dependence};
use super::word::Word;
use crate::active::Active;

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
    pub(super) word: Word,
    /// The context that generated the task.
    pub(super) parent: u32,
    /// Ticks when the task was generated.
    pub(super) before: u64,
    pub(super) items: Vec<Item>,
    /// The mutexinoutset items that the task holds, and their tickets.
    pub(super) held: Vec<(u64, u64)>,
}

const ADDRESS: u64 = (1 << 48) - 1;

impl Node {
    /// The node of a task, if it has one.
    ///
    /// # Safety
    /// The OpenMP runtime passed the word of a live task, which no other thread uses now.
    pub(super) unsafe fn of(data: Data) -> Option<&'static mut Node> {
        // SAFETY: the caller vouches for the word.
        let word = Word(unsafe { abi::read(data) });
        if !word.has(Word::NODE) {
            return None;
        }
        let address = usize::try_from(word.0 & ADDRESS).ok()?;
        // SAFETY: such a word has the address of a node that `attach` leaked. Only `take` frees the
        // node, and it replaces the word.
        unsafe { std::ptr::with_exposed_provenance_mut::<Node>(address).as_mut() }
    }

    /// Gives the task a node, which keeps its word.
    ///
    /// # Safety
    /// The same as for [`Node::of`].
    pub(super) unsafe fn attach(
        data: Data,
        word: Word,
        parent: u32,
        before: u64,
    ) -> &'static mut Node {
        let node = Node { word, parent, before, items: Vec::new(), held: Vec::new() };
        let node = Box::into_raw(Box::new(node));
        let address = node.expose_provenance() as u64;
        // SAFETY: the caller vouches for the word.
        unsafe { abi::write(data, address & ADDRESS | Word::NODE | Word::VALID) };
        // SAFETY: the node is new, and only `take` frees it.
        unsafe { &mut *node }
    }

    /// Takes the node from the task, which gets its word back.
    ///
    /// # Safety
    /// The same as for [`Node::of`], and nobody has a reference to the node.
    pub(super) unsafe fn take(data: Data) -> Option<Box<Node>> {
        // SAFETY: the caller vouches for the word.
        let node: *mut Node = unsafe { Node::of(data) }?;
        // SAFETY: `attach` made the pointer from a box, and this is the only place that takes it
        // back.
        let node = unsafe { Box::from_raw(node) };
        // SAFETY: the caller vouches for the word.
        unsafe { abi::write(data, node.word.0) };
        Some(node)
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

/// The word of a task, even if the task has a node.
///
/// # Safety
/// The same as for [`Node::of`].
pub(super) unsafe fn word(data: Data) -> Word {
    // SAFETY: the caller vouches for the word.
    match unsafe { Node::of(data) } {
        Some(node) => node.word,
        // SAFETY: the caller vouches for the word.
        None => Word(unsafe { abi::read(data) }),
    }
}

/// Sets the word of a task, even if the task has a node.
///
/// # Safety
/// The same as for [`Node::of`].
pub(super) unsafe fn set_word(data: Data, word: Word) {
    // SAFETY: the caller vouches for the word.
    match unsafe { Node::of(data) } {
        Some(node) => node.word = word,
        // SAFETY: the caller vouches for the word.
        None => unsafe { abi::write(data, word.0) },
    }
}

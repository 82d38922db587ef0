//! Counted references within a thread: owners, weak ones and borrowed cells.
// MODE: golden

use std::cell::RefCell;
use std::rc::{Rc, Weak};

struct Node {
    value: u32,
    parent: RefCell<Weak<Node>>,
    children: RefCell<Vec<Rc<Node>>>,
}

fn node(value: u32) -> Rc<Node> {
    Rc::new(Node {
        value,
        parent: RefCell::default(),
        children: RefCell::default(),
    })
}

pub(crate) fn main() {
    let root = node(1);
    for value in 2..5 {
        let child = node(value);
        *child.parent.borrow_mut() = Rc::downgrade(&root);
        root.children.borrow_mut().push(child);
    }
    let child = Rc::clone(&root.children.borrow()[1]);
    let parent = child.parent.borrow().upgrade().map(|p| p.value);
    println!("{parent:?} {} {}", child.value, Rc::weak_count(&root));
    drop(root);
    println!("{}", child.parent.borrow().upgrade().is_none());
}

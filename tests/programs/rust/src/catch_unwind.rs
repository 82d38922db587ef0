//! A panic is caught; destructors run on its way.
// MODE: golden

use std::panic::{self, AssertUnwindSafe};

struct Noted<'a>(&'a mut Vec<u32>, u32);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.0.push(self.1);
    }
}

fn fails(depth: u32, notes: &mut Vec<u32>) {
    if depth == 0 {
        panic!("at the bottom");
    }
    let noted = Noted(notes, depth);
    fails(depth - 1, noted.0);
}

pub(crate) fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut notes = Vec::new();
    let caught = panic::catch_unwind(AssertUnwindSafe(|| fails(5, &mut notes)));
    let text = caught.unwrap_err();
    println!("{:?} {notes:?}", text.downcast_ref::<&str>());
}

//! Placeholder, replaced by its owner.
fn main() {}

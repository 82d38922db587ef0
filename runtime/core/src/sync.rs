//! The locks under the names that the modules use which `tests/model` compiles with loom's instead.

pub(crate) use contech_interpose::lock::{lock, try_lock, wait, wait_for};

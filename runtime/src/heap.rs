//! The library's own memory.

use contech_guest::heap::Heap;

use crate::tls::block;

/// A quiet thread has blocked its signals already, as everywhere in the runtime.
#[global_allocator]
pub(crate) static HEAP: Heap = Heap::new(|| block().is_quiet());

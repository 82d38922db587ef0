//! The allocator of the library's own memory.

use contech_interpose::heap::Heap;

use crate::tls::block;

/// A quiet thread has already blocked its signals, as everywhere in the runtime.
#[global_allocator]
pub(crate) static HEAP: Heap = Heap::new(|| block().is_quiet());

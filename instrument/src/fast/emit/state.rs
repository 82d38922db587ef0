//! The path sum and the cursor: where they are kept, loaded, stored and handed on.

use contech_trace::abi::ID_BYTES;
use inkwell::values::{BasicValue, InstructionOpcode, PointerValue};

use super::super::paths::Sum;
use super::{Built, Emitter};
use crate::ir;

impl<'m> Emitter<'_, 'm> {
    /// The address that stands for a path of this function.
    pub(super) fn path_address(&self, path: u32) -> PointerValue<'m> {
        ir::global_offset(self.targets.ids, self.first_path + u64::from(path))
    }

    pub(super) fn path_plus(&self, n: usize, increment: u32) -> Built<PointerValue<'m>> {
        match self.fast.paths.sums[n] {
            Sum::Is(k) => Ok(self.path_address(k + increment)),
            _ => {
                let path = self.load(self.path)?;
                self.offset(path, u64::from(increment))
            }
        }
    }

    /// Gives the segment that starts at `n` its first path.
    pub(super) fn set_path(&self, n: usize, resumes: Option<usize>) -> Built {
        if self.fast.paths.sums[n] == Sum::Varies
            && let Some(base) = self.fast.paths.base(n, resumes)
        {
            self.builder.build_store(self.path, self.path_address(base))?;
        }
        Ok(())
    }

    /// Writes the id of the path that ends here.
    pub(super) fn id(&self, n: usize, increment: u32) -> Built {
        let path = self.path_plus(n, increment)?;
        let base = self.load_cursor()?;
        self.put(base, 0, path)?;
        let next = self.offset(base, ID_BYTES as u64)?;
        self.builder.build_store(self.cursor, next)?;
        Ok(())
    }

    /// Handles a return right after a call, where nothing is written: the cursor moves from the
    /// place where the call left it to the place where the caller looks for it.
    pub(super) fn pass_on(&self, n: usize) -> Built {
        if self.found_in(n) != self.left_in(n) {
            self.builder.position_before(&self.fast.graph.nodes[n].first);
            self.reload(n)?;
            self.sync(n)?;
        }
        Ok(())
    }

    /// Loads the cursor at a fresh start, from where [`Self::found_in`] says.
    pub(super) fn reload(&self, n: usize) -> Built {
        let slot = self.found_in(n).unwrap_or_else(|| self.thread_local());
        let value = self.load(slot)?;
        self.builder.build_store(self.cursor, value)?;
        Ok(())
    }

    /// Stores the cursor at the end of a segment, where [`Self::left_in`] says.
    pub(super) fn sync(&self, n: usize) -> Built {
        let value = self.load_cursor()?;
        let slot = self.left_in(n).unwrap_or_else(|| self.thread_local());
        self.builder.build_store(slot, value)?;
        Ok(())
    }

    /// The slot that holds the cursor at a fresh start; `None` means thread-local storage.
    fn found_in(&self, n: usize) -> Option<PointerValue<'m>> {
        match &self.fast.graph.nodes[n] {
            node if node.carried => self.carried.slot,
            _ if n == 0 => self.carried.argument,
            _ => None,
        }
    }

    /// The slot where the next code looks for the cursor after the end of a segment; `None` means
    /// thread-local storage. Only calls that take the cursor, and returns of functions that took
    /// it, use a slot.
    fn left_in(&self, n: usize) -> Option<PointerValue<'m>> {
        let node = &self.fast.graph.nodes[n];
        match node.last.get_opcode() {
            _ if node.carries => self.carried.slot,
            InstructionOpcode::Return => self.carried.argument,
            _ => None,
        }
    }

    fn thread_local(&self) -> PointerValue<'m> {
        ir::global_offset(self.targets.tls, self.targets.cursor)
    }

    pub(super) fn load_cursor(&self) -> Built<PointerValue<'m>> {
        self.load(self.cursor)
    }

    pub(super) fn load(&self, from: PointerValue<'m>) -> Built<PointerValue<'m>> {
        ir::load(&self.builder, from)
    }

    pub(super) fn put(&self, base: PointerValue<'m>, at: u64, value: impl BasicValue<'m>) -> Built {
        ir::put(&self.builder, base, at, value)
    }

    pub(super) fn offset(&self, base: PointerValue<'m>, bytes: u64) -> Built<PointerValue<'m>> {
        ir::offset(&self.builder, base, bytes)
    }
}

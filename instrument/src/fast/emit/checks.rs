//! Checks for room in the buffer, and what happens where there is none.

use contech_trace::abi::ID_BYTES;
use inkwell::IntPredicate;
use inkwell::values::PointerValue;

use super::{Built, COUNT_BYTES, Emitter};
use crate::ir;

/// What the slow path of a check does.
pub(super) enum Slow<'m> {
    Flush,
    /// The slow path writes the count and the id, flushes, and starts counting anew.
    LoopCut {
        counter: PointerValue<'m>,
        increment: u64,
        resume: PointerValue<'m>,
    },
}

impl<'m> Emitter<'_, 'm> {
    pub(super) fn check(&mut self) -> Built {
        self.compare(Slow::Flush)
    }

    /// Compares here; the slow path is added when all code is in place.
    pub(super) fn compare(&mut self, slow: Slow<'m>) -> Built {
        let cursor = self.load_cursor()?;
        let limit = ir::global_offset(self.targets.tls, self.targets.limit);
        let limit = self.load(limit)?;
        let full = self.builder.build_int_compare(IntPredicate::UGE, cursor, limit, "")?;
        self.checks.push((full, slow));
        Ok(())
    }

    pub(super) fn finish_checks(&mut self) -> Built {
        for (condition, slow) in std::mem::take(&mut self.checks) {
            let end = ir::split_unlikely(condition);
            self.builder.position_before(&end);
            let mut cursor = self.load_cursor()?;
            if let Slow::LoopCut { counter, increment, .. } = slow {
                let i64_type = self.context.i64_type();
                let count = self.builder.build_load(i64_type, counter, "")?;
                self.put(cursor, 0, count)?;
                let path = self.load(self.path)?;
                let id = self.offset(path, increment)?;
                self.put(cursor, COUNT_BYTES, id)?;
                cursor = self.offset(cursor, COUNT_BYTES + ID_BYTES as u64)?;
            }
            let next = ir::flush(&self.builder, self.targets.flush, cursor)?;
            self.builder.build_store(self.cursor, next)?;
            if let Slow::LoopCut { counter, resume, .. } = slow {
                self.builder.build_store(counter, self.context.i64_type().const_zero())?;
                self.builder.build_store(self.path, resume)?;
            }
        }
        Ok(())
    }
}

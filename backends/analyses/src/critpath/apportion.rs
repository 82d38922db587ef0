//! Divides the time of a task among the functions that ran in it.
//!
//! Blocks have no times of their own, so a task's time is divided by executed IR instructions: each
//! execution of a block counts its static number of IR instructions for its function. Callees have
//! blocks of their own.

use std::sync::Arc;

use taskgraph::{BlockCounts, FunctionId, StaticInfo};

/// Counts executed IR instructions by function, one task at a time.
#[derive(Clone, Debug)]
pub(super) struct Apportion {
    /// Function and IR instructions of each block.
    blocks: Arc<[(u32, u64)]>,
    functions: usize,
    /// IR instructions of the current task, by function.
    counts: Vec<u64>,
    touched: Vec<u32>,
}

impl Apportion {
    /// For the blocks of these tables.
    pub(super) fn new(info: &StaticInfo) -> Self {
        let blocks =
            info.blocks.iter().map(|block| (block.function.get(), u64::from(block.ir_ops.max(1))));
        Self {
            blocks: blocks.collect(),
            functions: info.functions.len(),
            counts: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Takes the blocks that a task executed, in place of those of the previous task.
    pub(super) fn count(&mut self, executed: &BlockCounts) {
        self.counts.resize(self.functions, 0);
        for function in self.touched.drain(..) {
            self.counts[function as usize] = 0;
        }
        for (block, times) in executed.iter() {
            if let Some(&(function, ir_ops)) = self.blocks.get(block.index())
                && let Some(count) = self.counts.get_mut(function as usize)
            {
                if *count == 0 {
                    self.touched.push(function);
                }
                *count += ir_ops * times;
            }
        }
        self.touched.sort_unstable();
    }

    /// Forgets the counts and frees their memory.
    pub(super) fn clear(&mut self) {
        (self.counts, self.touched) = Default::default();
    }

    /// Divides `ns` among the counted functions; the parts add up to `ns` exactly. If no code of
    /// the task was recorded, `None` gets all of it.
    pub(super) fn divide(&self, ns: u64, mut part: impl FnMut(Option<FunctionId>, u64)) {
        let total: u128 = self.touched.iter().map(|&at| u128::from(self.counts[at as usize])).sum();
        if total == 0 {
            return part(None, ns);
        }
        let (mut passed, mut given) = (0u128, 0u64);
        for &function in &self.touched {
            passed += u128::from(self.counts[function as usize]);
            // Most tasks stay in one function.
            let until = match passed == total {
                true => ns,
                false => u64::try_from(u128::from(ns) * passed / total).unwrap_or(ns),
            };
            part(Some(FunctionId::new(function)), until - given);
            given = until;
        }
    }
}

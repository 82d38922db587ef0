//! Maps recorded ids to blocks. The id ranges of all modules of a trace have one dense numbering.

use crate::abi::RESERVED_IDS;
use crate::event;
use crate::table::ModuleTable;
use crate::{Error, Result};

/// One module's ids: `base .. base + count` (wrapping) are blocks `first .. first + count`.
#[derive(Debug, Clone, Copy)]
struct Range {
    base: u32,
    count: u32,
    first: u32,
}

/// What an id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// The block with this dense index, whose operands take this many bytes.
    Block(u32, usize),
    /// The runtime event with this id, whose fields take this many bytes.
    Event(u32, usize),
}

/// Maps ids to dense block indices. Blocks are numbered in the order in which modules are added.
#[derive(Debug, Default, Clone)]
pub struct IdMap {
    ranges: Vec<Range>,
    operand_bytes: Vec<u32>,
    next: u32,
}

impl IdMap {
    /// Adds a module. Returns the dense index of its first block. Modules that share ids with this
    /// one were unloaded before.
    ///
    /// # Errors
    /// The module's ids overlap the reserved ones, or their number is not the table's number of
    /// blocks.
    pub fn add(&mut self, base: u32, count: u32, table: &ModuleTable) -> Result<u32> {
        let invalid = |detail| Error::Invalid { what: "module ids", offset: 0, detail };
        let paths =
            table.fast.iter().flat_map(|f| &f.starts).map(|s| u64::from(s.paths)).sum::<u64>();
        if u64::from(count) != table.blocks.len() as u64 + paths {
            return Err(invalid(format!("{count} ids for {} blocks", table.blocks.len())));
        }
        if overlap(base, count, 0, RESERVED_IDS) {
            return Err(invalid(format!("{base:#x}+{count} overlaps the reserved ids")));
        }
        self.ranges.retain(|r| !overlap(base, count, r.base, r.count));
        let first = self.next;
        let next = first.checked_add(count);
        self.next = next.ok_or_else(|| invalid("more than 2^32 blocks".into()))?;
        self.ranges.push(Range { base, count, first });
        for b in &table.blocks {
            let n = b.operand_bytes();
            self.operand_bytes.push(u32::try_from(n).map_err(|_| invalid(format!("{n} bytes")))?);
        }
        Ok(first)
    }

    /// Number of blocks known so far.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        self.next
    }

    /// What `id` stands for; `hint` remembers the module of the last block.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32, hint: &mut usize) -> Option<Id> {
        if let Some(r) = self.ranges.get(*hint) {
            let k = id.wrapping_sub(r.base);
            if k < r.count {
                let block = r.first + k;
                return Some(Id::Block(block, self.operand_bytes[block as usize] as usize));
            }
        }
        self.search(id, hint)
    }

    #[cold]
    fn search(&self, id: u32, hint: &mut usize) -> Option<Id> {
        if id < RESERVED_IDS {
            return event::field_bytes(id).map(|n| Id::Event(id, n));
        }
        let i = self.ranges.iter().position(|r| id.wrapping_sub(r.base) < r.count)?;
        *hint = i;
        let block = self.ranges[i].first + id.wrapping_sub(self.ranges[i].base);
        Some(Id::Block(block, self.operand_bytes[block as usize] as usize))
    }
}

/// Whether two wrapping ranges of 32-bit ids share an id.
#[must_use]
pub fn overlap(a: u32, a_count: u32, b: u32, b_count: u32) -> bool {
    a_count > 0 && b_count > 0 && (b.wrapping_sub(a) < a_count || a.wrapping_sub(b) < b_count)
}

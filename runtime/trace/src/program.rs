//! All modules of a trace, and so the meaning of every recorded id.

use std::sync::{Arc, OnceLock};

use contech_program::path::{CompiledFunction, CompiledPath, PathFunction};
use contech_program::{Block, BlockId, BlockLayout, Layout, MemOp, Room, StaticInfo};

use crate::abi::RESERVED_IDS;
use crate::event;
use crate::fast::{FastFunction, Plan};
use crate::table::ModuleTable;
use crate::{Error, Result};

/// What an id stands for.
#[derive(Debug, Clone, Copy)]
pub enum Meaning<'a> {
    /// An execution of a block in naive form.
    Block {
        /// Dense index of the block.
        block: u32,
        /// Number of bytes of the block's operands.
        operand_bytes: u32,
    },
    /// A runtime event.
    Event {
        /// Number of bytes of the event's fields.
        field_bytes: usize,
    },
    /// A segment of a function in fast form.
    Path {
        /// Dense number of the path, over all modules.
        number: u32,
        /// What the path executes, or why the table is wrong.
        plan: std::result::Result<&'a Plan, &'a Error>,
    },
}

/// What a path id stands for.
#[derive(Debug)]
struct Path {
    plan: Plan,
    /// The plan made ready to be walked; it is made when it is first asked for.
    compiled: OnceLock<CompiledPath>,
}

/// A function whose blocks are numbered densely, and whose globals are replaced by their addresses.
#[derive(Debug)]
struct Function {
    table: FastFunction,
    compiled: OnceLock<CompiledFunction>,
}

#[derive(Debug, Clone)]
struct Module {
    base: u32,
    count: u32,
    first_block: u32,
    blocks: u32,
    first_path: u32,
    /// The starts of its functions in fast form, by ascending ids: the first id of each relative to
    /// the module, the dense index of the function, and the start's number within the function.
    starts: Vec<(u32, u32, u32)>,
}

/// The static side of a trace. Blocks and fast functions are numbered densely in module order.
#[derive(Debug, Default)]
pub struct Program {
    modules: Vec<Module>,
    /// First id and index of each module that has ids, in ascending order.
    by_base: Vec<(u32, u32)>,
    functions: Vec<Function>,
    /// What each path executes, by the path's dense number; it is made when the path is first met.
    paths: Room<Result<Path>>,
    operand_bytes: Vec<u32>,
    /// Blocks and their operations. Nothing else of them is known here.
    info: StaticInfo,
    layout: Layout,
    path_count: u32,
}

impl Clone for Program {
    /// Of the clone no path is met yet.
    fn clone(&self) -> Self {
        let function =
            |f: &Function| Function { table: f.table.clone(), compiled: OnceLock::new() };
        Self {
            modules: self.modules.clone(),
            by_base: self.by_base.clone(),
            functions: self.functions.iter().map(function).collect(),
            paths: Room::new(self.path_count as usize),
            operand_bytes: self.operand_bytes.clone(),
            info: self.info.clone(),
            layout: self.layout.clone(),
            path_count: self.path_count,
        }
    }
}

fn invalid(detail: String) -> Error {
    Error::Invalid { what: "module", offset: 0, detail }
}

/// Whether two wrapping ranges of 32-bit ids share an id.
#[must_use]
pub fn overlap(a: u32, a_count: u32, b: u32, b_count: u32) -> bool {
    a_count > 0 && b_count > 0 && (b.wrapping_sub(a) < a_count || a.wrapping_sub(b) < b_count)
}

impl Program {
    /// Says that everything added from now on is of another process. Its ids have nothing to do
    /// with what was added before, which keeps its dense numbers.
    pub fn begin_space(&mut self) {
        self.by_base.clear();
    }

    /// Adds a module whose id `k` is `base + k` (mod 2^32). Returns the dense index of its block 0.
    /// Ids below the number of blocks are blocks in naive form, and those above are path ids.
    /// Modules that share ids with this one were unloaded before: their ids mean nothing from now
    /// on, and their dense numbers stay. The table's functions in fast form are taken out of it.
    /// The blocks may be known already, from another process or from an earlier time, by the dense
    /// index of block 0.
    ///
    /// # Errors
    /// When ids overlap the reserved ones, or the table contradicts itself.
    pub fn add(
        &mut self,
        base: u32,
        count: u32,
        table: &mut ModuleTable,
        globals: &[u64],
        known: Option<u32>,
    ) -> Result<u32> {
        if overlap(base, count, 0, RESERVED_IDS) {
            return Err(invalid(format!("ids {base:#x}+{count} overlap the reserved ids")));
        }
        let too_many = |_| invalid("more than 2^32 blocks".into());
        let blocks = u32::try_from(table.blocks.len()).map_err(too_many)?;
        let next_block = u32::try_from(self.operand_bytes.len()).map_err(too_many)?;
        let first_block = known.unwrap_or(next_block);
        let first_function = u32::try_from(self.functions.len()).map_err(too_many)?;
        let operands: Vec<usize> = table.blocks.iter().map(operand_count).collect();
        let mut starts = Vec::new();
        let mut next = blocks;
        for (i, f) in (first_function..).zip(&table.fast) {
            f.check(&operands, globals.len())?;
            for (s, start) in (0..).zip(&f.starts) {
                if next.checked_sub(blocks) != Some(start.base) || start.paths == 0 {
                    return Err(invalid(format!("path ids of start {s} do not adjoin")));
                }
                starts.push((next, i, s));
                next = next.checked_add(start.paths).ok_or_else(|| invalid("ids".into()))?;
            }
        }
        if next != count {
            return Err(invalid(format!("{count} ids for {next} blocks and paths")));
        }
        let new = if known.is_none() { &table.blocks[..] } else { &[] };
        for b in new {
            let bytes = u32::try_from(b.operand_bytes()).map_err(too_many)?;
            self.operand_bytes.push(bytes);
            self.layout.blocks.push(BlockLayout::new(&b.ops));
            self.info.blocks.push(Block {
                first_op: u32::try_from(self.info.ops.len()).map_err(too_many)?,
                op_count: u32::try_from(b.ops.len()).map_err(too_many)?,
                ..Block::default()
            });
            self.info.ops.extend(&b.ops);
        }
        self.functions.extend(table.fast.drain(..).map(|mut table| {
            Arc::make_mut(&mut table.code).place(first_block, globals);
            let compiled = OnceLock::new();
            Function { table, compiled }
        }));
        let first_path = self.path_count;
        self.path_count = first_path
            .checked_add(count - blocks)
            .ok_or_else(|| invalid("more than 2^32 paths".into()))?;
        self.paths.grow((count - blocks) as usize);
        if count > 0 {
            let index = u32::try_from(self.modules.len()).map_err(too_many)?;
            let modules = &self.modules;
            self.by_base.retain(|(_, m)| {
                let m = &modules[*m as usize];
                !overlap(base, count, m.base, m.count)
            });
            let at = self.by_base.partition_point(|b| b.0 < base);
            self.by_base.insert(at, (base, index));
        }
        self.modules.push(Module { base, count, first_block, blocks, first_path, starts });
        Ok(first_block)
    }

    /// Number of blocks in all modules.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.operand_bytes.len()
    }

    /// Number of paths in all modules, whether they occur or not.
    #[must_use]
    pub fn path_count(&self) -> u32 {
        self.path_count
    }

    /// The plan of a path by its dense number.
    ///
    /// # Errors
    /// There is no such path, or the table of its module is wrong.
    pub fn path(&self, number: u32) -> Result<Plan> {
        let none = || invalid(format!("path {number} of {}", self.path_count));
        let of = |m: &&Module| number.wrapping_sub(m.first_path) < m.count - m.blocks;
        let m = self.modules.iter().find(of).ok_or_else(none)?;
        self.resolve(m, m.blocks + (number - m.first_path))
    }

    /// The plan of a path whose id has been met, by its dense number.
    #[inline]
    pub(crate) fn met(&self, number: u32) -> Option<&Plan> {
        let path = self.paths.get(number as usize)?.as_ref().ok()?;
        Some(&path.plan)
    }

    /// A path whose id has been met, and its function, both ready to be walked.
    pub(crate) fn compiled(&self, number: u32) -> Option<(&CompiledFunction, &CompiledPath)> {
        let path = self.paths.get(number as usize)?.as_ref().ok()?;
        let f = &self.functions[path.plan.path.function as usize];
        let compile = || CompiledFunction::new(&f.table.code, &self.info, &self.layout);
        let function = f.compiled.get_or_init(compile);
        let compile = || CompiledPath::new(path.plan.path.clone(), function);
        Some((function, path.compiled.get_or_init(compile)))
    }

    /// The function in fast form with this dense index.
    #[must_use]
    pub fn function(&self, index: u32) -> &FastFunction {
        &self.functions[index as usize].table
    }

    /// What all functions in fast form execute, by dense index.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<PathFunction>> {
        self.functions.iter().map(|f| &f.table.code)
    }

    /// Memory operations of a block.
    #[must_use]
    pub fn ops(&self, block: u32) -> &[MemOp] {
        self.info.ops_of(BlockId::new(block))
    }

    /// What `id` means; `None` if it belongs to no module.
    #[inline]
    #[must_use]
    pub fn meaning(&self, id: u32) -> Option<Meaning<'_>> {
        if id < RESERVED_IDS {
            return event::field_bytes(id).map(|field_bytes| Meaning::Event { field_bytes });
        }
        // For an id before the first base, the last range may match, because it may wrap.
        let after = self.by_base.partition_point(|b| b.0 <= id);
        let at = after.checked_sub(1).or(self.by_base.len().checked_sub(1))?;
        let m = &self.modules[self.by_base[at].1 as usize];
        let k = id.wrapping_sub(m.base);
        if k >= m.count {
            return None;
        }
        if k < m.blocks {
            let block = m.first_block + k;
            let operand_bytes = self.operand_bytes[block as usize];
            return Some(Meaning::Block { block, operand_bytes });
        }
        let number = m.first_path + (k - m.blocks);
        let path = self.paths.get_or_init(number as usize, || {
            let plan = self.resolve(m, k)?;
            let compiled = OnceLock::new();
            Ok(Path { plan, compiled })
        });
        let path = path?.as_ref();
        Some(Meaning::Path { number, plan: path.map(|p| &p.plan) })
    }

    #[cold]
    fn resolve(&self, m: &Module, k: u32) -> Result<Plan> {
        let at = m.starts.partition_point(|s| s.0 <= k).checked_sub(1);
        let at = at.ok_or_else(|| invalid(format!("path id {k} without a start")))?;
        let (first, function, start) = m.starts[at];
        let table = &self.functions[function as usize].table;
        table.plan(function, start as usize, k - first)
    }
}

fn operand_count(b: &crate::table::Block) -> usize {
    b.ops.iter().map(MemOp::operand_count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Block, Function};

    fn table(blocks: usize) -> ModuleTable {
        ModuleTable {
            functions: vec![Function::default()],
            blocks: vec![Block::default(); blocks],
            ..ModuleTable::default()
        }
    }

    #[test]
    fn every_id_finds_its_module_also_where_ids_wrap() {
        let modules =
            [(0x50_0000, 3), (0x20_0000, 5), (0xffff_fff0, 16), (0x20_0005, 1), (0x70_0000, 0)];
        let mut program = Program::default();
        let mut expected = Vec::new();
        for (base, count) in modules {
            let first = program.add(base, count, &mut table(count as usize), &[], None).unwrap();
            expected.extend((0..count).map(|k| (base.wrapping_add(k), first + k)));
        }
        for (id, index) in expected {
            let meaning = program.meaning(id);
            let found = matches!(meaning, Some(Meaning::Block { block, .. }) if block == index);
            assert!(found, "{id:#x}: {meaning:?}");
        }
        for id in [0x100, 0x1f_ffff, 0x20_0006, 0x50_0003, 0x70_0000, 0xffff_ffef] {
            assert!(program.meaning(id).is_none(), "{id:#x}");
        }
        assert!(program.add(0xffff_ffff, 2, &mut table(2), &[], None).is_err());
    }

    #[test]
    fn a_module_takes_the_ids_of_those_it_was_loaded_in_place_of() {
        let mut program = Program::default();
        let mut add =
            |base, count: u32| program.add(base, count, &mut table(count as usize), &[], None);
        assert_eq!((add(0x20_0000, 4), add(0x20_0004, 4)), (Ok(0), Ok(4)));
        assert_eq!((add(0x20_0002, 4), add(0x20_0008, 1)), (Ok(8), Ok(12)));
        let block = |id| match program.meaning(id) {
            Some(Meaning::Block { block, .. }) => Some(block),
            _ => None,
        };
        let found = [0x20_0000, 0x20_0002, 0x20_0005, 0x20_0006, 0x20_0008].map(block);
        assert_eq!(found, [None, Some(8), Some(11), None, Some(12)]);
    }
}

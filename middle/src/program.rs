//! The static table of the program, merged from all module tables of a trace.

use std::collections::HashMap;
use std::sync::Arc;

use contech_trace::file::{ModuleLoad, checksum};
use contech_trace::program::{Program as Ids, overlap};
use contech_trace::table::{BLOCK_CHECKED, ModuleTable};
use taskgraph::path::{Path, PathTable};
use taskgraph::{BlockId, FrameEncoder, FunctionId, MemOp, StaticInfo};

use crate::demangle::demangle;

/// A snapshot of what one needs to decode and encode a chunk. It never changes.
#[derive(Debug)]
pub(crate) struct Program {
    /// Number of the snapshot; later snapshots have higher numbers.
    pub(crate) version: u64,
    /// The meaning of the recorded ids.
    pub(crate) ids: Arc<Ids>,
    pub(crate) info: Arc<StaticInfo>,
    /// The paths that occur, in the form of the graph.
    pub(crate) paths: Arc<PathTable>,
    /// For each block, whether it is also recorded in naive form.
    checked: Vec<bool>,
    /// Path, load address and process of each object with modules.
    pub(crate) objects: Vec<(String, u64, u32)>,
}

impl Program {
    /// Whether a block is also recorded in naive form.
    pub(crate) fn is_checked(&self, block: u32) -> bool {
        self.checked.get(block as usize).is_some_and(|c| *c)
    }

    /// Whether any block is also recorded in naive form.
    pub(crate) fn has_checked(&self) -> bool {
        self.checked.contains(&true)
    }

    /// Returns a path by its dense number, in the form of the graph.
    pub(crate) fn path(&self, number: u32) -> Option<Path> {
        Some(self.ids.path(number).ok()?.path)
    }

    /// Function, file and line of a block.
    pub(crate) fn place(&self, block: u32) -> Option<(&str, &str, u32)> {
        let info = &self.info;
        let b = info.block(BlockId::new(block))?;
        let function = info.function(b.function)?;
        Some((&function.name, info.file_of(b.function), info.line_of(b)))
    }

    pub(crate) fn encoder(&self) -> FrameEncoder {
        FrameEncoder::with_paths(Arc::clone(&self.paths))
    }
}

/// A module as it was announced.
#[derive(Debug)]
struct Loaded {
    base: u32,
    count: u32,
    /// Checksum of the encoded table. It shows that the same module is announced again.
    sum: u64,
    globals: Vec<u64>,
    /// Number of the process that the module belongs to, in the order the processes are read.
    space: u32,
    /// Another module was loaded in this one's place.
    gone: bool,
    first_block: u32,
}

/// Adds modules as their chunks are read.
#[derive(Debug, Default)]
pub(crate) struct ProgramBuilder {
    /// All modules so far. They are copied where chunks in flight share them, which happens now and
    /// then in a program that loads modules while it runs.
    ids: Arc<Ids>,
    info: Arc<StaticInfo>,
    checked: Vec<bool>,
    files: HashMap<String, u32>,
    /// The source name of each linkage name so far.
    names: HashMap<String, String>,
    /// The number of each name of an inlined function so far.
    numbers: HashMap<String, u32>,
    loaded: Vec<Loaded>,
    space: u32,
    versions: u64,
    objects: Vec<(String, u64, u32)>,
    current: Option<Arc<Program>>,
}

impl ProgramBuilder {
    /// Adds a module. Nothing changes if the module was already added.
    ///
    /// # Errors
    /// The text says what is wrong with the module. Blocks with its ids then cannot be read.
    pub(crate) fn add(&mut self, load: ModuleLoad) -> Result<(), String> {
        let identity = (load.id_base, load.id_count, checksum(&load.table));
        let same = |l: &Loaded| {
            (l.base, l.count, l.sum) == identity && l.globals == load.globals && !l.gone
        };
        if self.here().any(same) {
            return Ok(());
        }
        let fault = |e: contech_trace::Error| format!("{}: {e}", load.object);
        let mut table = ModuleTable::decode(&load.table).map_err(fault)?;
        let (base, count, sum) = identity;
        let known = self.known(sum);
        let ids = Arc::make_mut(&mut self.ids);
        ids.add(base, count, &mut table, &load.globals, known).map_err(fault)?;
        let next_block = u32::try_from(self.info.blocks.len()).unwrap_or(u32::MAX);
        let first_block = known.unwrap_or(next_block);
        if known.is_none() {
            self.merge(table).ok_or_else(|| {
                format!("{}: the tables of all modules exceed 32 bits", load.object)
            })?;
        }
        let (globals, space) = (load.globals, self.space);
        let object = (load.object, load.load_address, space);
        if !self.objects.contains(&object) {
            self.objects.push(object);
        }
        for l in self.loaded.iter_mut().filter(|l| l.space == space) {
            l.gone |= overlap(base, count, l.base, l.count);
        }
        self.loaded.push(Loaded { base, count, sum, globals, space, gone: false, first_block });
        self.current = None;
        Ok(())
    }

    /// The modules of the current process.
    fn here(&self) -> impl Iterator<Item = &Loaded> {
        self.loaded.iter().filter(|l| l.space == self.space)
    }

    /// Returns the first block of the module if another process has it too, or this process had it
    /// before.
    fn known(&self, sum: u64) -> Option<u32> {
        let same = |l: &&Loaded| l.sum == sum && (l.space != self.space || l.gone);
        self.loaded.iter().find(same).map(|l| l.first_block)
    }

    /// Says that the modules added from now on are those of another process.
    pub(crate) fn begin_space(&mut self) {
        self.space += 1;
        self.current = None;
        Arc::make_mut(&mut self.ids).begin_space();
    }

    /// Whether any module has blocks.
    pub(crate) fn has_blocks(&self) -> bool {
        !self.info.blocks.is_empty()
    }

    /// Whether any module is also recorded in naive form.
    pub(crate) fn has_checked(&self) -> bool {
        self.checked.contains(&true)
    }

    /// The program as it is known now. This is cheap if no module was added since the last
    /// snapshot.
    pub(crate) fn snapshot(&mut self) -> Arc<Program> {
        if let Some(p) = &self.current {
            return Arc::clone(p);
        }
        let info = Arc::clone(&self.info);
        let ids = Arc::clone(&self.ids);
        // The functions were checked when they were added, so there is no error. Without functions,
        // every segment would be an error.
        let functions = ids.functions().cloned().collect();
        let table = PathTable::new(&info, functions, ids.path_count() as usize)
            .or_else(|_| PathTable::new(&info, Vec::new(), 0));
        let program = Arc::new(Program {
            version: self.versions,
            ids,
            paths: Arc::new(table.unwrap_or_default()),
            info,
            checked: self.checked.clone(),
            objects: self.objects.clone(),
        });
        self.versions += 1;
        self.current = Some(Arc::clone(&program));
        program
    }

    /// Merges a module's table. Returns `None` if an index does not fit.
    fn merge(&mut self, table: ModuleTable) -> Option<()> {
        let Self { info, files, names, numbers, checked, .. } = self;
        let info = Arc::make_mut(info);
        let mut source_name = |linkage: String| match names.get(&linkage) {
            Some(name) => name.clone(),
            None => {
                let name = demangle(&linkage);
                names.insert(linkage, name.clone());
                name
            }
        };
        let module = u32::try_from(info.modules.len()).ok()?;
        info.modules.push(taskgraph::Module { name: table.name, unrecorded: table.unrecorded });
        let first_function = u32::try_from(info.functions.len()).ok()?;
        for f in table.functions {
            info.functions.push(taskgraph::Function {
                name: source_name(f.name),
                file: numbered(files, &mut info.files, f.file)?,
                line: f.line,
                module,
            });
        }
        let first_call = u32::try_from(info.inlined.len()).ok()?;
        let call_of = |number: u32| match number {
            0 => Some(0),
            _ => first_call.checked_add(number),
        };
        for call in table.inlined {
            info.inlined.push(taskgraph::Inlined {
                name: numbered(numbers, &mut info.names, source_name(call.name))?,
                file: numbered(files, &mut info.files, call.file)?,
                line: call.line,
                within: call_of(call.within)?,
            });
        }
        for b in table.blocks {
            checked.push(b.flags & BLOCK_CHECKED != 0);
            info.blocks.push(taskgraph::Block {
                function: FunctionId::new(first_function.checked_add(b.function)?),
                line: b.line,
                inlined: call_of(b.inlined)?,
                first_op: u32::try_from(info.ops.len()).ok()?,
                op_count: u32::try_from(b.ops.len()).ok()?,
                flags: b.flags & !BLOCK_CHECKED,
                ir_ops: b.ir_ops,
                call: match b.call {
                    None => None,
                    Some(c) => Some(taskgraph::CallSite {
                        callee: source_name(c.callee),
                        line: c.line,
                        inlined: call_of(c.inlined)?,
                    }),
                },
            });
            for op in b.ops {
                let inlined = call_of(op.inlined)?;
                info.ops.push(MemOp { inlined, ..op });
            }
        }
        Some(())
    }
}

/// The number of a text in a list, to which it is added if it is not known. Returns `None` if the
/// number does not fit.
fn numbered(known: &mut HashMap<String, u32>, list: &mut Vec<String>, text: String) -> Option<u32> {
    let next = u32::try_from(list.len()).ok()?;
    Some(*known.entry(text).or_insert_with_key(|text| {
        list.push(text.clone());
        next
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contech_trace::program::Meaning;
    use contech_trace::table::{Block, Function};

    fn module(name: &str, base: u32, blocks: usize) -> ModuleLoad {
        let table = ModuleTable {
            name: name.into(),
            functions: vec![Function {
                name: format!("f_{name}"),
                file: "shared.h".into(),
                line: 1,
            }],
            blocks: vec![Block::default(); blocks],
            ..ModuleTable::default()
        };
        ModuleLoad {
            id_base: base,
            id_count: u32::try_from(blocks).unwrap(),
            object: name.into(),
            load_address: 0,
            globals: Vec::new(),
            table: table.encode(),
        }
    }

    #[test]
    fn a_module_is_one_whether_it_is_told_twice_or_comes_back_in_its_place() {
        let mut b = ProgramBuilder::default();
        b.add(module("a", 0x10_0000, 3)).unwrap();
        let first = b.snapshot();
        b.add(module("a", 0x10_0000, 3)).unwrap();
        assert_eq!(b.snapshot().version, first.version);
        b.add(module("b", 0x20_0000, 2)).unwrap();
        let second = b.snapshot();
        assert!(second.version > first.version);
        assert_eq!(second.info.blocks.len(), 5);
        assert_eq!(second.info.files, ["shared.h"]);
        assert_eq!(second.info.blocks[4].function, FunctionId::new(1));
        second.info.validate().unwrap();
        // Another module is loaded in the place of the first one, which then comes back.
        b.add(module("c", 0x10_0001, 3)).unwrap();
        b.add(module("a", 0x10_0000, 3)).unwrap();
        let third = b.snapshot();
        assert_eq!(third.info.blocks.len(), 8);
        for (program, id, expected) in [
            (&second, 0x10_0001, Some(1)),
            (&third, 0x10_0001, Some(1)),
            (&third, 0x10_0003, None),
            (&third, 0x20_0000, Some(3)),
        ] {
            let block = match program.ids.meaning(id) {
                Some(Meaning::Block { block, .. }) => Some(block),
                _ => None,
            };
            assert_eq!(block, expected, "{id:#x}");
        }
        let error = b.add(module("d", 0xff, 1)).unwrap_err();
        assert!(error.starts_with("d: ") && error.contains("reserved"), "{error}");
    }
}

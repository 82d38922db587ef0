//! Paths: the compact stored form of execution, in which whole runs through a function take the
//! place of single blocks.
//!
//! A record of a frame is one execution of a path: its number, and the values ([`Leaf`]) that
//! operands are computed from. Blocks and accesses are computed when they are read. The path tables
//! ([`PathTable`]) describe functions and their paths; the producer of the graph supplies them, and
//! the file holds those that are used.

mod file;

use std::collections::BTreeMap;
use std::sync::Arc;

use contech_program::Room;
pub use contech_program::path::{
    Again, Expr, Leaf, Nest, Path, PathFunction, PathLoop, PathNode, State, Step,
};
pub(crate) use contech_program::path::{
    CompiledFunction, CompiledLoop, CompiledNode, CompiledPath, Entered, Followed, MOST_WRAPPING,
    NO_BLOCK, NestShape, Recorded, Turns, Visit, Walk,
};
use rustc_hash::FxHashMap;

use crate::error::{Result, malformed, misuse};
use crate::frame::Layout;
use crate::statics::StaticInfo;

/// All functions and paths of a program, for
/// [`FrameEncoder::with_paths`](crate::FrameEncoder::with_paths).
#[derive(Debug, Default)]
pub struct PathTable {
    pub(crate) info: Arc<StaticInfo>,
    pub(crate) layout: Arc<Layout>,
    functions: Vec<Arc<PathFunction>>,
    /// The functions of the paths that occur.
    compiled: Room<Arc<CompiledFunction>>,
    paths: Room<Option<Known>>,
}

/// A path that occurs, and its function.
type Known = Box<(CompiledPath, Arc<CompiledFunction>)>;

impl PathTable {
    /// A table with room for `paths` paths, which are defined when they first occur.
    ///
    /// # Errors
    /// A function that contradicts itself or `info`.
    pub fn new(
        info: &Arc<StaticInfo>,
        functions: Vec<Arc<PathFunction>>,
        paths: usize,
    ) -> Result<Self> {
        let table = Self::of_blocks(Arc::clone(info));
        for (i, f) in functions.iter().enumerate() {
            check(i, f, &table.layout).map_err(|e| misuse(format!("path tables: {e}")))?;
        }
        Ok(Self {
            compiled: Room::new(functions.len()),
            functions,
            paths: Room::new(paths),
            ..table
        })
    }

    /// A table without paths, for a program whose executions are those of blocks.
    pub(crate) fn of_blocks(info: Arc<StaticInfo>) -> Self {
        Self { layout: Arc::new(Layout::new(&info)), info, ..Self::default() }
    }

    /// Room for this many paths.
    pub(crate) fn capacity(&self) -> usize {
        self.paths.size()
    }

    /// The path with this number, and its function. `define` describes it if it is not known yet.
    /// `None` if there is no room for it, or if the description contradicts its function.
    #[inline]
    pub(crate) fn path(
        &self,
        number: u32,
        define: impl FnOnce() -> Option<Path>,
    ) -> Option<(&CompiledPath, &CompiledFunction)> {
        let known = self.paths.get_or_init(number as usize, || {
            let path = define()?;
            let at = path.function as usize;
            let source = self.functions.get(at).filter(|f| path.check(f))?;
            let compile = || Arc::new(CompiledFunction::new(source, &self.info, &self.layout));
            let function = Arc::clone(self.compiled.get_or_init(at, compile)?);
            Some(Box::new((CompiledPath::new(path, &function), function)))
        });
        let (path, function) = known?.as_deref()?;
        Some((path, function))
    }

    /// The payload that describes these paths; `define` describes those that are not known yet.
    pub(crate) fn encode(
        &self,
        used: impl Iterator<Item = u32>,
        define: impl Fn(u32) -> Option<Path>,
    ) -> Result<Vec<u8>> {
        let (mut functions, mut paths) = (BTreeMap::new(), BTreeMap::new());
        for number in used {
            let path = self.path(number, || define(number));
            let (path, _) = path.ok_or_else(|| misuse(format!("path {number} is not known")))?;
            let function = path.path.function;
            functions.insert(function, &*self.functions[function as usize]);
            paths.insert(number, &path.path);
        }
        file::encode(&functions, &paths)
    }
}

fn check(i: usize, f: &PathFunction, layout: &Layout) -> Result<(), String> {
    let operands = |b: crate::BlockId| layout.blocks.get(b.index()).map(|l| l.operands as usize);
    f.check(operands, 0).map_err(|e| format!("function {i}: {e}"))
}

/// The paths of a graph that is read, numbered densely.
#[derive(Debug, Default)]
pub(crate) struct PathSet {
    pub(crate) functions: Vec<CompiledFunction>,
    pub(crate) paths: Vec<CompiledPath>,
    /// The index of each path number in the file.
    by_number: FxHashMap<u32, u32>,
    function_by_number: FxHashMap<u32, u32>,
}

impl PathSet {
    pub(crate) fn decode(payload: &[u8], info: &StaticInfo, layout: &Layout) -> Result<Self> {
        let bad = |detail: String| malformed("path tables", detail);
        let (functions, paths) = file::decode(payload)?;
        let index = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut function_by_number = FxHashMap::default();
        let mut sources = Vec::with_capacity(functions.len());
        let mut compiled = Vec::with_capacity(functions.len());
        for (i, (number, f)) in functions.into_iter().enumerate() {
            check(i, &f, layout).map_err(bad)?;
            function_by_number.insert(number, index(i));
            compiled.push(CompiledFunction::new(&f, info, layout));
            sources.push(f);
        }
        let mut this = Self {
            functions: compiled,
            paths: Vec::with_capacity(paths.len()),
            by_number: FxHashMap::default(),
            function_by_number,
        };
        for (i, (number, mut path)) in paths.into_iter().enumerate() {
            let function = this.function_by_number.get(&path.function).copied();
            let Some(at) = function.filter(|at| path.check(&sources[*at as usize])) else {
                return Err(bad(format!("path {number}")));
            };
            path.function = at;
            this.by_number.insert(number, index(i));
            this.paths.push(CompiledPath::new(path, &this.functions[at as usize]));
        }
        Ok(this)
    }

    /// The index of the path with this number in the file.
    #[inline]
    pub(crate) fn index(&self, number: u32) -> Option<u32> {
        self.by_number.get(&number).copied()
    }

    /// The index of the function with this number in the file.
    pub(crate) fn function(&self, number: u32) -> Option<u32> {
        self.function_by_number.get(&number).copied()
    }

    /// The path at an index, and its function.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<(&CompiledPath, &CompiledFunction)> {
        let path = self.paths.get(index)?;
        Some((path, &self.functions[path.path.function as usize]))
    }
}

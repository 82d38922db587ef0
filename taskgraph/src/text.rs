//! A readable text form of a graph, for golden tests and for looking at small graphs.
//!
//! It has one line per task. Contexts come one after the other, each in program order, and stored predecessors stand
//! after `<-`:
//!
//! ```text
//! 0:0 work
//! 0:1 create thread_create ctx#1
//! 0:2 sync mutex_lock obj#1 <- 1:2
//! ```
//!
//! Nothing in the text depends on time or on where memory happened to be (unless asked for). Tasks are listed by id
//! and not in the order of the file, which follows start times. Synchronisation objects are `obj#1`, `obj#2`, ... in
//! order of appearance.

use std::collections::HashMap;
use std::fmt::Write;
use std::str::FromStr;

use crate::action::{Action, BlockExec};
use crate::error::{Error, ErrorKind, Result, misuse};
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};
use crate::statics::StaticInfo;
use crate::task::Task;
use crate::{SyncOp, TaskKind};

impl FromStr for TaskId {
    type Err = Error;

    /// Reads `CONTEXT:SEQUENCE`, both decimal.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || ErrorKind::TaskIdText {
            text: text.to_owned(),
        };
        let (context, seq) = text.split_once(':').ok_or_else(bad)?;
        let number = |s: &str| s.parse::<u32>().map_err(|_| bad());
        Ok(Self::new(ContextId::new(number(context)?), number(seq)?))
    }
}

/// What the text form shows in addition to the tasks and edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// Start and end in nanoseconds: `@100..250`.
    pub times: bool,
    /// Totals of work tasks: `blocks=2 reads=3 writes=1 bytes=32`.
    pub counts: bool,
    /// The actions of work tasks, one indented line each; equal lines in a row are written once, with `x3`. Blocks
    /// are `function:line` and the accesses `R8`, `W4`.
    pub blocks: bool,
    /// Addresses as they are: those of synchronisation objects instead of `obj#1`, and those of accesses as
    /// `R8@0x1000`.
    pub addresses: bool,
}

/// The text form of a graph.
///
/// # Errors
/// Damage of the graph.
pub fn to_text<D: AsRef<[u8]>>(graph: &TaskGraph<D>, options: TextOptions) -> Result<String> {
    let mut out = String::new();
    write_text(graph, options, &mut out)?;
    Ok(out)
}

/// Writes the text form of a graph piece by piece.
///
/// # Errors
/// The graph is damaged, or writing to `out` fails.
pub fn write_text<D: AsRef<[u8]>>(
    graph: &TaskGraph<D>,
    options: TextOptions,
    out: &mut impl Write,
) -> Result<()> {
    let mut objects = HashMap::new();
    let refused = |_| misuse("the text form could not be written");
    for context in graph.contexts() {
        for task in graph.tasks_of(context.id) {
            let task = task?;
            let line = task_line(&task, options, &mut objects);
            writeln!(out, "{line}").map_err(refused)?;
            if options.blocks {
                let mut lines = Repeats {
                    out: &mut *out,
                    last: String::new(),
                    times: 0,
                    failed: false,
                };
                task.for_each_action(|action| {
                    lines.push(action_line(graph.info(), &action, options))
                })?;
                lines.flush();
                if lines.failed {
                    return Err(refused(std::fmt::Error));
                }
            }
        }
    }
    Ok(())
}

fn task_line<D: AsRef<[u8]>>(
    task: &Task<'_, D>,
    options: TextOptions,
    objects: &mut HashMap<u64, usize>,
) -> String {
    let mut line = format!("{} {}", task.id(), task.kind());
    let mut add = |part: String| {
        line.push(' ');
        line.push_str(&part);
    };
    if task.op() != SyncOp::None && task.op().name() != task.kind().name() {
        add(task.op().to_string());
    }
    match task.kind() {
        TaskKind::Work => {}
        TaskKind::Create | TaskKind::Join => add(format!("ctx#{}", task.object())),
        _ if options.addresses => add(format!("{:#x}", task.object())),
        _ if task.object() == 0 => {}
        _ => {
            let next = objects.len() + 1;
            add(format!(
                "obj#{}",
                objects.entry(task.object()).or_insert(next)
            ));
        }
    }
    if options.counts && task.kind() == TaskKind::Work {
        let (blocks, bytes) = (task.block_count(), task.bytes_accessed());
        add(format!(
            "blocks={blocks} reads={} writes={} bytes={bytes}",
            task.read_count(),
            task.write_count()
        ));
    }
    if options.times {
        add(format!("@{}..{}", task.start_ns(), task.end_ns()));
    }
    if !task.stored_dependencies().is_empty() {
        add("<-".into());
        task.stored_dependencies()
            .iter()
            .for_each(|d| add(d.to_string()));
    }
    line
}

fn action_line(info: &StaticInfo, action: &Action<'_>, options: TextOptions) -> String {
    let at = |addr: &u64| {
        if options.addresses {
            format!("@{addr:#x}")
        } else {
            String::new()
        }
    };
    match action {
        Action::Block(block) => block_line(info, block, at),
        Action::Alloc { addr, size, kind } => format!("{} {size}{}", kind.name(), at(addr)),
        Action::Free { addr } => format!("free{}", at(addr)),
        Action::Map { addr, size } => format!("map {size}{}", at(addr)),
        Action::Fresh { addr, size } => format!("fresh {size}{}", at(addr)),
        Action::Unmap { addr, size } => format!("unmap {size}{}", at(addr)),
        Action::Sync { op, object } => format!("{op}{}", at(object)),
    }
}

fn block_line(info: &StaticInfo, exec: &BlockExec<'_>, at: impl Fn(&u64) -> String) -> String {
    let block = info.block(exec.id());
    let name = block
        .and_then(|b| info.function(b.function))
        .map_or("?", |f| f.name.as_str());
    let mut line = format!("{name}:{}", block.map_or(0, |b| info.line_of(b)));
    for access in exec.accesses() {
        let letter = if access.write { 'W' } else { 'R' };
        line.push_str(&format!(" {letter}{}{}", access.size, at(&access.addr)));
    }
    line
}

/// Writes indented lines, and equal lines in a row only once.
struct Repeats<'o, W> {
    out: &'o mut W,
    last: String,
    times: u64,
    failed: bool,
}

impl<W: Write> Repeats<'_, W> {
    fn push(&mut self, line: String) {
        if self.times > 0 && self.last == line {
            self.times += 1;
            return;
        }
        self.flush();
        self.last = line;
        self.times = 1;
    }

    fn flush(&mut self) {
        let written = match self.times {
            0 => Ok(()),
            1 => writeln!(self.out, "  {}", self.last),
            n => writeln!(self.out, "  {} x{n}", self.last),
        };
        self.failed |= written.is_err();
        self.times = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::GraphBuilder;
    use crate::op::{MemOp, OpKind};
    use contech_program::AllocKind;

    fn graph() -> TaskGraph<Vec<u8>> {
        let mut b = GraphBuilder::new();
        let body = b.block("loop", "a.c", 7, &[MemOp::load(8), MemOp::store(4)]);
        let copy = b.block("main", "a.c", 9, &[MemOp::new(OpKind::Copy, 0, 0)]);
        let main = b.context("main");
        b.work(main, 0, 10, |w| {
            w.alloc(0x500, 64, AllocKind::Calloc);
            (0..3).for_each(|i| w.block(body, &[0x500 + 8 * i, 0x900]));
            w.block(copy, &[0x500, 0x600, 24]);
            w.free(0x500);
        });
        let child = b.create(main);
        let unlock = b.sync(main, 0xbeef, SyncOp::MutexUnlock);
        b.work(child, 12, 20, |_| {});
        let lock = b.sync(child, 0xbeef, SyncOp::MutexLock);
        b.sync(child, 0xf00d, SyncOp::SemPost);
        b.edge(unlock, lock);
        b.barrier(&[main, child], 0xbaa);
        b.work(child, 20, 30, |_| {});
        b.join(main, child);
        b.build().unwrap()
    }

    #[test]
    fn tasks_are_listed_by_id_with_objects_named_in_order_of_appearance() {
        let expected = "\
0:0 work
0:1 create thread_create ctx#1
0:2 sync mutex_unlock obj#1
0:3 barrier obj#2 <- 1:2
0:4 join thread_join ctx#1 <- 1:3
1:0 work <- 0:1
1:1 sync mutex_lock obj#1 <- 0:2
1:2 sync sem_post obj#3
1:3 work <- 0:3
";
        assert_eq!(to_text(&graph(), TextOptions::default()).unwrap(), expected);
    }

    #[test]
    fn blocks_show_their_place_and_sizes_and_fold_repeats() {
        let options = TextOptions {
            blocks: true,
            counts: true,
            ..TextOptions::default()
        };
        let text = to_text(&graph(), options).unwrap();
        let expected = "\
0:0 work blocks=4 reads=4 writes=4 bytes=84
  calloc 64
  loop:7 R8 W4 x3
  main:9 R24 W24
  free
0:1 create";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn times_and_addresses_are_shown_when_asked_for() {
        let options = TextOptions {
            times: true,
            addresses: true,
            blocks: true,
            counts: false,
        };
        let text = to_text(&graph(), options).unwrap();
        for part in [
            "0:0 work @0..10\n",
            "\n  loop:7 R8@0x508 W4@0x900\n",
            "\n1:1 sync mutex_lock 0xbeef @20..20 <- 0:2\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

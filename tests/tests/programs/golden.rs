//! Golden graphs: the tasks and edges of a run in text, compared with the file under `graphs/`.
//!
//! They are specifications, written against the construct table of the architecture and reviewed by
//! hand before they are blessed. They have one line per task in program order, and number objects
//! by first appearance.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, bail, ensure};
use contech_tests::program::Program;
use contech_tests::scratch::entries;
use taskgraph::{Context, ContextId, SyncOp, TaskId, TaskKind};

use crate::tasks::Graph;

/// Compares a graph with the program's golden text; `CONTECH_BLESS=1` rewrites it instead, from the
/// first way in which the program is built.
pub(crate) fn compare(program: &Program, first: bool, graph: &Graph) -> Result<()> {
    let file = file_of(program);
    let got = shape(graph, is_rust(program))?;
    if env::var_os("CONTECH_BLESS").is_some() && first {
        fs::create_dir_all(file.with_file_name(""))?;
        fs::write(&file, &got)?;
        return Ok(());
    }
    let bless = format!(
        "if the new graph is right by the construct table, review it and run\n  \
         CONTECH_BLESS=1 cargo test -p contech-tests --test programs {}::",
        program.name
    );
    let want = fs::read_to_string(&file)
        .with_context(|| format!("no golden graph {}; got\n{got}\n{bless}", file.display()))?;
    if got != want {
        bail!("the graph is not {}\n{}{bless}", file.display(), difference(&want, &got));
    }
    Ok(())
}

/// The golden text of a program that has one.
pub(crate) fn text(program: &Program) -> Option<String> {
    fs::read_to_string(file_of(program)).ok()
}

/// Finds golden graphs that no program is compared with.
pub(crate) fn no_orphans(programs: &[Program]) -> Result<()> {
    for folder in ["graphs", "graphs/rust"] {
        for path in entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))? {
            let golden = |p: &Program| p.mode == "golden" && file_of(p) == path;
            let known = path.is_dir() || programs.iter().any(golden);
            ensure!(known, "{} belongs to no golden program", path.display());
        }
    }
    Ok(())
}

fn is_rust(program: &Program) -> bool {
    program.source.extension().is_some_and(|e| e == "rs")
}

fn file_of(program: &Program) -> PathBuf {
    let folder = if is_rust(program) { "graphs/rust" } else { "graphs" };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    folder.join(&program.name).with_extension("txt")
}

/// The graph's tasks, operations, objects and stored edges, without times, addresses and contents.
/// Contexts of Rust are numbered in the order of a walk from each to those it made.
///
/// Whether a context works after its last synchronisation depends on the optimiser, since a tail
/// call leaves nothing to do. So that Work task is shown only if something else leads to it, and a
/// Join's edge from a context's last task is shown as one from `CTX:end`. Sleeps and pauses are
/// left out, since their number depends on time, and so are, in Rust, operations on atomic
/// variables and futexes: they are the steps of std's locks and reference counts.
fn shape(graph: &Graph, in_rust: bool) -> Result<String> {
    let mut text = String::new();
    let mut objects = HashMap::new();
    let hidden = |op: SyncOp| match op {
        SyncOp::Sleep | SyncOp::Delay => true,
        SyncOp::Fence | SyncOp::FutexWait | SyncOp::FutexTimeout | SyncOp::FutexWake => in_rust,
        _ => in_rust && op.is_atomic() && op.kind() == TaskKind::Sync,
    };
    let works = |op: SyncOp| op == SyncOp::None || hidden(op);
    let order = if in_rust { order(graph) } else { graph.contexts().collect() };
    let contexts: HashMap<_, _> = order.iter().map(|c| c.id).zip(0u64..).collect();
    let numbers = numbers(graph, works, hidden)?;
    let named = |id: &TaskId| (contexts[&id.context], numbers[id]);
    let ends = graph.contexts().filter_map(|c| c.last_task());
    let ends: HashSet<_> = ends.map(|id| named(&id)).collect();
    let mut shown = HashSet::new();
    for context in order {
        for task in graph.tasks_of(context.id) {
            let task = task?;
            let (works, name) = (works(task.op()), named(&task.id()));
            let mut before = Vec::new();
            for id in task.dependencies()? {
                // Which of these edges follow from others, and are left out, depends on the
                // schedule.
                if !hidden(task.op()) && !hidden(graph.task(id)?.op()) {
                    before.push(named(&id));
                }
            }
            before.sort_unstable();
            let idle = works && name.1 > 0 && before.is_empty() && ends.contains(&name);
            if idle || !shown.insert(name) {
                continue;
            }
            write!(text, "{}:{} ", name.0, name.1)?;
            if works {
                text.push_str("work");
            } else {
                write!(text, "{} {}", task.kind(), task.op())?;
                let names_context = task.kind() == TaskKind::Create
                    || matches!(
                        task.op(),
                        SyncOp::ThreadJoin | SyncOp::ParallelEnd | SyncOp::TaskJoin
                    );
                // Marks and waits for several contexts have no object.
                let names_nothing = task.object() == 0 && SyncOp::ParallelBegin <= task.op();
                if names_context {
                    let object = task.object();
                    let known = u32::try_from(object).ok().map(ContextId::new);
                    let known = known.and_then(|id| contexts.get(&id));
                    write!(text, " context {}", known.unwrap_or(&object))?;
                } else if !names_nothing {
                    let next = objects.len() + 1;
                    write!(text, " obj#{}", objects.entry(task.object()).or_insert(next))?;
                }
            }
            let at_end = task.kind() == TaskKind::Join || depends(task.op());
            for (i, before) in before.iter().enumerate() {
                text.push_str(if i == 0 { " <- " } else { " " });
                if at_end && ends.contains(before) {
                    write!(text, "{}:end", before.0)?;
                } else {
                    write!(text, "{}:{}", before.0, before.1)?;
                }
            }
            text.push('\n');
        }
    }
    Ok(text)
}

/// The contexts in the order of a walk from each to those that it made.
fn order(graph: &Graph) -> Vec<Context> {
    let mut all: Vec<_> = graph.contexts().collect();
    all.sort_by_key(|c| Reverse((c.creator.map(|by| by.seq), c.id)));
    let made_by = |id: Option<ContextId>| {
        let made = move |c: &&Context| c.creator.map(|by| by.context) == id;
        all.iter().filter(made).cloned()
    };
    let (mut order, mut next): (Vec<Context>, Vec<_>) = (Vec::new(), made_by(None).collect());
    while let Some(context) = next.pop() {
        next.extend(made_by(Some(context.id)));
        order.push(context);
    }
    order
}

/// The number of each task in its context. What is hidden has that of the work around it, and so
/// has work that another executor goes on with, since which thread does depends on the schedule.
fn numbers(
    graph: &Graph,
    works: impl Fn(SyncOp) -> bool,
    hidden: impl Fn(SyncOp) -> bool,
) -> Result<HashMap<TaskId, u32>> {
    let same = |a, b| hidden(a) && works(b) || works(a) && hidden(b);
    let mut numbers = HashMap::new();
    for context in graph.contexts() {
        let (mut number, mut last) = (0, None);
        for task in graph.tasks_of(context.id) {
            let task = task?;
            let (op, executor) = (task.op(), task.executor());
            number += u32::from(last.is_some_and(|(last, by)| {
                let moved = by != executor && works(last) && works(op);
                !same(last, op) && !moved
            }));
            numbers.insert(task.id(), number);
            last = Some((op, executor));
        }
    }
    Ok(numbers)
}

/// Whether the operation comes after the whole of another OpenMP task.
fn depends(op: SyncOp) -> bool {
    (SyncOp::DependIn..=SyncOp::DependInoutset).contains(&op)
}

/// Both texts merged: lines that only the golden graph has begin with `-`, those that only this
/// graph has with `+`.
fn difference(want: &str, got: &str) -> String {
    let (want, got): (Vec<_>, Vec<_>) = (want.lines().collect(), got.lines().collect());
    let mut text = String::new();
    for line in &want {
        let mark = if got.contains(line) { ' ' } else { '-' };
        let _ = writeln!(text, "{mark} {line}");
    }
    for line in got.iter().filter(|l| !want.contains(l)) {
        let _ = writeln!(text, "+ {line}");
    }
    text
}

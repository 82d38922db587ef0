//! Golden graphs: the tasks and edges of a run in text, compared with the file under `graphs/`.
//!
//! They are specifications, written against the construct table of the architecture and reviewed by hand before they
//! are blessed. They have one line per task in program order, and number objects by first appearance.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, bail};
use contech_tests::program::{Mode, Program};
use taskgraph::{SyncOp, TaskId, TaskKind};

use crate::tasks::Graph;

/// Compares a graph with the program's golden text; `CONTECH_BLESS=1` rewrites it instead.
pub(crate) fn compare(program: &Program, level: &str, graph: &Graph) -> Result<()> {
    let file = graphs_dir().join(&program.name).with_extension("txt");
    let got = shape(graph)?;
    let first = program.levels.first().is_some_and(|l| l == level);
    if env::var_os("CONTECH_BLESS").is_some() && first {
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
        bail!(
            "the graph is not {}\n{}{bless}",
            file.display(),
            difference(&want, &got)
        );
    }
    Ok(())
}

/// Finds golden graphs that no program is compared with.
pub(crate) fn no_orphans(programs: &[Program]) -> Result<(), String> {
    let entries = fs::read_dir(graphs_dir()).map_err(|e| e.to_string())?;
    for entry in entries.flatten() {
        let path = entry.path();
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !programs
            .iter()
            .any(|p| p.name == stem && p.mode == Mode::Golden)
        {
            return Err(format!("{} belongs to no golden program", path.display()));
        }
    }
    Ok(())
}

fn graphs_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs")
}

/// The graph's tasks, operations, objects and stored edges, without times, addresses and contents.
///
/// Whether a context works after its last synchronisation depends on the optimiser, since a tail call leaves nothing
/// to do. So that Work task is shown only if something else leads to it, and a Join's edge from a context's last task
/// is shown as one from `CTX:end`. Sleeps are left out, since their number depends on time.
fn shape(graph: &Graph) -> Result<String> {
    let mut text = String::new();
    let mut objects = HashMap::new();
    let numbers = numbers(graph)?;
    let named = |id: &TaskId| match numbers.get(id) {
        Some(number) => format!("{}:{number}", id.context),
        None => id.to_string(),
    };
    let mut shown = HashSet::new();
    let last: HashSet<TaskId> = graph.contexts().filter_map(|c| c.last_task()).collect();
    for context in graph.contexts() {
        for task in graph.tasks_of(context.id) {
            let task = task?;
            let id = task.id();
            let before = task.dependencies()?;
            let idle = task.kind() == TaskKind::Work && id.seq > 0 && before.is_empty();
            if idle && last.contains(&id) {
                continue;
            }
            if task.op() == SyncOp::Sleep || !shown.insert(named(&id)) {
                continue;
            }
            write!(text, "{} {}", named(&id), task.kind())?;
            if task.kind() != TaskKind::Work {
                write!(text, " {}", task.op())?;
                let names_context = task.kind() == TaskKind::Create
                    || matches!(
                        task.op(),
                        SyncOp::ThreadJoin | SyncOp::ParallelEnd | SyncOp::TaskJoin
                    );
                // Marks and waits for several contexts have no object.
                let names_nothing = task.object() == 0 && SyncOp::ParallelBegin <= task.op();
                if names_context {
                    write!(text, " context {}", task.object())?;
                } else if !names_nothing {
                    let next = objects.len() + 1;
                    write!(
                        text,
                        " obj#{}",
                        objects.entry(task.object()).or_insert(next)
                    )?;
                }
            }
            for (i, before) in before.iter().enumerate() {
                text.push_str(if i == 0 { " <- " } else { " " });
                let at_end = task.kind() == TaskKind::Join || depends(task.op());
                if at_end && last.contains(before) {
                    write!(text, "{}:end", before.context)?;
                } else {
                    text.push_str(&named(before));
                }
            }
            text.push('\n');
        }
    }
    Ok(text)
}

/// The number of each task in its context if nothing sleeps: the work around a sleep is one task.
fn numbers(graph: &Graph) -> Result<HashMap<TaskId, u32>> {
    let mut numbers = HashMap::new();
    for context in graph.contexts() {
        let (mut next, mut worked, mut slept) = (0, false, false);
        for task in graph.tasks_of(context.id) {
            let task = task?;
            if task.op() == SyncOp::Sleep {
                slept = true;
                continue;
            }
            let works = task.kind() == TaskKind::Work;
            if !(works && worked && slept) {
                next += 1;
            }
            numbers.insert(task.id(), next - 1);
            (worked, slept) = (works, false);
        }
    }
    Ok(numbers)
}

/// Whether the operation comes after the whole of another OpenMP task.
fn depends(op: SyncOp) -> bool {
    (SyncOp::DependIn..=SyncOp::DependInoutset).contains(&op)
}

/// Both texts merged: lines that only the golden graph has begin with `-`, those that only this graph has with `+`.
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

//! Whether two graphs of one trace order the same: what happens before each synchronisation is
//! compared. One of the graphs has a task for each of them (`contech-middle --fine`); in the usual
//! one, those that order nothing with another context are actions.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use anyhow::{Result, ensure};
use taskgraph::{Action, ContextId, Mmap, Piece, Reader, Task, TaskGraph, TaskId, TaskKind};

/// Number of contexts whose synchronisations are counted. With more contexts than that, it is those
/// with the lowest numbers.
const COLUMNS: usize = 64;

/// For instance, how many synchronisations of each counted context happened before a place.
pub(crate) type Clock = Vec<u32>;

/// The synchronisations of a context: how many, and a hash of what each is and of what happened
/// before it.
type Seen = (u64, u64);

/// Compares the order of two graphs.
///
/// # Errors
/// When a context has other synchronisations, or others happened before them.
pub fn same(fine: &Path, usual: &Path) -> Result<()> {
    let fine = order(&taskgraph::map(fine)?)?;
    let usual = order(&taskgraph::map(usual)?)?;
    ensure!(
        fine.len() == usual.len(),
        "{} contexts in the fine graph, {} in the usual one",
        fine.len(),
        usual.len()
    );
    for (context, (fine, usual)) in fine.iter().zip(&usual).enumerate() {
        ensure!(
            fine.0 == usual.0,
            "context {context}: {} synchronisations in the fine graph, {} in the usual one",
            fine.0,
            usual.0
        );
        ensure!(
            fine == usual,
            "context {context}: in the usual graph other things happen before its synchronisations than in the fine one"
        );
    }
    Ok(())
}

/// What the order of a graph says of each of its contexts.
fn order(graph: &TaskGraph<Mmap>) -> Result<Vec<Seen>> {
    let contexts: HashMap<ContextId, usize> = graph.contexts().map(|c| c.id).zip(0..).collect();
    let mut seen: Vec<Seen> = vec![(0, 0); contexts.len()];
    let mut reader = Reader::new(graph, 16).without_accesses();
    visit(graph, contexts.len().min(COLUMNS), |task, clock| {
        let at = contexts[&task.id().context];
        let mut see = |what: (u8, u64)| {
            let mut hasher = DefaultHasher::new();
            (what, &clock).hash(&mut hasher);
            let (count, hash) = &mut seen[at];
            *count += 1;
            *hash = hash.rotate_left(5).wrapping_add(hasher.finish());
            if let Some(own) = clock.get_mut(at) {
                *own += 1;
            }
        };
        if task.kind() != TaskKind::Work && !task.op().may_be_action() {
            see((task.op() as u8, task.object()));
        }
        if task.action_count() > task.block_count() {
            reader.open(task);
            while let Some(batch) = reader.next()? {
                for piece in batch.pieces() {
                    if let Piece::Action(Action::Sync { op, object }) = piece {
                        see((op as u8, object));
                    }
                }
            }
        }
        Ok(())
    })?;
    Ok(seen)
}

/// Visits all tasks in a topological order, each with a clock: numbers that begin at 0 and of which
/// each is the largest that the visits of the tasks before it have left.
pub(crate) fn visit<'g>(
    graph: &'g TaskGraph<Mmap>,
    columns: usize,
    mut visit: impl FnMut(&Task<'g, Mmap>, &mut Clock) -> Result<()>,
) -> Result<()> {
    // The clocks after each context's last task, and after tasks that others wait for.
    let mut latest: HashMap<ContextId, Clock> = HashMap::new();
    let mut awaited: HashMap<TaskId, (Clock, usize)> = HashMap::new();
    let mut tasks = graph.walk();
    while let Some(task) = tasks.next()? {
        let id = task.id();
        let mut clock = latest.remove(&id.context).unwrap_or_else(|| vec![0; columns]);
        for before in task.stored_dependencies() {
            let Some((theirs, left)) = awaited.get_mut(before) else {
                continue;
            };
            for (own, their) in clock.iter_mut().zip(theirs) {
                *own = (*own).max(*their);
            }
            *left -= 1;
            if *left == 0 {
                awaited.remove(before);
            }
        }
        visit(task, &mut clock)?;
        let dependents = task.dependents()?.len();
        if dependents > 0 {
            awaited.insert(id, (clock.clone(), dependents));
        }
        latest.insert(id.context, clock);
    }
    Ok(())
}

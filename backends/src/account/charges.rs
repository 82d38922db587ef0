//! What tasks are charged with: for each context a column in the order of its tasks. A storm of locks has as many
//! charges as tasks, so they are not kept by task.

use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

/// Idle processor time that a task is to blame for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Charge {
    /// The task, in its context.
    seq: u32,
    /// The group of the time.
    pub(super) group: u32,
    /// How much of it.
    pub(super) ns: f64,
}

/// The charges of all tasks.
#[derive(Debug, Default)]
pub(super) struct Charges {
    place: FxHashMap<ContextId, usize>,
    columns: Vec<Vec<Charge>>,
    /// For each column, where the charges of each [`NEAR`] tasks begin, once they are settled.
    begins: Vec<Vec<u32>>,
}

/// Number of tasks among which the charges of one are searched.
const NEAR: u32 = 16;

impl Charges {
    /// No charges yet, of tasks of these contexts, which are counted from 0.
    pub(super) fn new(contexts: impl Iterator<Item = ContextId>) -> Self {
        let place: FxHashMap<_, _> = contexts.zip(0..).collect();
        Self {
            columns: vec![Vec::new(); place.len()],
            begins: Vec::new(),
            place,
        }
    }

    /// The place of a context.
    pub(super) fn place(&self, context: ContextId) -> Option<usize> {
        self.place.get(&context).copied()
    }

    /// Charges a task of the context at a place.
    pub(super) fn add(&mut self, place: usize, seq: u32, group: u32, ns: f64) {
        self.columns[place].push(Charge { seq, group, ns });
    }

    /// Puts the charges in the order of tasks, and adds up those of one task and group.
    pub(super) fn settle(&mut self) {
        for column in &mut self.columns {
            column.sort_by_key(|charge| (charge.seq, charge.group));
            column.dedup_by(|more, sum| {
                let same = (more.seq, more.group) == (sum.seq, sum.group);
                if same {
                    sum.ns += more.ns;
                }
                same
            });
        }
        self.begins = self.columns.iter().map(|column| begins(column)).collect();
    }

    /// All charges.
    pub(super) fn all(&self) -> impl Iterator<Item = &Charge> {
        self.columns.iter().flatten()
    }

    /// The charges of a task, once they are settled.
    pub(super) fn of(&self, task: TaskId) -> &[Charge] {
        let Some(place) = self.place(task.context) else {
            return &[];
        };
        let near = (task.seq / NEAR) as usize;
        let begin = |near| Some(*self.begins.get(place)?.get(near)? as usize);
        let Some(begin) = begin(near) else {
            return &[];
        };
        let column = &self.columns[place][begin..];
        let from = column.iter().take_while(|charge| charge.seq < task.seq);
        let column = &column[from.count()..];
        let own = column.iter().take_while(|charge| charge.seq == task.seq);
        &column[..own.count()]
    }
}

/// Where the charges of each [`NEAR`] tasks begin in a column.
fn begins(column: &[Charge]) -> Vec<u32> {
    let mut begins = Vec::new();
    for (at, charge) in (0..).zip(column) {
        let blocks = (charge.seq / NEAR) as usize + 1;
        if begins.len() < blocks {
            begins.resize(blocks, at);
        }
    }
    begins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_of_one_task_and_group_add_up_and_others_stay_apart() {
        let [one, two] = [0, 1].map(ContextId::new);
        let mut charges = Charges::new([one, two].into_iter());
        for (place, seq, group, ns) in [
            (0, 4, 1, 8.0),
            (0, 2, 0, 1.0),
            (1, 2, 0, 16.0),
            (0, 4, 0, 4.0),
            (0, 2, 0, 2.0),
        ] {
            charges.add(place, seq, group, ns);
        }
        charges.settle();
        let of = |context, seq| -> Vec<(u32, f64)> {
            let found = charges.of(TaskId::new(context, seq));
            found
                .iter()
                .map(|charge| (charge.group, charge.ns))
                .collect()
        };
        assert_eq!(of(one, 1), []);
        assert_eq!(of(one, 2), [(0, 3.0)]);
        assert_eq!(of(one, 3), []);
        assert_eq!(of(two, 2), [(0, 16.0)]);
        assert_eq!(of(one, 4), [(0, 4.0), (1, 8.0)]);
        assert_eq!(of(one, 5), []);
        assert_eq!(of(ContextId::new(2), 0), []);
    }
}

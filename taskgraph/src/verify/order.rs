//! Checks the stored order: it has every task once, after its predecessors.

use std::collections::HashMap;

use super::fault;
use crate::error::Result;
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};

impl<D: AsRef<[u8]>> TaskGraph<D> {
    pub(super) fn check_order(&self, tasks: u64) -> Result<()> {
        let mut next: HashMap<ContextId, u32> = HashMap::new();
        let mut ordered = 0;
        let index = self.order_index()?;
        for page in 0..index.len() {
            let order = self.order_page(page)?;
            if order.ids().next() != index.get(page).map(|(id, _)| id) {
                return Err(fault(
                    format!("order page {page}"),
                    "its first task is not the one of the index",
                ));
            }
            for id in order.ids() {
                self.check_step(id, &mut next)?;
                ordered += 1;
            }
        }
        if ordered != tasks {
            return Err(fault("order", format!("it has {ordered} of {tasks} tasks")));
        }
        Ok(())
    }

    fn check_step(&self, id: TaskId, next: &mut HashMap<ContextId, u32>) -> Result<()> {
        let done = |next: &HashMap<ContextId, u32>, c| next.get(&c).copied().unwrap_or(0);
        if done(next, id.context) != id.seq {
            let n = done(next, id.context);
            return Err(fault("order", format!("{id} comes where {}:{n} is next", id.context)));
        }
        for &d in self.task(id)?.stored_dependencies() {
            if d.seq >= done(next, d.context) {
                return Err(fault("order", format!("{id} comes before {d}, on which it depends")));
            }
        }
        next.insert(id.context, id.seq.wrapping_add(1));
        Ok(())
    }
}

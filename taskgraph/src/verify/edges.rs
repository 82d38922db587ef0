//! Checks the edges, which are stored in both directions.

use super::fault;
use crate::error::{Error, Result};
use crate::graph::TaskGraph;
use crate::rules::EdgeSum;

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Checks the stored successors.
    pub(super) fn check_dependents(&self) -> Result<EdgeSum> {
        let mut outgoing = EdgeSum::default();
        let index = self.dependents_index()?;
        let mut last = None;
        for page in 0..index.len() {
            let decoded = self.dependents_page(page)?;
            let mut key = index.get(page).map(|(id, _)| id);
            for (from, to) in decoded.iter() {
                if last >= Some(from) || key.take().is_some_and(|k| k != from) {
                    return Err(fault(
                        format!("edge page {page}"),
                        format!("the dependents of {from} are out of order"),
                    ));
                }
                last = Some(from);
                if !to.is_sorted_by(|a, b| a < b) {
                    return Err(fault(format!("task {from}"), "its dependents are not sorted"));
                }
                to.iter().for_each(|&t| outgoing.add(from, t));
            }
        }
        Ok(outgoing)
    }

    /// Finds the edge that is stored in one direction only; there must be one.
    pub(super) fn find_edge_fault(&self) -> Result<Error> {
        for page in 0..self.task_index()?.len() {
            let decoded = self.task_page(page)?;
            for (at, id) in decoded.ids().iter().enumerate() {
                for &d in decoded.edges(at) {
                    let there = self.task(d).and_then(|d| d.dependents());
                    if !there.is_ok_and(|d| d.contains(id)) {
                        return Ok(fault(
                            format!("task {id}"),
                            format!("depends on {d}, which does not have it as dependent"),
                        ));
                    }
                }
            }
        }
        for page in 0..self.dependents_index()?.len() {
            for (from, to) in self.dependents_page(page)?.iter() {
                for &t in to {
                    let task = self.task(t).map_err(|_| {
                        fault(
                            format!("task {from}"),
                            format!("an edge to {t}, which does not exist"),
                        )
                    })?;
                    if !task.stored_dependencies().contains(&from) {
                        return Ok(fault(
                            format!("task {from}"),
                            format!("has {t} as dependent, which does not depend on it"),
                        ));
                    }
                }
            }
        }
        Ok(fault("edges", "the two directions differ"))
    }
}

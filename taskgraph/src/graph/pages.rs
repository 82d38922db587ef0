//! The pages of tasks, edges and the order, which are found by their indices, decoded and cached.

use std::sync::Arc;

use super::TaskGraph;
use crate::error::{Result, malformed};
use crate::id::TaskId;
use crate::page::{DependentsPage, OrderPage, PageIndex, TaskPage};
use crate::unit::{Tag, Unit};

impl<D: AsRef<[u8]>> TaskGraph<D> {
    pub(crate) fn task_index(&self) -> Result<PageIndex<'_>> {
        PageIndex::new(Tag::TaskIndex.name(), self.section(&self.task_index))
    }

    pub(crate) fn dependents_index(&self) -> Result<PageIndex<'_>> {
        PageIndex::new(
            Tag::DependentsIndex.name(),
            self.section(&self.dependents_index),
        )
    }

    pub(crate) fn order_index(&self) -> Result<PageIndex<'_>> {
        PageIndex::new(Tag::OrderIndex.name(), self.section(&self.order_index))
    }

    /// A decoded task page.
    pub(crate) fn task_page(&self, page: usize) -> Result<Arc<TaskPage>> {
        let at = page_offset(self.task_index()?, page, Tag::TaskPage)?;
        if let Some(known) = self.task_pages.get(at) {
            return Ok(known);
        }
        let decoded = Arc::new(TaskPage::decode(Unit::read(
            self.bytes(),
            at,
            Tag::TaskPage,
        )?)?);
        self.task_pages
            .put(at, Arc::clone(&decoded), decoded.weight());
        Ok(decoded)
    }

    /// A decoded edge page.
    pub(crate) fn dependents_page(&self, page: usize) -> Result<Arc<DependentsPage>> {
        let at = page_offset(self.dependents_index()?, page, Tag::DependentsPage)?;
        if let Some(known) = self.dependents_pages.get(at) {
            return Ok(known);
        }
        let payload = Unit::read(self.bytes(), at, Tag::DependentsPage)?;
        let decoded = Arc::new(DependentsPage::decode(payload)?);
        self.dependents_pages
            .put(at, Arc::clone(&decoded), decoded.weight());
        Ok(decoded)
    }

    /// The stored successors of a task.
    pub(crate) fn dependents(&self, id: TaskId) -> Result<Vec<TaskId>> {
        match self.dependents_index()?.find(id) {
            Some(page) => Ok(self.dependents_page(page)?.of(id).to_vec()),
            None => Ok(Vec::new()),
        }
    }

    /// A decoded order page.
    pub(crate) fn order_page(&self, page: usize) -> Result<OrderPage> {
        let at = page_offset(self.order_index()?, page, Tag::OrderPage)?;
        OrderPage::decode(Unit::read(self.bytes(), at, Tag::OrderPage)?)
    }
}

fn page_offset(index: PageIndex<'_>, page: usize, tag: Tag) -> Result<u64> {
    let n = index.len();
    let entry = index
        .get(page)
        .ok_or_else(|| malformed(tag.name(), format!("page {page} of {n}")));
    entry.map(|(_, at)| at)
}

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
        PageIndex::new(Tag::DependentsIndex.name(), self.section(&self.dependents_index))
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
        let payload = Unit::read(self.bytes(), at, Tag::TaskPage)?;
        let decoded = Arc::new(TaskPage::decode(payload, self.executor_count())?);
        self.task_pages.put(at, Arc::clone(&decoded), decoded.weight());
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
        self.dependents_pages.put(at, Arc::clone(&decoded), decoded.weight());
        Ok(decoded)
    }

    /// The stored successors of task `at` of a page.
    pub(crate) fn dependents(&self, page: &TaskPage, at: usize) -> Result<Vec<TaskId>> {
        match self.place_of_dependents(page, at)? {
            None => Ok(Vec::new()),
            Some((page, at)) => Ok(self.dependents_page(page)?.edges(at).to_vec()),
        }
    }

    /// The page and the place in it where the stored successors of task `at` of a page are, if it
    /// has any.
    pub(crate) fn place_of_dependents(
        &self,
        page: &TaskPage,
        at: usize,
    ) -> Result<Option<(usize, usize)>> {
        let places = match page.successors.get() {
            Some(places) => places,
            None => {
                let found = self.successors(page)?;
                page.successors.get_or_init(|| found)
            }
        };
        let place = places.get(at).filter(|(page, _)| *page > 0);
        Ok(place.map(|(page, at)| (*page as usize - 1, *at as usize)))
    }

    /// Where the stored successors of all tasks of a page are; empty if there are none.
    fn successors(&self, page: &TaskPage) -> Result<Box<[(u32, u32)]>> {
        let mut places = Vec::new();
        let index = self.dependents_index()?;
        if let ([first, ..], [.., last]) = (page.ids(), page.ids()) {
            let (first, last) = (*first, *last);
            for number in index.find(first).unwrap_or(0)..index.end(last) {
                for (at, id) in self.dependents_page(number)?.within(first, last) {
                    if let Some(task) = page.find(id) {
                        places.resize(page.ids().len(), (0, 0));
                        let small = |n: usize| u32::try_from(n).unwrap_or(0);
                        places[task] = (small(number + 1), small(at));
                    }
                }
            }
        }
        Ok(places.into())
    }

    /// A decoded order page.
    pub(crate) fn order_page(&self, page: usize) -> Result<OrderPage> {
        let at = page_offset(self.order_index()?, page, Tag::OrderPage)?;
        OrderPage::decode(Unit::read(self.bytes(), at, Tag::OrderPage)?)
    }
}

fn page_offset(index: PageIndex<'_>, page: usize, tag: Tag) -> Result<u64> {
    let n = index.len();
    let entry = index.get(page).ok_or_else(|| malformed(tag.name(), format!("page {page} of {n}")));
    entry.map(|(_, at)| at)
}

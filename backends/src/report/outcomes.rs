//! The results of all analyses that the report shows: a loop over the registry, with as few passes
//! as their orders allow.

use std::any::{Any, type_name};

use anyhow::{Result, anyhow};
use rayon::prelude::*;

use super::Choices;
use super::shown::{Begun, Outcome};
use crate::analysis::{Graph, Visitor, run_all};
use crate::cli::registry::{ENTRIES, Entry};
use crate::page::Section;

/// Results, and the reasons why some are missing.
pub(super) struct Outcomes {
    sections: Vec<Section>,
    results: Vec<Box<dyn Any + Send>>,
}

/// An analysis of the registry that is ready to run, or the reason why a graph without accesses has
/// no result for it.
type Way = (&'static Entry, Result<Box<dyn Begun>, String>);

impl Outcomes {
    /// Runs the analyses of the registry that belong to the answer told first, or all others.
    ///
    /// # Errors
    /// The first error of an analysis or of the graph.
    pub(super) fn of(graph: &Graph, choices: &Choices, told_first: bool) -> Result<Self> {
        let mut ways: Vec<Way> = Vec::new();
        for entry in ENTRIES {
            let Some(shown) = &entry.shown else { continue };
            if shown.told_first != told_first {
                continue;
            }
            match (shown.begin)(graph, choices) {
                Ok(begun) => ways.push((entry, Ok(begun))),
                Err(error) if graph.summary().accesses > 0 => return Err(error),
                Err(error) => ways.push((entry, Err(format!("{error:#}")))),
            }
        }
        let visitors = ways.iter_mut().filter_map(|way| way.1.as_mut().ok());
        let mut visitors: Vec<&mut dyn Visitor> = visitors.map(|begun| begun.visitor()).collect();
        run_all(graph, &mut visitors)?;
        let mut this = Self { sections: Vec::new(), results: Vec::new() };
        // Some results take another look at the graph.
        let finished = ways.into_par_iter().map(|(entry, way)| {
            let result = way.map(|begun| begun.finish(graph));
            (entry, result)
        });
        for (entry, result) in finished.collect::<Vec<_>>() {
            this.add(entry, result)?;
        }
        Ok(this)
    }

    fn add(
        &mut self,
        entry: &Entry,
        result: Result<Result<Box<dyn Outcome>>, String>,
    ) -> Result<()> {
        let menu = entry.shown.as_ref().and_then(|shown| shown.menu);
        let (id, section) =
            (entry.name, |parts| menu.map(|menu| Section { id: entry.name, menu, parts }));
        match result {
            Ok(result) => {
                let result = result?;
                if menu.is_some() {
                    self.sections.extend(section(result.parts()));
                }
                self.results.push(result.as_any());
            }
            Err(reason) => {
                let without = menu.map(|menu| Section::without(id, menu, &reason));
                self.sections.extend(without);
            }
        }
        Ok(())
    }

    /// A result, by its type.
    pub(super) fn get<R: 'static>(&self) -> Option<&R> {
        self.results.iter().find_map(|result| result.downcast_ref())
    }

    /// A result that every graph has.
    ///
    /// # Errors
    /// When it is missing.
    pub(super) fn have<R: 'static>(&self) -> Result<&R> {
        let missing = || anyhow!("an analysis of the report has no result: {}", type_name::<R>());
        self.get().ok_or_else(missing)
    }

    /// Adds the results of other analyses.
    pub(super) fn join(&mut self, more: Self) {
        self.sections.extend(more.sections);
        self.results.extend(more.results);
        // The sections have the order of the registry.
        let place = |section: &Section| ENTRIES.iter().position(|entry| entry.name == section.id);
        self.sections.sort_by_key(place);
    }

    /// The sections of the page, in the order of the registry.
    pub(super) fn sections(&self) -> Vec<Section> {
        self.sections.clone()
    }
}

//! The results of all analyses that the report shows: a loop over the registry, with as few passes
//! as their orders allow.

use std::any::{Any, type_name};

use anyhow::{Result, anyhow};
use rayon::prelude::*;

use super::Choices;
use crate::analysis::{Graph, Visitor, run_all};
use crate::cli::registry::ENTRIES;
use crate::page::Section;
use crate::view::View;

/// Results, and the reasons why some are missing.
pub(super) struct Outcomes {
    /// In the order of the registry.
    pub(super) sections: Vec<Section>,
    results: Vec<Box<dyn Any + Send>>,
}

impl Outcomes {
    /// Runs the analyses of the registry that belong to the answer told first, or all others.
    pub(super) fn of(graph: &Graph, choices: &Choices, told_first: bool) -> Result<Self> {
        let own = ENTRIES.iter().filter(|entry| entry.told_first == told_first);
        let own = own.filter_map(|entry| Some((entry.name, entry.shown.as_ref()?)));
        // Those that are ready to run; of a graph without accesses some have no result, for a
        // reason.
        let mut begun = Vec::new();
        for (id, shown) in own {
            let way = match (shown.begin)(graph, choices) {
                Err(error) if graph.summary().accesses > 0 => return Err(error),
                way => way.map_err(|error| format!("{error:#}")),
            };
            begun.push((id, shown.menu, way));
        }
        let visitors = begun.iter_mut().filter_map(|(_, _, way)| way.as_deref_mut().ok());
        let mut visitors: Vec<&mut dyn Visitor> = visitors.map(|begun| begun as _).collect();
        run_all(graph, &mut visitors)?;
        // Some results take another look at the graph.
        let finished = begun.into_par_iter().map(|(id, menu, way)| match way {
            Ok(begun) => begun.finish(graph, menu).map(|(section, result)| (section, Some(result))),
            Err(reason) => {
                let view = View::default().line(reason);
                Ok((menu.map(|menu| Section::of(id, menu, &view)), None))
            }
        });
        let finished = finished.collect::<Vec<Result<_>>>().into_iter();
        let (sections, results): (Vec<_>, Vec<_>) =
            finished.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Self {
            sections: sections.into_iter().flatten().collect(),
            results: results.into_iter().flatten().collect(),
        })
    }

    /// A result, by its type.
    pub(super) fn get<R: 'static>(&self) -> Option<&R> {
        self.results.iter().find_map(|result| result.downcast_ref())
    }

    /// A result that every graph has.
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
}
